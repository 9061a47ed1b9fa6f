#include "core/multiclass/softmax.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Real>
using OwnTable = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Triple = std::tuple<double, double, double>;

// The labels and weights of a sample, with the sums over it that training asks for.
class Softmax {
 public:
  Softmax(Vector<const std::int32_t> y, std::optional<Vector<const double>> c, double each,
          index_t classes)
      : y_(std::move(y)), c_(std::move(c)), each_(each), classes_(classes) {
    if (c_ && c_->shape(0) != y_.shape(0))
      throw std::invalid_argument("one weight per label is needed");
    for (std::size_t i = 0; i < y_.shape(0); ++i)
      if (y_.data()[i] < 0 || y_.data()[i] >= classes)
        throw std::invalid_argument("a label is of no class");
  }

  index_t depth() const { return softmax_depth(static_cast<index_t>(y_.shape(0))); }

  std::tuple<Array2<double>, Array1<double>, double, double> cut(
      Table s, std::optional<Vector<const double>> b, int n_threads) const {
    check(s.shape(0), s.shape(1));
    if (b) check(y_.shape(0), b->shape(0));
    auto coef = new_array<double>(y_.shape(0), static_cast<std::size_t>(classes_));
    std::vector<double> totals(classes_);
    const auto found = released([&] {
      return softmax_cut(sample(), s.data(), b ? b->data() : nullptr, coef.data(), totals.data(),
                         n_threads);
    });
    return {coef, to_numpy(std::move(totals)), found.offset, found.value};
  }

  std::tuple<double, Array1<double>, Array2<double>> intercepts(Table s, Vector<const double> b,
                                                                int n_threads) const {
    check(s.shape(0), s.shape(1));
    check(y_.shape(0), b.shape(0));
    const auto k = static_cast<std::size_t>(classes_);
    auto hessian = new_array<double>(k, k);
    std::vector<double> totals(k);
    const auto value = released([&] {
      return softmax_in_intercepts(sample(), s.data(), b.data(), totals.data(), hessian.data(),
                                   n_threads);
    });
    return {value, to_numpy(std::move(totals)), hessian};
  }

  Triple along(Table s, Table direction, double t, int n_threads) const {
    check(s.shape(0), s.shape(1));
    check(direction.shape(0), direction.shape(1));
    nb::gil_scoped_release release;
    const auto found = softmax_along(sample(), s.data(), direction.data(), t, n_threads);
    return {found.value, found.slope, found.curvature};
  }

  template <class Real>
  Array1<double> curve(Table coef, OwnTable<Real> v, int n_threads) const {
    check(coef.shape(0), coef.shape(1));
    check(v.shape(0), v.shape(1));
    std::vector<double> totals(classes_);
    released([&] { softmax_curve(sample(), coef.data(), v.data(), totals.data(), n_threads); });
    return to_numpy(std::move(totals));
  }

 private:
  SoftmaxSample sample() const {
    return {y_.data(), c_ ? c_->data() : nullptr, each_, static_cast<index_t>(y_.shape(0)),
            classes_};
  }

  void check(std::size_t rows, std::size_t columns) const {
    if (rows != y_.shape(0) || static_cast<index_t>(columns) != classes_)
      throw std::invalid_argument("a row per label and a column per class are needed");
  }

  Vector<const std::int32_t> y_;
  std::optional<Vector<const double>> c_;
  double each_;
  index_t classes_;
};

}  // namespace

void bind_softmax(nb::module_& m) {
  nb::class_<Softmax>(m, "Softmax", "Sums of log Σ exp(scores) - score of the true class.")
      .def(nb::init<Vector<const std::int32_t>, std::optional<Vector<const double>>, double,
                    index_t>(),
           "y"_a, "weights"_a.none(), "each"_a, "classes"_a)
      .def_prop_ro("depth", &Softmax::depth, "the longest chain of additions in a sum")
      .def("cut", &Softmax::cut, "scores"_a, "b"_a.none(), "n_threads"_a = 0,
           "(coef, totals, offset, value) of the plane at scores + b")
      .def("intercepts", &Softmax::intercepts, "scores"_a, "b"_a, "n_threads"_a = 0,
           "(value, gradient, second derivative) in the intercepts")
      .def("along", &Softmax::along, "scores"_a, "direction"_a, "t"_a, "n_threads"_a = 0,
           "(value, slope, curvature) at scores + t direction")
      .def("curve", &Softmax::curve<double>, "coef"_a, "v"_a, "n_threads"_a = 0,
           "the second derivative at a cut times v, written where v lies; returns sums by class")
      .def("curve", &Softmax::curve<float>, "coef"_a, "v"_a, "n_threads"_a = 0);
}

}  // namespace cutplane::bind
