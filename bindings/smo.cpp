#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/bind.hpp"
#include "core/smo/examples.hpp"
#include "core/smo/product.hpp"
#include "core/smo/row_cache.hpp"
#include "core/smo/solver.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using namespace cutplane::smo;

// In the order of the enumerations.
constexpr std::array<std::string_view, 4> kReductionNames{"product", "squared_difference",
                                                          "absolute_difference", "chi_square"};
constexpr std::array<std::string_view, 4> kTransformNames{"identity", "exponential", "power",
                                                          "tangent"};

template <class Choice>
Choice choose(const std::string& name, std::initializer_list<std::pair<const char*, Choice>> all) {
  for (const auto& [known, choice] : all)
    if (name == known) return choice;
  throw std::invalid_argument("unknown: " + name);
}

// --- examples ---

using PyExamples = std::shared_ptr<Examples>;

View view_of(const AnyTable& X) {
  return by_type<float, double>(X.dtype(), [&]<class T>(T) {
    return dense_view(static_cast<const T*>(X.data()), static_cast<index_t>(X.shape(0)),
                      static_cast<index_t>(X.shape(1)), X.stride(0), X.stride(1));
  });
}

View view_of(const AnyVector& values, const AnyVector& indices, const AnyVector& starts,
             index_t cols) {
  const auto rows = static_cast<index_t>(starts.shape(0)) - 1;
  return by_csr_type(values, indices, [&]<class T, class I>(T, I) {
    return csr_view(numbers_of<T>(values), numbers_of<I>(indices), numbers_of<I>(starts), rows,
                    cols);
  });
}

PyExamples examples_of(const View& view, const std::string& kernel, double gamma, double coef0,
                       int degree, const PyExamples* like, int n_threads) {
  const KernelParameters parameters{kernel_named(kernel), gamma, coef0, degree};
  require(!like || (*like)->features() == view.cols, "the examples have other features");
  return released([&] {
    return std::make_shared<Examples>(parameters, view, like ? like->get() : nullptr, n_threads);
  });
}

// Rows of a block are padded; of what is handed over they are not.
void fill_block(const Examples& left, const Examples& right, float* out, int n_threads) {
  constexpr index_t kAtOnce = 96;
  const index_t m = left.size(), n = right.size(), width = padded(n);
  std::vector<float> values(std::min(m, kAtOnce) * width);
  std::vector<float*> rows;
  for (index_t r = 0; r < std::min(m, kAtOnce); ++r) rows.push_back(values.data() + r * width);
  for (index_t first = 0; first < m; first += kAtOnce) {
    std::vector<std::int64_t> which(std::min(m - first, kAtOnce));
    std::iota(which.begin(), which.end(), first);
    right.block(left, which, rows.data(), n_threads);
    for (const std::int64_t r : which) std::copy(rows[r - first], rows[r - first] + n, out + r * n);
  }
}

Array2<float> block(const PyExamples& left, const PyExamples& right, int n_threads) {
  require(left->features() == right->features(), "the examples have other features");
  Array2<float> result = new_array<float>(left->size(), right->size());
  released([&] { fill_block(*left, *right, result.data(), n_threads); });
  return result;
}

Array2<double> product(const PyExamples& left, const PyExamples& right,
                       nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> coef,
                       int n_threads, std::optional<std::vector<std::int64_t>> ends,
                       std::optional<std::pair<index_t, index_t>> rows) {
  require(left->features() == right->features(), "the examples have other features");
  require(static_cast<index_t>(coef.shape(0)) == right->size(), "one coefficient row per example");
  const std::vector<std::int64_t> groups = ends ? *ends : std::vector{right->size()};
  require(!groups.empty() && groups.front() >= 0 && std::is_sorted(groups.begin(), groups.end()) &&
              groups.back() == right->size(),
          "groups that follow each other, up to the last example");
  const auto k = static_cast<index_t>(coef.shape(1));
  const auto [first, last] = rows.value_or(std::pair<index_t, index_t>{0, left->size()});
  require(0 <= first && first <= last && last <= left->size(), "rows of the left");
  Array2<double> result = new_array<double>(last - first, std::ssize(groups) * k);
  released([&] {
    kernel_product(*left, first, result.shape(0), *right, coef.data(), k, groups, result.data(),
                   n_threads);
  });
  return result;
}

// --- kernel matrices ---

// Rows that a Python function computes: called with positions, returns (m, n) float32.
class CalledRows : public KernelRows {
 public:
  CalledRows(nb::object function, index_t n, std::vector<float> diagonal)
      : function_(std::move(function)), n_(n), diagonal_(std::move(diagonal)) {}
  ~CalledRows() override {
    nb::gil_scoped_acquire acquire;
    function_.reset();
  }
  index_t size() const override { return n_; }
  void rows(std::span<const std::int64_t> which, std::span<const PanelRun>, float* const* out,
            int) const override {
    nb::gil_scoped_acquire acquire;
    nb::object positions =
        nb::cast(to_numpy(std::vector<std::int64_t>(which.begin(), which.end())));
    const auto values =
        nb::cast<nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(
            function_(positions));
    require(values.shape(0) == which.size() && static_cast<index_t>(values.shape(1)) == n_,
            "kernel rows of another shape");
    for (std::size_t r = 0; r < which.size(); ++r)
      std::copy(values.data() + r * n_, values.data() + (r + 1) * n_, out[r]);
  }
  std::vector<float> diagonal(int) const override { return diagonal_; }

 private:
  nb::object function_;
  index_t n_;
  std::vector<float> diagonal_;
};

struct PyKernelMatrix {
  std::shared_ptr<KernelRows> rows;
  std::shared_ptr<RowCache> cache;
  PyExamples examples;  // kept alive, where rows are computed from them
  nb::object owners;
};

PyKernelMatrix with_cache(std::shared_ptr<KernelRows> rows, std::size_t bytes) {
  PyKernelMatrix result;
  result.rows = std::move(rows);
  result.cache = std::make_shared<RowCache>(*result.rows, bytes);
  return result;
}

PyKernelMatrix computed(const PyExamples& examples, std::size_t cache_bytes) {
  PyKernelMatrix result = with_cache(std::make_shared<ComputedRows>(*examples), cache_bytes);
  result.examples = examples;
  return result;
}

PyKernelMatrix stored(const AnyTable& K, std::size_t cache_bytes, double scale) {
  require(K.shape(0) == K.shape(1) && (K.stride(1) == 1 || K.shape(1) <= 1),
          "a kernel matrix is square and stored by rows");
  const bool single = K.dtype() == nb::dtype<float>();
  PyKernelMatrix result =
      with_cache(std::make_shared<StoredRows>(
                     view_of(K), single ? static_cast<const float*>(K.data()) : nullptr, scale),
                 cache_bytes);
  result.owners = nb::cast(K);
  return result;
}

PyKernelMatrix called(nb::object function, Vector<const float> diagonal, std::size_t cache_bytes) {
  std::vector<float> own(diagonal.data(), diagonal.data() + diagonal.shape(0));
  const auto n = static_cast<index_t>(own.size());
  return with_cache(std::make_shared<CalledRows>(std::move(function), n, std::move(own)),
                    cache_bytes);
}

// --- the solver ---

struct PySolver {
  PyKernelMatrix matrix;
  std::unique_ptr<RowView> view;
  std::unique_ptr<Dual> dual;
  std::unique_ptr<Solver> solver;
  bool finished = false;  // whether the rule says so, as last heard
};

// A problem's arrays: the rows that it is about (none: all), labels, p, upper, and maybe a start.
using Posed =
    std::tuple<std::optional<Vector<const std::int64_t>>, Vector<const std::int8_t>,
               Vector<const double>, Vector<const double>, std::optional<Vector<const double>>>;

index_t rows_of(const Posed& posed, index_t size) {
  const auto& [rows, y, p, upper, start] = posed;
  const index_t n = rows ? static_cast<index_t>(rows->shape(0)) : size;
  if (rows)
    for (index_t r = 0; r < n; ++r)
      require(rows->data()[r] >= 0 && rows->data()[r] < size, "a row position is out of range");
  const auto variables = static_cast<index_t>(y.shape(0));
  require(n > 0 && variables % n == 0 && variables > 0, "a whole number of variables for each row");
  require(p.shape(0) == y.shape(0) && upper.shape(0) == y.shape(0) &&
              (!start || start->shape(0) == y.shape(0)),
          "one entry per variable");
  return n;
}

// Solvers of problems on one matrix: a single one as it is; several side by side, one thread each,
// and each advanced once, in so many seconds for it; null where those for all of them were over.
std::vector<std::unique_ptr<PySolver>> new_solvers(
    const PyKernelMatrix& matrix, const std::vector<Posed>& problems, bool grouped,
    const std::string& selection, const std::string& stop, double eps, double least_gain,
    bool shrinking, index_t working_set, std::optional<std::int64_t> max_iter, int n_threads,
    double seconds_each, double seconds) {
  Settings settings;
  settings.rule = choose<Rule>(selection, {{"mvp", Rule::mvp},
                                           {"second-order", Rule::second_order},
                                           {"hmg", Rule::hmg},
                                           {"ofs1", Rule::ofs1},
                                           {"ofs2", Rule::ofs2},
                                           {"conjugate", Rule::conjugate}});
  settings.stop = choose<StopRule>(
      stop, {{"kkt", StopRule::kkt}, {"pair", StopRule::pair}, {"gap", StopRule::none}});
  settings.eps = eps;
  settings.least_gain = least_gain;
  settings.shrinking = shrinking;
  settings.working_set = working_set;
  if (max_iter) settings.most_steps = *max_iter;
  const bool alone = problems.size() == 1;
  settings.n_threads = alone ? n_threads : 1;
  std::vector<index_t> rows;
  for (const Posed& posed : problems) rows.push_back(rows_of(posed, matrix.cache->size()));
  std::vector<std::unique_ptr<PySolver>> result;
  for (std::size_t k = 0; k < problems.size(); ++k) result.push_back(std::make_unique<PySolver>());
  for (auto& each : result) each->matrix = matrix;
  const auto make = [&](index_t k) {
    const auto& [positions, y, p, upper, start] = problems[k];
    PySolver& made = *result[k];
    made.view =
        std::make_unique<RowView>(*matrix.cache, positions ? positions->data() : nullptr, rows[k]);
    made.dual = std::make_unique<Dual>(
        *made.view, static_cast<int>(y.shape(0) / rows[k]), span_of(y), span_of(p), span_of(upper),
        start ? span_of(*start) : std::span<const double>(), grouped, settings.n_threads);
    made.solver = working_set > 2 ? make_block_solver(*made.dual, settings)
                                  : make_pair_solver(*made.dual, settings);
  };
  const Deadline all(seconds);
  std::vector<std::exception_ptr> failures(problems.size());
  released([&] {
    if (alone) return make(0);
    const auto count = static_cast<index_t>(problems.size());
    for_blocks({count, count}, n_threads, [&](index_t k, index_t, index_t) {
      if (all.passed()) return;
      try {
        make(k);
        PySolver& made = *result[k];
        made.finished =
            made.solver->advance(settings.most_steps, Deadline(seconds_each)) == Progress::finished;
      } catch (...) {
        failures[k] = std::current_exception();
      }
    });
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (auto& each : result)
    if (!each->solver) each.reset();
  return result;
}

// Of the variables themselves, from values of y times them.
Array1<double> by_label(const Dual& dual, std::vector<double> values) {
  for (std::size_t t = 0; t < values.size(); ++t) values[t] *= dual.y[t];
  return to_numpy(std::move(values));
}

void bind_kernels(nb::module_& m) {
  auto examples = nb::class_<PyExamples>(m, "KernelExamples",
                                         "Examples as kernels read them, in single precision.");
  examples.def_static(
      "dense",
      [](const AnyTable& X, const std::string& kernel, double gamma, double coef0, int degree,
         const PyExamples* like, int n_threads) {
        return examples_of(view_of(X), kernel, gamma, coef0, degree, like, n_threads);
      },
      "X"_a.noconvert(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "like"_a.none() = nb::none(),
      "n_threads"_a = 0);
  examples.def_static(
      "csr",
      [](const AnyVector& values, const AnyVector& indices, const AnyVector& indptr, index_t n_cols,
         const std::string& kernel, double gamma, double coef0, int degree, const PyExamples* like,
         int n_threads) {
        return examples_of(view_of(values, indices, indptr, n_cols), kernel, gamma, coef0, degree,
                           like, n_threads);
      },
      "values"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_cols"_a,
      "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "like"_a.none() = nb::none(),
      "n_threads"_a = 0);
  examples.def_prop_ro("size", [](const PyExamples& self) { return self->size(); });
  examples.def_prop_ro(
      "exponent", [](const PyExamples& self) { return self->exponent(); },
      "The kernel is 2**exponent times what blocks and diagonals hold.");
  examples.def(
      "diagonal",
      [](const PyExamples& self, int n_threads) { return to_numpy(self->diagonal(n_threads)); },
      "n_threads"_a = 0, "K(x_i, x_i).");
  m.def("kernel_block", &block, "left"_a, "right"_a, "n_threads"_a = 0, "K(left, right).");
  m.def("kernel_product", &product, "left"_a, "right"_a, "coef"_a, "n_threads"_a = 0,
        "ends"_a = nb::none(), "rows"_a = nb::none(),
        "K(left, right) @ coef, without storing the block; where groups of the right end, the same "
        "for each group, side by side. `rows`: from where to where of the left.");

  auto matrix = nb::class_<PyKernelMatrix>(m, "KernelMatrix",
                                           "Kernel rows with the cache solvers take them from.");
  matrix.def_static("computed", &computed, "examples"_a, "cache_bytes"_a);
  matrix.def_static("stored", &stored, "K"_a.noconvert(), "cache_bytes"_a, "scale"_a = 1.0);
  matrix.def_static("called", &called, "rows"_a, "diagonal"_a, "cache_bytes"_a);
  matrix.def_prop_ro("size", [](const PyKernelMatrix& self) { return self.cache->size(); });
  matrix.def_prop_ro(
      "capacity", [](const PyKernelMatrix& self) { return self.cache->capacity(); },
      "Rows there is room for.");
  matrix.def_prop_ro(
      "computed_rows", [](const PyKernelMatrix& self) { return self.cache->computed(); },
      "How often a row, or the first part of one, was computed.");
  matrix.def_prop_ro(
      "computed_values", [](const PyKernelMatrix& self) { return self.cache->computed_values(); },
      "How many kernel values were computed.");
  matrix.def_prop_ro(
      "different_rows", [](const PyKernelMatrix& self) { return self.cache->different(); },
      "How many different rows were computed.");
}

}  // namespace

void bind_smo(nb::module_& m) {
  bind_kernels(m);
  auto solver = nb::class_<PySolver>(m, "SmoSolver", "Sequential minimal optimisation.");
  solver.def_static("create", &new_solvers, "matrix"_a, "problems"_a, "grouped"_a, "selection"_a,
                    "stop"_a, "eps"_a, "least_gain"_a, "shrinking"_a, "working_set"_a, "max_iter"_a,
                    "n_threads"_a = 0, "seconds_each"_a = 0.0, "seconds"_a = 0.0);
  solver.def(
      "advance",
      [](PySolver& self, std::int64_t most, double seconds, int n_threads) {
        self.solver->use_threads(n_threads);
        const Progress progress = self.solver->advance(most, Deadline(seconds));
        return progress == Progress::finished ? "finished"
               : progress == Progress::paused ? "paused"
                                              : "reached";
      },
      "most"_a, "seconds"_a, "n_threads"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
      "Take pair steps until there are `most` in all ('reached'), the stopping rule holds "
      "('finished') or the seconds are over ('paused').");
  solver.def_prop_ro(
      "ready", [](const PySolver& self) { return self.solver->ready(); },
      "Whether the gradient of the start is complete: bounds mean nothing before.");
  solver.def_prop_ro(
      "drift", [](const PySolver& self) { return self.dual->drift; },
      "No gradient is further than this from what it stands for, over kernel values as they are.");
  solver.def(
      "settle", [](PySolver& self) { self.solver->settle(); },
      nb::call_guard<nb::gil_scoped_release>(), "Bring every gradient up to date.");
  solver.def(
      "refresh", [](PySolver& self) { self.solver->refresh(); },
      nb::call_guard<nb::gil_scoped_release>(),
      "Sum every gradient up afresh: the rounding of the steps until now is gone.");
  solver.def_prop_ro("iterations", [](const PySolver& self) { return self.solver->iterations(); });
  solver.def_ro("finished", &PySolver::finished,
                "Whether the stopping rule held when it was made.");
  solver.def_prop_ro("stuck", [](const PySolver& self) { return self.solver->stuck(); });
  solver.def(
      "phases",
      [](const PySolver& self) {
        const Phases p = self.solver->phases();
        nb::dict seconds;
        seconds["rows"] = p.rows;
        seconds["selection"] = p.selection;
        seconds["steps"] = p.steps;
        seconds["gradient"] = p.gradient;
        return seconds;
      },
      nb::sig("def phases(self) -> dict[str, float]"), "Seconds by phase, where they are kept.");
  solver.def(
      "rounding", [](const PySolver& self) { return self.dual->rounding(); },
      "How large a violation may be for the rounding of kernel values; settle first.");
  solver.def("alpha", [](const PySolver& self) { return by_label(*self.dual, self.dual->b); });
  solver.def("gradient", [](const PySolver& self) { return by_label(*self.dual, self.dual->f); });
  solver.def(
      "bounds",
      [](const PySolver& self) {
        const Bounds b = self.solver->bounds();
        return nb::make_tuple(b.dual, b.primal, b.violation, b.rho[0], b.rho[1]);
      },
      nb::sig("def bounds(self) -> tuple[float, float, float, float, float]"),
      "Dual and primal objective, maximal violation, thresholds of the two groups.");
}

void bind_kernel_table(nb::module_& m) {
  nb::class_<Kernel>(m, "KernelEntry", "A kernel that the core computes, and what is known of it.")
      .def_ro("name", &Kernel::name)
      .def_ro("formula", &Kernel::formula)
      .def_prop_ro(
          "reduction",
          [](const Kernel& self) { return kReductionNames[static_cast<int>(self.reduction)]; },
          "What is summed over the features of a pair: \"product\", \"squared_difference\", "
          "\"absolute_difference\" or \"chi_square\".")
      .def_prop_ro(
          "transform",
          [](const Kernel& self) { return kTransformNames[static_cast<int>(self.transform)]; },
          "What becomes of the sum s: \"identity\", \"exponential\" exp(-gamma s), \"power\" "
          "(gamma s + coef0)^degree or \"tangent\" tanh(gamma s + coef0).")
      .def_prop_ro(
          "parameters",
          [](const Kernel& self) {
            std::vector<std::string> used;
            if (self.uses_gamma()) used.emplace_back("gamma");
            if (self.uses_coef0()) used.emplace_back("coef0");
            if (self.uses_degree()) used.emplace_back("degree");
            return used;
          },
          "Those that it has: gamma, coef0, degree.")
      .def_prop_ro("unit_length", &Kernel::unit_length, "Whether K(x, x) = 1.")
      .def_prop_ro("positive_only", &Kernel::positive_only,
                   "Whether examples must not have negative values.")
      .def_prop_ro("growth", &Kernel::growth,
                   "Examples t times as large have sums t**growth times as large.")
      .def("definite", &Kernel::definite, "coef0"_a,
           "Whether every kernel matrix is positive semi-definite, by construction.");
  m.def(
      "kernels", [] { return std::vector<Kernel>(kKernels.begin(), kKernels.end()); },
      "The kernels that the core computes.");
}

}  // namespace cutplane::bind
