// Dual ascent over the blocks of examples of several classes.
#include "core/multiclass/ascent.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/matrix.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// With what it lies on.
struct PyBlockAscent : BlockDualAscent {
  PyMatrix matrix;
  nb::object arrays;

  Array2<double> table(index_t rows, auto fill) const {
    auto out =
        new_array<double>(static_cast<std::size_t>(rows), static_cast<std::size_t>(classes()));
    fill(out.data());
    return out;
  }
};

PyBlockAscent block_ascent(const PyMatrix& X, Vector<const std::int32_t> y, Table cost,
                           std::optional<Vector<const double>> upper, double upper_all,
                           bool intercept, std::uint64_t seed, int n_threads) {
  if (static_cast<index_t>(y.shape(0)) != X.matrix->rows() ||
      (upper && upper->shape(0) != y.shape(0)) || cost.shape(0) != cost.shape(1))
    throw std::invalid_argument("one label (and bound) per example is needed");
  return {released([&] {
            return BlockDualAscent(*X.matrix, static_cast<index_t>(cost.shape(0)), y.data(),
                                   cost.data(), upper ? upper->data() : nullptr, upper_all,
                                   intercept, seed, n_threads);
          }),
          X, nb::make_tuple(y, cost, upper)};
}

}  // namespace

void bind_block_ascent(nb::module_& m) {
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<PyBlockAscent>(m, "BlockAscent", "Dual ascent over the blocks of the examples.")
      .def(nb::new_(&block_ascent), "matrix"_a, "y"_a, "cost"_a, "upper"_a.none(), "upper_all"_a,
           "intercept"_a, "seed"_a, "n_threads"_a)
      .def(
          "epoch", [](PyBlockAscent& self, double seconds) { self.epoch(Deadline(seconds)); },
          "seconds"_a, unlocked,
          "One sweep over the active examples, or as much of it as there is time for.")
      .def("extrapolate", &PyBlockAscent::extrapolate, unlocked,
           "Goes on where the last epochs lead, as far as is best.")
      .def("unshrink", &PyBlockAscent::unshrink)
      .def(
          "use_gram",
          [](PyBlockAscent& self,
             nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> gram) {
            const auto n = static_cast<std::size_t>(self.examples());
            if (gram.shape(0) != n || gram.shape(1) != n)
              throw std::invalid_argument("the products of all pairs of examples are needed");
            self.arrays = nb::make_tuple(self.arrays, gram);
            self.use_gram(gram.data());
          },
          "gram"_a, "sweeps go by the Gram matrix of the examples from now on")
      .def(
          "coefficients",
          [](PyBlockAscent& self, double scale) {
            double offset = 0;
            auto coef = self.table(self.examples(),
                                   [&](double* out) { offset = self.coefficients(scale, out); });
            return std::make_tuple(coef, offset);
          },
          "scale"_a, "(coef, offset) of the plane of the dual variables, times scale")
      .def_prop_ro(
          "v",
          [](PyBlockAscent& self) {
            return self.table(self.features(), [&](double* out) { self.weights(out); });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "intercepts",
          [](PyBlockAscent& self) {
            const double* b = self.intercepts();
            return to_numpy(std::vector<double>(b, b + self.classes()));
          },
          nb::rv_policy::automatic)
      .def_prop_ro("classes_changed", &PyBlockAscent::classes_changed)
      .def_prop_ro("mean_square", &PyBlockAscent::mean_square)
      .def_prop_ro("open_gap", &PyBlockAscent::open_gap)
      .def_prop_ro("dual_value", &PyBlockAscent::dual_value)
      .def_prop_ro("active", &PyBlockAscent::active);
}

}  // namespace cutplane::bind
