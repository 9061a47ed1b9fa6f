#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "core/multiclass/ascent.hpp"
#include "core/multiclass/softmax.hpp"
#include "core/multiclass/sweeps.hpp"

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

using Offsets = std::tuple<Array2<double>, double, double>;

// The labels, weights and costs of a sample, with the sums over it that training asks for.
class Multiclass {
 public:
  Multiclass(Vector<const std::int32_t> y, std::optional<Vector<const double>> c, double each,
             Table cost, bool slack)
      : y_(std::move(y)),
        c_(std::move(c)),
        each_(each),
        cost_(std::move(cost)),
        slack_(slack),
        ones_(cost_.shape(0), 1.0) {
    const auto classes = static_cast<std::int32_t>(cost_.shape(0));
    if (cost_.shape(0) != cost_.shape(1) || (c_ && c_->shape(0) != y_.shape(0)))
      throw std::invalid_argument("a square cost matrix and one weight per label are needed");
    for (std::size_t i = 0; i < y_.shape(0); ++i)
      if (y_.data()[i] < 0 || y_.data()[i] >= classes)
        throw std::invalid_argument("a label has no row in the cost matrix");
    for (std::int32_t k = 0; k < classes; ++k)
      for (std::int32_t y = 0; y < classes; ++y)
        equal_costs_ &= cost_.data()[k * classes + y] == (k == y ? 0.0 : 1.0);
  }

  double value(Table s, int n_threads) const {
    check(s);
    nb::gil_scoped_release release;
    return multiclass_value(sample(), s.data(), n_threads);
  }

  Offsets cut(Table s, int n_threads) const {
    check(s);
    auto coef = take();
    const auto result =
        released([&] { return multiclass_cut(sample(), s.data(), coef.data(), n_threads); });
    return {std::move(coef), result.offset, result.value};
  }

  std::tuple<double, Array1<std::int32_t>, double, double> advance(OwnTable<double> s, Table end,
                                                                   double step, double mu,
                                                                   int n_threads) const {
    check(s), check(end);
    std::vector<std::int32_t> chosen(y_.shape(0));
    const auto result = released([&] {
      return multiclass_advance(sample(), s.data(), end.data(), step, mu, s.data(), chosen.data(),
                                n_threads);
    });
    return {result.value, to_numpy(std::move(chosen)), result.cut.offset, result.cut.value};
  }

  std::pair<double, double> make_feasible(OwnTable<double> coef, int n_threads) const {
    check(coef);
    if (slack_) throw std::invalid_argument("costs must be those of margin re-scaling");
    nb::gil_scoped_release release;
    const MulticlassPlane plane = multiclass_feasible(sample(), coef.data(), n_threads);
    return {plane.offset, plane.mass};
  }

  Array2<double> coefficients(Vector<const std::int32_t> chosen, int n_threads) const {
    check(chosen);
    auto coef = take();
    released([&] { multiclass_coefficients(sample(), chosen.data(), coef.data(), n_threads); });
    return coef;
  }

  void change_choices(const PyMatrix& X, std::optional<Vector<const std::int32_t>> from,
                      Vector<const std::int32_t> to, OwnTable<double> slope, int n_threads) const {
    if (from) check(*from);
    check(to);
    if (X.matrix->rows() != static_cast<index_t>(y_.shape(0)) ||
        static_cast<index_t>(slope.shape(0)) != X.matrix->cols() ||
        slope.shape(1) != cost_.shape(0))
      throw std::invalid_argument("one label per row and one sum per column and class are needed");
    nb::gil_scoped_release release;
    cutplane::change_choices(*X.matrix, sample(), from ? from->data() : y_.data(), to.data(),
                             slope.data(), n_threads);
  }

  std::tuple<Array2<double>, SmoothedMulticlass> smoothed(Table s, double h, int n_threads) const {
    check(s);
    auto coef = take();
    const auto result = released(
        [&] { return multiclass_smoothed(sample(), s.data(), h, coef.data(), n_threads); });
    return {std::move(coef), result};
  }

  Array2<double> extrapolated(Table s, double h, double reach, int n_threads) const {
    check(s);
    auto coef = take();
    released(
        [&] { multiclass_extrapolated(sample(), s.data(), h, reach, coef.data(), n_threads); });
    return coef;
  }

  Kinks kinks(Table s, double h, int n_threads) const {
    check(s);
    nb::gil_scoped_release release;
    return multiclass_kinks(sample(), s.data(), h, n_threads);
  }

  Array2<double> curvature(const Kinks& kinks, Table t, int n_threads) const {
    const std::size_t rows = kinks.rows.size(), classes = cost_.shape(0);
    if (t.shape(0) != rows || t.shape(1) != classes)
      throw std::invalid_argument("one row of scores per example on its kink is needed");
    Array2<double> out = new_array<double>(rows, classes);
    nb::gil_scoped_release release;
    multiclass_curvature(sample(), kinks, t.data(), out.data(), n_threads);
    return out;
  }

  std::tuple<double, double, double> ray(Table s, Table other, bool towards, double t, double h,
                                         int n_threads) const {
    check(s), check(other);
    nb::gil_scoped_release release;
    const auto found = multiclass_ray(sample(), s.data(), other.data(), towards, t, h, n_threads);
    return {found.value, found.slope, found.curvature};
  }

  double ray_minimum(Table s, Table end, double quadratic, double linear, double C,
                     int n_threads) const {
    check(s), check(end);
    nb::gil_scoped_release release;
    return multiclass_ray_minimum(sample(), s.data(), end.data(), quadratic, linear, C, n_threads);
  }

  std::tuple<double, Array1<double>, Array2<double>> intercepts(Table s, Vector<const double> b,
                                                                double h, int n_threads) const {
    check(s);
    const std::size_t classes = cost_.shape(0);
    if (b.shape(0) != classes) throw std::invalid_argument("one intercept per class is needed");
    std::vector<double> gradient(classes);
    Array2<double> hessian = new_array<double>(classes, classes);
    const auto value = released([&] {
      return multiclass_intercepts(sample(), s.data(), b.data(), h, gradient.data(), hessian.data(),
                                   n_threads);
    });
    return {value, to_numpy(std::move(gradient)), std::move(hessian)};
  }

  // A copy of the coefficients with balanced flows, and the offset that goes with them.
  std::tuple<Array2<double>, double> balanced(Table coef, int n_threads) const {
    check(coef);
    auto scaled = take();
    std::copy_n(coef.data(), coef.size(), scaled.data());
    double offset;
    {
      nb::gil_scoped_release release;
      const MulticlassSample all = sample();
      std::vector<double> flows(all.classes * all.classes);
      multiclass_flows(all, scaled.data(), flows.data());
      const auto keep = circulation(flows.data(), all.classes);
      offset = multiclass_scale_flows(all, keep.data(), scaled.data(), n_threads);
    }
    return {std::move(scaled), offset};
  }

 private:
  MulticlassSample sample() const {
    return {y_.data(),
            c_ ? c_->data() : nullptr,
            each_,
            static_cast<index_t>(y_.shape(0)),
            static_cast<index_t>(cost_.shape(0)),
            cost_.data(),
            slack_ ? cost_.data() : ones_.data(),
            slack_ ? static_cast<index_t>(cost_.shape(0)) : 0,
            equal_costs_};
  }
  void check(const auto& s) const {
    if (s.shape(0) != y_.shape(0) || s.shape(1) != cost_.shape(0))
      throw std::invalid_argument("one score per example and class is needed");
  }
  void check(const Vector<const std::int32_t>& chosen) const {
    if (chosen.shape(0) != y_.shape(0))
      throw std::invalid_argument("one class per example is needed");
    // Without branches: it is looked at as often as planes are taken.
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < chosen.shape(0); ++i)
      highest = std::max(highest, static_cast<std::uint32_t>(chosen.data()[i]));
    if (highest >= cost_.shape(0)) throw std::invalid_argument("a chosen class does not exist");
  }
  Array2<double> take() const { return buffers_->take(y_.shape(0), cost_.shape(0)); }

  Vector<const std::int32_t> y_;
  std::optional<Vector<const double>> c_;
  double each_;
  Table cost_;
  bool slack_;
  std::vector<double> ones_;  // one for each class
  bool equal_costs_ = true;
  std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

// A field as an array of its own.
template <class T>
auto copied(std::vector<T> Kinks::* field) {
  return [field](const Kinks& self) { return to_numpy(std::vector<T>(self.*field)); };
}

}  // namespace

void bind_multiclass(nb::module_& m) {
  nb::class_<SmoothedMulticlass>(m, "SmoothedMulticlass")
      .def_ro("value", &SmoothedMulticlass::value)
      .def_ro("offset", &SmoothedMulticlass::offset)
      .def_ro("error", &SmoothedMulticlass::error)
      .def_ro("kinks", &SmoothedMulticlass::kinks);
  const auto fresh = nb::rv_policy::automatic;
  nb::class_<Kinks>(m, "Kinks", "The examples on their kinks and the classes that meet there.")
      .def_prop_ro("rows", copied(&Kinks::rows), fresh)
      .def_prop_ro("weights", copied(&Kinks::weights), fresh)
      .def_prop_ro("starts", copied(&Kinks::starts), fresh)
      .def_prop_ro("classes", copied(&Kinks::classes), fresh);
  nb::class_<Multiclass>(m, "Multiclass", "Sums over a sample of a maximum over classes.")
      .def(nb::init<Vector<const std::int32_t>, std::optional<Vector<const double>>, double, Table,
                    bool>(),
           "y"_a, "weights"_a.none(), "each"_a, "cost"_a, "slack"_a)
      .def("value", &Multiclass::value, "scores"_a, "n_threads"_a = 0)
      .def("cut", &Multiclass::cut, "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def("advance", &Multiclass::advance, "scores"_a, "end"_a, "step"_a, "mu"_a,
           "n_threads"_a = 0,
           "the scores are moved; (their value, the cut's chosen classes, offset and value)")
      .def("make_feasible", &Multiclass::make_feasible, "coef"_a, "n_threads"_a = 0,
           "coefficients become those of a plane that holds; (its offset, their sizes added up)")
      .def("coefficients", &Multiclass::coefficients, "chosen"_a, "n_threads"_a = 0,
           "of the plane of one chosen class an example")
      .def("change_choices", &Multiclass::change_choices, "matrix"_a, "before"_a.none(), "chosen"_a,
           "slope"_a, "n_threads"_a = 0,
           "add to a plane's slope what other choices, before: the true classes, change in it")
      .def("smoothed", &Multiclass::smoothed, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("extrapolated", &Multiclass::extrapolated, "scores"_a, "h"_a, "reach"_a,
           "n_threads"_a = 0)
      .def("kinks", &Multiclass::kinks, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("curvature", &Multiclass::curvature, "kinks"_a, "scores"_a, "n_threads"_a = 0,
           "h times the second derivative in the scores, applied to those of the kinks' examples")
      .def("ray", &Multiclass::ray, "scores"_a, "other"_a, "towards"_a, "t"_a, "h"_a = 0.0,
           "n_threads"_a = 0,
           "(value, slope, curvature) at scores + t * direction: other, or other - scores if "
           "towards")
      .def("ray_minimum", &Multiclass::ray_minimum, "scores"_a, "end"_a, "quadratic"_a, "linear"_a,
           "C"_a, "n_threads"_a = 0)
      .def("intercepts", &Multiclass::intercepts, "scores"_a, "b"_a, "h"_a, "n_threads"_a = 0,
           "(value, gradient, second derivative) of the rounded risk in the intercepts")
      .def("balanced", &Multiclass::balanced, "coef"_a, "n_threads"_a = 0,
           "(coef, offset) with as much weight flowing into every class as out of it");
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
