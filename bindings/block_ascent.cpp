// Dual ascent over the blocks of examples of several classes.
#include "core/multiclass/ascent.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/matrix.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct PyBlockAscent {
  PyBlockAscent(const PyMatrix& X, Vector<const std::int32_t> y, Table cost,
                std::optional<Vector<const double>> upper, double upper_all, bool intercept,
                std::uint64_t seed, int n_threads)
      : owners(nb::make_tuple(nb::cast(X), y, cost, upper)), matrix(X.matrix) {
    if (static_cast<index_t>(y.shape(0)) != matrix->rows() ||
        (upper && upper->shape(0) != y.shape(0)) || cost.shape(0) != cost.shape(1))
      throw std::invalid_argument("one label (and bound) per example is needed");
    nb::gil_scoped_release release;
    ascent = std::make_unique<BlockDualAscent>(
        *matrix, static_cast<index_t>(cost.shape(0)), y.data(), cost.data(),
        upper ? upper->data() : nullptr, upper_all, intercept, seed, n_threads);
  }

  Array2<double> table(index_t rows, auto fill) const {
    const auto n = static_cast<std::size_t>(rows);
    const auto classes = static_cast<std::size_t>(ascent->classes());
    Array2<double> out = new_array<double>(n, classes);
    fill(out.data());
    return out;
  }

  nb::object owners;
  std::shared_ptr<Matrix> matrix;
  std::unique_ptr<BlockDualAscent> ascent;
};

}  // namespace

void bind_block_ascent(nb::module_& m) {
  nb::class_<PyBlockAscent>(m, "BlockAscent", "Dual ascent over the blocks of the examples.")
      .def(nb::init<const PyMatrix&, Vector<const std::int32_t>, Table,
                    std::optional<Vector<const double>>, double, bool, std::uint64_t, int>(),
           "matrix"_a, "y"_a, "cost"_a, "upper"_a.none(), "upper_all"_a, "intercept"_a, "seed"_a,
           "n_threads"_a)
      .def(
          "epoch",
          [](PyBlockAscent& self, double seconds) {
            nb::gil_scoped_release release;
            self.ascent->epoch(Deadline(seconds));
          },
          "seconds"_a, "One sweep over the active examples, or as much of it as there is time for.")
      .def(
          "use_gram",
          [](PyBlockAscent& self,
             nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> gram) {
            const auto n = static_cast<std::size_t>(self.ascent->examples());
            if (gram.shape(0) != n || gram.shape(1) != n)
              throw std::invalid_argument("the products of all pairs of examples are needed");
            self.owners = nb::make_tuple(self.owners, gram);
            self.ascent->use_gram(gram.data());
          },
          "gram"_a, "sweeps go by the Gram matrix of the examples from now on")
      .def(
          "extrapolate",
          [](PyBlockAscent& self) {
            nb::gil_scoped_release release;
            self.ascent->extrapolate();
          },
          "Goes on where the last epochs lead, as far as is best.")
      .def("unshrink", [](PyBlockAscent& self) { self.ascent->unshrink(); })
      .def(
          "coefficients",
          [](PyBlockAscent& self, double scale) {
            double offset = 0;
            auto coef = self.table(self.ascent->examples(), [&](double* out) {
              offset = self.ascent->coefficients(scale, out);
            });
            return std::make_tuple(coef, offset);
          },
          "scale"_a, "(coef, offset) of the plane of the dual variables, times scale")
      .def_prop_ro(
          "v",
          [](PyBlockAscent& self) {
            return self.table(self.ascent->features(),
                              [&](double* out) { self.ascent->weights(out); });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "intercepts",
          [](PyBlockAscent& self) {
            const double* b = self.ascent->intercepts();
            return to_numpy(std::vector<double>(b, b + self.ascent->classes()));
          },
          nb::rv_policy::automatic)
      .def_prop_ro("classes_changed",
                   [](PyBlockAscent& self) { return self.ascent->classes_changed(); })
      .def_prop_ro("mean_square", [](PyBlockAscent& self) { return self.ascent->mean_square(); })
      .def_prop_ro("open_gap", [](PyBlockAscent& self) { return self.ascent->open_gap(); })
      .def_prop_ro("dual_value", [](PyBlockAscent& self) { return self.ascent->dual_value(); })
      .def_prop_ro("active", [](PyBlockAscent& self) { return self.ascent->active(); });
}

}  // namespace cutplane::bind
