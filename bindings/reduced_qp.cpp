#include "core/bundle/reduced_qp.hpp"

#include <nanobind/stl/tuple.h>

#include <cmath>
#include <span>
#include <stdexcept>
#include <tuple>

#include "bindings/bind.hpp"
#include "core/bundle/planes.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;

// Numbers of the planes that were added.
template <class T>
Array1<T> without_trivial(std::span<const T> all) {
  return to_numpy(std::vector<T>(all.begin() + 1, all.end()));
}

// A bundle: the slopes, and the QP over them. Positions count the planes that were added; the
// trivial plane, which is the QP's plane 0, has none.
struct Bundle {
  Planes planes;
  ReducedQp qp;
  int n_threads;
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>();

  Bundle(index_t dimension, double lower_bound, bool single, int threads)
      : planes(dimension, single), qp(lower_bound), n_threads(threads) {}

  void add(const Vector<const double>& slope, double offset, double error) {
    require(static_cast<index_t>(slope.size()) == planes.dimension(),
            "the slope does not have the bundle's dimension");
    released([&] { append(slope.data(), offset, error); });
  }

  void append(const double* slope, double offset, double error) {
    const index_t before = planes.size();
    const std::vector<double> products =
        std::isfinite(offset) ? planes.add(slope, error, n_threads) : std::vector<double>{};
    require(planes.size() > before,
            "a plane's slope, its squared length and its offset must be finite");
    qp.append(products, offset);
  }

  // Two planes replaced by their mean, weighted as in the last solution, of which the mean then has
  // the weights of both. It lies below the higher of the two, so it is a plane.
  void merge(index_t first, index_t second) {
    require(first >= 0 && first < second && second < planes.size(), "there are no two such planes");
    nb::gil_scoped_release unlocked;
    const double a = qp.weights()[first + 1], b = qp.weights()[second + 1];
    const double share = a + b > 0.0 ? a / (a + b) : 0.5;
    std::vector<double> weights(static_cast<std::size_t>(planes.size()), 0.0);
    weights[first] = share;
    weights[second] = 1.0 - share;
    std::vector<double> slope(static_cast<std::size_t>(planes.dimension()));
    planes.combine(weights, 1.0, slope.data(), n_threads);
    const double offset =
        share * qp.offsets()[first + 1] + (1.0 - share) * qp.offsets()[second + 1];
    const double error = share * planes.error(first) + (1.0 - share) * planes.error(second);
    const index_t in_planes[] = {first, second}, in_qp[] = {first + 1, second + 1};
    qp.reset();
    qp.remove(in_qp);
    planes.remove(in_planes);
    append(slope.data(), offset, error);
  }

  // (w, lower, weights, risk_model, violation, pivots)
  auto solve(double C) {
    Array1<double> w = buffers->take(static_cast<std::size_t>(planes.dimension()));
    std::vector<double> weights;
    ReducedQpOutcome outcome{};
    double lower = 0.0;
    {
      nb::gil_scoped_release unlocked;
      outcome = qp.solve(C);
      const std::span<const double> all = qp.weights();
      weights.assign(all.begin() + 1, all.end());
      // The bound is proven by the planes and by weights on the simplex alone, not by how well the
      // QP was solved: nothing here comes from the Gram matrix.
      const double squared_norm = planes.combine(weights, -C, w.data(), n_threads);
      double mean_offset = 0.0;
      for (index_t i = 0; i < qp.size(); ++i) mean_offset += all[i] * qp.offsets()[i];
      // The planes' own slopes are no further from those stored than their errors add up to.
      double error = 0.0;
      for (index_t i = 0; i < planes.size(); ++i) error += weights[i] * planes.error(i);
      const double length = std::sqrt(squared_norm) + C * error;
      lower = C * mean_offset - 0.5 * (error > 0.0 ? length * length : squared_norm);
    }
    return std::make_tuple(w, lower, to_numpy(std::move(weights)), outcome.risk_model,
                           outcome.violation, outcome.pivots);
  }

  index_t prune(index_t idle) {
    std::vector<index_t> in_qp, in_planes;
    for (index_t i = 1; i < qp.size(); ++i) {
      if (qp.idle()[i] >= idle && qp.weights()[i] == 0.0) {
        in_qp.push_back(i);
        in_planes.push_back(i - 1);
      }
    }
    qp.remove(in_qp);
    planes.remove(in_planes);
    return static_cast<index_t>(in_qp.size());
  }

  // Forget a plane without weight.
  void drop(index_t plane) {
    const index_t in_planes[] = {plane}, in_qp[] = {plane + 1};
    qp.remove(in_qp);
    planes.remove(in_planes);
  }

  auto slopes() const {
    const auto d = static_cast<std::size_t>(planes.dimension());
    const auto n = static_cast<std::size_t>(planes.size());
    Array2<double> all = new_array<double>(n, d);
    for (index_t i = 0; i < planes.size(); ++i)
      planes.copy(i, all.data() + static_cast<std::size_t>(i) * d);
    return all;
  }

  auto errors() const {
    std::vector<double> all;
    for (index_t i = 0; i < planes.size(); ++i) all.push_back(planes.error(i));
    return to_numpy(std::move(all));
  }

  auto idle() const { return without_trivial(qp.idle()); }
  auto weights() const { return without_trivial(qp.weights()); }
  auto offsets() const { return without_trivial(qp.offsets()); }
};

// The QP alone, for planes that are known by their products: (weights, risk_model, violation,
// pivots). Positions leave out the trivial plane.
auto solve_qp(ReducedQp& qp, double C) {
  const ReducedQpOutcome outcome = released([&] { return qp.solve(C); });
  return std::make_tuple(without_trivial(qp.weights()), outcome.risk_model, outcome.violation,
                         outcome.pivots);
}

void append_to_qp(ReducedQp& qp, const Vector<const double>& products, double offset) {
  require(static_cast<index_t>(products.size()) == qp.size(),
          "one product for each plane, then that with itself, is needed");
  for (const double product : span_of(products))
    require(std::isfinite(product), "products must be finite");
  require(std::isfinite(offset), "the offset must be finite");
  qp.append(span_of(products), offset);
}

void remove_from_qp(ReducedQp& qp, const Vector<const index_t>& positions) {
  std::vector<index_t> in_qp;
  for (const index_t position : span_of(positions)) {
    const index_t at = position + 1;
    require(at >= 1 && at < qp.size() && (in_qp.empty() || at > in_qp.back()),
            "positions must be those of planes, ascending");
    require(qp.weights()[at] == 0.0, "a plane with weight must stay");
    in_qp.push_back(at);
  }
  qp.remove(in_qp);
}

}  // namespace

void bind_reduced_qp(nb::module_& m) {
  nb::class_<ReducedQp>(m, "ReducedQp",
                        "The QP over planes known by their products; see "
                        "cutplane.solvers.gram_bundle.")
      .def(nb::init<double>(), "lower_bound"_a)
      .def("append", &append_to_qp, "products"_a, "offset"_a)
      .def("remove", &remove_from_qp, "positions"_a)
      .def("solve", &solve_qp, "C"_a)
      .def("idle", [](const ReducedQp& qp) { return without_trivial(qp.idle()); });
  nb::class_<Bundle>(m, "Bundle", "Planes and the QP over them; see cutplane.solvers.bundle.")
      .def(nb::init<index_t, double, bool, int>(), "dimension"_a, "lower_bound"_a, "single"_a,
           "n_threads"_a)
      .def(nb::init<const Bundle&>(), "other"_a)
      .def("__len__", [](const Bundle& b) { return b.planes.size(); })
      .def("add", &Bundle::add, "slope"_a.noconvert(), "offset"_a, "error"_a)
      .def("drop", &Bundle::drop, "plane"_a)
      .def("merge", &Bundle::merge, "first"_a, "second"_a)
      .def("solve", &Bundle::solve, "C"_a)
      .def("prune", &Bundle::prune, "idle"_a)
      .def("reset", [](Bundle& b) { b.qp.reset(); })
      .def("slopes", &Bundle::slopes)
      .def("offsets", &Bundle::offsets)
      .def("errors", &Bundle::errors)
      .def("idle", &Bundle::idle)
      .def("weights", &Bundle::weights);
}

}  // namespace cutplane::bind
