// Sums over a sample of the hinge, and of losses of one score per example.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

#include "bindings/bind.hpp"
#include "core/losses/hinge.hpp"
#include "core/losses/separable.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Doubles = Vector<const double>;
using Singles = Vector<const float>;
using Scores = std::variant<Doubles, Singles>;

// The targets and weights of a sample, where NumPy keeps them.
template <class Y>
class PySample {
 public:
  PySample(Vector<const Y> y, std::optional<Doubles> c, double each)
      : y_(std::move(y)), c_(std::move(c)), each_(each) {
    if (c_) check(c_->shape(0), "weight");
  }

  std::size_t size() const { return y_.shape(0); }
  SampleOf<Y> get() const {
    return {y_.data(), c_ ? c_->data() : nullptr, each_, static_cast<index_t>(size())};
  }

  // Where these are, if there is one for each example.
  template <class S>
  S* at(const Vector<S>& s) const {
    check(s.shape(0), "score");
    return s.data();
  }
  AnyScores at(const Scores& s) const {
    return std::visit([&](const auto& either) -> AnyScores { return at(either); }, s);
  }
  template <class S>
  ScoreLine line(const S& s, const std::optional<S>& other, bool towards) const {
    if (!other) return {at(s)};
    const ScoreLine line{at(s), at(*other), towards ? LineKind::kTowards : LineKind::kAlong};
    if (!line.s.singles != !line.other.singles)
      throw std::invalid_argument("scores of one precision are needed");
    return line;
  }

 private:
  void check(std::size_t n, const char* what) const {
    const char* target = sizeof(Y) == 1 ? "label" : "target";
    if (n != size())
      throw std::invalid_argument(std::string("one ") + what + " per " + target + " is needed");
  }

  Vector<const Y> y_;
  std::optional<Doubles> c_;
  double each_;
};

std::tuple<double, double, double> as_tuple(const RayDerivatives& at) {
  return {at.value, at.slope, at.curvature};
}

// An array that `make` writes without the interpreter's lock, with the sums that it returns.
template <class Make>
auto filled(Array1<double> array, const Make& make) {
  using Sums = decltype(make(array.data()));
  if constexpr (std::is_void_v<Sums>) {
    released([&] { make(array.data()); });
    return array;
  } else {
    const Sums sums = released([&] { return make(array.data()); });
    if constexpr (std::is_same_v<Sums, ScoreCut>)
      return std::make_tuple(array, sums.offset, sums.value);
    else
      return std::make_tuple(array, sums);
  }
}

class Hinge : public PySample<std::int8_t> {
 public:
  using PySample::PySample;

  // Room for a slope of each feature.
  Array1<double> slope(const PyMatrix& X) const {
    if (static_cast<std::size_t>(X.matrix->rows()) != size())
      throw std::invalid_argument("one label per row is needed");
    return new_array<double>(X.matrix->cols());
  }
  template <class S>
  std::tuple<Array1<S>, Array1<double>, SmoothedSums> scored_plane(
      const PyMatrix& X, Doubles w, std::optional<Vector<const S>> base, double h,
      int n_threads) const {
    Array1<double> room = slope(X);
    if (static_cast<std::size_t>(X.matrix->cols()) != w.shape(0))
      throw std::invalid_argument("one weight per feature is needed");
    const S* from = base ? at(*base) : nullptr;
    Array1<S> scores = X.template take<S>();
    const SmoothedSums sums = released([&] {
      return hinge_scored_plane(*X.matrix, get(), w.data(), from, h, scores.data(), room.data(),
                                n_threads);
    });
    return {std::move(scores), std::move(room), sums};
  }
};

Loss make_loss(const std::string& name, const std::vector<double>& parameters) {
  if (name == "squared_hinge" && parameters.empty()) return SquaredHingeLoss{};
  if (name == "logistic" && parameters.empty()) return LogisticLoss{};
  if (name == "squared_epsilon" && parameters.size() == 1) return SquaredEpsilonLoss{parameters[0]};
  if (name == "huber" && parameters.size() == 1) return HuberLoss{parameters[0]};
  if (name == "tube" && parameters.size() == 3)
    return TubeLoss{parameters[0], parameters[1], parameters[2]};
  throw std::invalid_argument("there is no loss " + name + " with that many parameters");
}

struct Separable : PySample<double> {
  Separable(const std::string& name, const std::vector<double>& parameters, Doubles y,
            std::optional<Doubles> c, double each)
      : PySample(std::move(y), std::move(c), each), loss(make_loss(name, parameters)) {}

  const TubeLoss& tube() const {
    const auto* found = std::get_if<TubeLoss>(&loss);
    if (!found) throw std::invalid_argument("a smooth loss has no kinks");
    return *found;
  }
  Array1<double> coefficients() const { return buffers->take(size()); }

  Loss loss;
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>();
};

}  // namespace

void bind_hinge(nb::module_& m) {
  nb::class_<SmoothedSums>(m, "SmoothedHinge")
      .def_ro("value", &SmoothedSums::value)
      .def_ro("offset", &SmoothedSums::offset)
      .def_ro("error", &SmoothedSums::error)
      .def_ro("kinks", &SmoothedSums::kinks);
  nb::class_<Hinge>(m, "Hinge", "Sums over a sample of the hinge and its rounded version.")
      .def(nb::init<Vector<const std::int8_t>, std::optional<Doubles>, double>(), "y"_a,
           "weights"_a.none(), "each"_a)
      .def(
          "value",
          [](const Hinge& hinge, const Scores& s, int n_threads) {
            return released([&] { return hinge_value(hinge.get(), hinge.at(s), n_threads); });
          },
          "scores"_a, "n_threads"_a = 0)
      .def(
          "cut",
          [](const Hinge& hinge, const Doubles& s, int n_threads) {
            return filled(new_array<double>(hinge.size()), [&](double* coef) {
              return hinge_cut(hinge.get(), hinge.at(s), coef, n_threads);
            });
          },
          "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def(
          "balanced_cut",
          [](const Hinge& hinge, const Doubles& s, double width, int n_threads) {
            return filled(new_array<double>(hinge.size()), [&](double* coef) {
              return hinge_balanced_cut(hinge.get(), hinge.at(s), width, coef, n_threads);
            });
          },
          "scores"_a, "width"_a, "n_threads"_a = 0, "(coef, offset, value), coef summing to zero")
      .def(
          "offset",
          [](const Hinge& hinge, const Doubles& coef, int n_threads) {
            return released([&] { return hinge_offset(hinge.get(), hinge.at(coef), n_threads); });
          },
          "coef"_a, "n_threads"_a = 0)
      .def(
          "smoothed",
          [](const Hinge& hinge, const Doubles& s, double h, int n_threads) {
            return filled(new_array<double>(hinge.size()), [&](double* coef) {
              return hinge_smoothed(hinge.get(), hinge.at(s), h, coef, n_threads);
            });
          },
          "scores"_a, "h"_a, "n_threads"_a = 0)
      .def(
          "extrapolated",
          [](const Hinge& hinge, const Doubles& s, double h, double reach, int n_threads) {
            return filled(new_array<double>(hinge.size()), [&](double* coef) {
              hinge_extrapolated(hinge.get(), hinge.at(s), h, reach, coef, n_threads);
            });
          },
          "scores"_a, "h"_a, "reach"_a, "n_threads"_a = 0)
      .def(
          "kinks",
          [](const Hinge& hinge, const Scores& s, double h, int n_threads) {
            std::vector<std::int64_t> rows;
            std::vector<double> weights;
            released([&] { hinge_kinks(hinge.get(), hinge.at(s), h, rows, weights, n_threads); });
            return std::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(weights)));
          },
          "scores"_a, "h"_a, "n_threads"_a = 0,
          "(rows, weights) of the examples on the rounded kink")
      .def(
          "ray",
          [](const Hinge& hinge, const Scores& s, const std::optional<Scores>& other, bool towards,
             double t, double h, int n_threads) {
            return as_tuple(released([&] {
              return hinge_ray(hinge.get(), hinge.line(s, other, towards), h, t, n_threads);
            }));
          },
          "scores"_a, "other"_a.none(), "towards"_a, "t"_a, "h"_a = 0.0, "n_threads"_a = 0,
          "(value, slope, curvature) at scores + t * direction: other, other - scores if towards, "
          "or 1 if None")
      .def(
          "ray_minimum",
          [](const Hinge& hinge, const Scores& s, const std::optional<Scores>& other, bool towards,
             double quadratic, double linear, double C, double start, int n_threads) {
            return released([&] {
              return hinge_ray_minimum(hinge.get(), hinge.line(s, other, towards), quadratic,
                                       linear, C, start, n_threads);
            });
          },
          "scores"_a, "other"_a.none(), "towards"_a, "quadratic"_a, "linear"_a, "C"_a,
          "start"_a = 0.0, "n_threads"_a = 0)
      .def(
          "cut_plane",
          [](const Hinge& hinge, const PyMatrix& X, const Singles& s, const Singles& end, double mu,
             int n_threads) {
            return filled(hinge.slope(X), [&](double* slope) {
              return hinge_cut_plane(*X.matrix, hinge.get(), hinge.at(s), hinge.at(end), mu, slope,
                                     n_threads);
            });
          },
          "matrix"_a, "scores"_a.noconvert(), "end"_a.noconvert(), "mu"_a, "n_threads"_a = 0,
          "(slope, offset, value) at scores + mu * (end - scores)")
      .def(
          "smoothed_plane",
          [](const Hinge& hinge, const PyMatrix& X, const Scores& s, double h, int n_threads) {
            return filled(hinge.slope(X), [&](double* slope) {
              return hinge_smoothed_plane(*X.matrix, hinge.get(), hinge.at(s), h, slope, n_threads);
            });
          },
          "matrix"_a, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("scored_plane", &Hinge::scored_plane<double>, "matrix"_a, "w"_a, "base"_a.none(), "h"_a,
           "n_threads"_a = 0, "(base + X @ w, slope, sums of the rounded hinge there) in one pass")
      .def("single_scored_plane", &Hinge::scored_plane<float>, "matrix"_a, "w"_a,
           "base"_a.noconvert().none(), "h"_a, "n_threads"_a = 0,
           "The same in single precision; the value is infinite where that is too small.")
      .def(
          "extrapolated_slope",
          [](const Hinge& hinge, const PyMatrix& X, const Singles& s, double h, double reach,
             int n_threads) {
            return filled(hinge.slope(X), [&](double* slope) {
              hinge_extrapolated_slope(*X.matrix, hinge.get(), hinge.at(s), h, reach, slope,
                                       n_threads);
            });
          },
          "matrix"_a, "scores"_a.noconvert(), "h"_a, "reach"_a, "n_threads"_a = 0)
      .def(
          "rounding_error",
          [](const Hinge& hinge, const Scores& s, double h, int n_threads) {
            return released(
                [&] { return hinge_rounding_error(hinge.get(), hinge.at(s), h, n_threads); });
          },
          "scores"_a, "h"_a, "n_threads"_a = 0)
      .def(
          "move",
          [](const Hinge& hinge, const Vector<float>& s, const Singles& end, double step,
             int n_threads) {
            return released([&] {
              return hinge_move(hinge.get(), hinge.at(s), hinge.at(end), step, n_threads);
            });
          },
          "scores"_a.noconvert(), "end"_a.noconvert(), "step"_a, "n_threads"_a = 0,
          "The scores are moved towards end; the risk there.")
      .def(
          "advance",
          [](const Hinge& hinge, const Vector<double>& s, const Vector<double>& end, double step,
             double mu, int n_threads) {
            if (s.data() == end.data()) throw std::invalid_argument("two arrays are needed");
            const auto [value, cut] = released([&] {
              return hinge_advance(hinge.get(), hinge.at(s), hinge.at(end), step, mu, n_threads);
            });
            return std::make_tuple(value, cut.offset, cut.value);
          },
          "scores"_a, "end"_a, "step"_a, "mu"_a, "n_threads"_a = 0,
          "scores are moved, end becomes the coefficients of the cut; (value, the cut's offset and "
          "value)");
}

void bind_separable(nb::module_& m) {
  nb::class_<Separable>(m, "Separable", "Sums over a sample of a loss of one score per example.")
      .def(nb::init<const std::string&, const std::vector<double>&, Doubles, std::optional<Doubles>,
                    double>(),
           "loss"_a, "parameters"_a, "y"_a, "weights"_a.none(), "each"_a)
      .def(
          "value",
          [](const Separable& sums, const Doubles& s, int n_threads) {
            return released(
                [&] { return separable_value(sums.loss, sums.get(), sums.at(s), n_threads); });
          },
          "scores"_a, "n_threads"_a = 0)
      .def(
          "cut",
          [](const Separable& sums, const Doubles& s, int n_threads) {
            return filled(sums.coefficients(), [&](double* coef) {
              return separable_cut(sums.loss, sums.get(), sums.at(s), coef, n_threads);
            });
          },
          "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def(
          "smoothed",
          [](const Separable& sums, const Doubles& s, double h, int n_threads) {
            auto coef = sums.coefficients();
            const SmoothedSums at = released([&] {
              return separable_smoothed(sums.loss, sums.get(), sums.at(s), h, coef.data(),
                                        n_threads);
            });
            return std::make_tuple(coef, at.offset, at.value, at.error, at.kinks);
          },
          "scores"_a, "h"_a, "n_threads"_a = 0,
          "(coef, offset, value, error, examples where it is curved)")
      .def(
          "extrapolated",
          [](const Separable& sums, const Doubles& s, double h, double reach, int n_threads) {
            return filled(sums.coefficients(), [&](double* coef) {
              tube_extrapolated(sums.tube(), sums.get(), sums.at(s), h, reach, coef, n_threads);
            });
          },
          "scores"_a, "h"_a, "reach"_a, "n_threads"_a = 0)
      .def(
          "curved",
          [](const Separable& sums, const Doubles& s, double h, int n_threads) {
            CurvedExamples found = released(
                [&] { return separable_curved(sums.loss, sums.get(), sums.at(s), h, n_threads); });
            return std::make_tuple(to_numpy(std::move(found.rows), found.count),
                                   to_numpy(std::move(found.weights), found.count));
          },
          "scores"_a, "h"_a, "n_threads"_a = 0,
          "(rows, h times the second derivatives) where the rounded loss is curved")
      .def(
          "ray",
          [](const Separable& sums, const Doubles& s, const std::optional<Doubles>& other,
             bool towards, double t, double h, int n_threads) {
            return as_tuple(released([&] {
              return separable_ray(sums.loss, sums.get(), sums.line(s, other, towards), h, t,
                                   n_threads);
            }));
          },
          "scores"_a, "other"_a.none(), "towards"_a, "t"_a, "h"_a = 0.0, "n_threads"_a = 0,
          "(value, slope, curvature) at scores + t * direction: other, other - scores if towards, "
          "or 1 if None")
      .def(
          "ray_minimum",
          [](const Separable& sums, const Doubles& s, const std::optional<Doubles>& other,
             bool towards, double quadratic, double linear, double C, double start, int n_threads) {
            return released([&] {
              return tube_ray_minimum(sums.tube(), sums.get(), sums.line(s, other, towards),
                                      quadratic, linear, C, start, n_threads);
            });
          },
          "scores"_a, "other"_a.none(), "towards"_a, "quadratic"_a, "linear"_a, "C"_a,
          "start"_a = 0.0, "n_threads"_a = 0)
      .def(
          "offset",
          [](const Separable& sums, const Doubles& coef, int n_threads) {
            return released(
                [&] { return separable_offset(sums.loss, sums.get(), sums.at(coef), n_threads); });
          },
          "coef"_a, "n_threads"_a = 0);
}

}  // namespace cutplane::bind
