#include "bindings/bind.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

NB_MODULE(_core, m) {
  // A model still alive when the interpreter ends is no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  cutplane::make_forks_safe();
  m.doc() = "Cutplane's numerical core: threaded, without the GIL, on arrays where they lie.";
  m.def("thread_count", &cutplane::resolve_threads, nb::arg("n_threads"),
        "The threads a pass would use; 0 asks OpenMP.");
  m.def(
      "set_threads",
      [](int n_threads) {
        const int before = cutplane::resolve_threads(0);
        omp_set_num_threads(n_threads);
        return before;
      },
      nb::arg("n_threads"),
      "What OpenMP uses from now on for calls from this thread; returns what it used before.");
  m.def(
      "register_lanes",
      [] {
        int found = 0;
        cutplane::with_lanes(cutplane::kMostLanes, [&](auto lanes) { found = lanes(); });
        return found;
      },
      "Numbers of double precision in a register that the loops use on this machine.");
  cutplane::bind::bind_matrix(m);
  cutplane::bind::bind_hinge(m);
  cutplane::bind::bind_separable(m);
  cutplane::bind::bind_dual_ascent(m);
  cutplane::bind::bind_multiclass(m);
  cutplane::bind::bind_reduced_qp(m);
  cutplane::bind::bind_kernel_table(m);
  cutplane::bind::bind_smo(m);
  cutplane::bind::bind_ranking(m);
  cutplane::bind::bind_svmlight(m);
  cutplane::bind::bind_strings(m);
  cutplane::bind::bind_vectors(m);
  cutplane::bind::bind_structured(m);
}
