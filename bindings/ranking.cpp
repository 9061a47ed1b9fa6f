#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>

#include "bindings/bind.hpp"
#include "core/ranking/pairs.hpp"
#include "core/ranking/score_order.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Scores = Vector<const double>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// (coef, offset, value)
using Cut = std::tuple<Array1<double>, double, double>;

[[noreturn]] void refuse_scores() {
  throw std::invalid_argument("Scores must be finite: the weights or the features are too large.");
}

struct PairsHome {
  PairSample sample;
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>();

  void check(const Scores& s) const {
    require(static_cast<index_t>(s.shape(0)) == sample.n, "one score per example is needed");
  }
};

// An order of scores that another one may begin with.
class PairOrder {
 public:
  explicit PairOrder(std::shared_ptr<const PairsHome> home) : home_(std::move(home)) {}

  const std::vector<place_t>& places_in(const PairsHome& home) const {
    require(&home == home_.get(), "the order is one of other pairs");
    return places();
  }

  virtual ~PairOrder() = default;

 protected:
  virtual const std::vector<place_t>& places() const = 0;

  std::shared_ptr<const PairsHome> home_;
};

// Scores in order, with the sums over pairs that training asks for.
class SortedPairs : public PairOrder {
 public:
  SortedPairs(std::shared_ptr<const PairsHome> home, const Scores& s, const PairOrder* near,
              int n_threads)
      : PairOrder(std::move(home)), n_threads_(n_threads), scores_(sort(s, near)) {
    if (!scores_.finite()) refuse_scores();
  }

  Cut cut() {
    auto coef = home_->buffers->take(home_->sample.n);
    const PairCut cut =
        released([&] { return pair_cut(home_->sample, scores_, coef.data(), n_threads_); });
    return {coef, cut.offset, cut.value};
  }

  Cut smoothed(double h, double reach) {
    auto coef = home_->buffers->take(home_->sample.n);
    const PairCut cut = released([&] {
      return pair_smoothed(home_->sample, scores_.in_order(), h, reach, coef.data(), n_threads_);
    });
    return {coef, cut.offset, cut.value};
  }

  Array1<double> curvature(double h, const Scores& direction) {
    home_->check(direction);
    auto coef = home_->buffers->take(home_->sample.n);
    multiply(h, direction.data(), 1, coef.data());
    return coef;
  }

  void curvature_of_rows(double h, Rows directions, OutRows coef) {
    const index_t columns = static_cast<index_t>(directions.shape(1));
    require(static_cast<index_t>(directions.shape(0)) == home_->sample.n &&
                coef.shape(0) == directions.shape(0) && coef.shape(1) == directions.shape(1),
            "one row per example is needed");
    multiply(h, directions.data(), columns, coef.data());
  }

 private:
  void multiply(double h, const double* directions, index_t columns, double* coef) {
    released([&] {
      pair_curvature(home_->sample, scores_.in_order(), h, directions, columns, coef, n_threads_);
    });
  }

  const std::vector<place_t>& places() const override { return scores_.places(); }

  PairScores sort(const Scores& s, const PairOrder* near) const {
    home_->check(s);
    std::vector<place_t> places;
    if (near) places = near->places_in(*home_);
    return released(
        [&] { return PairScores(home_->sample, s.data(), std::move(places), n_threads_); });
  }

  int n_threads_;
  PairScores scores_;
};

// The risk along a line of scores.
class PairRay : public PairOrder {
 public:
  PairRay(std::shared_ptr<const PairsHome> home, const Scores& start, const Scores& end,
          const PairOrder* near, int n_threads)
      : PairOrder(std::move(home)),
        line_(checked(*home_, start, end), start.data(), end.data(), n_threads) {
    if (near) line_.begin_with(near->places_in(*home_));
  }

  std::tuple<double, double> at(double t) {
    const PairSlope found = released([&] { return line_.at(t); });
    if (!found.finite) refuse_scores();
    return {found.value, found.slope};
  }

 private:
  const std::vector<place_t>& places() const override { return line_.places(); }

  static const PairSample& checked(const PairsHome& home, const Scores& start, const Scores& end) {
    home.check(start);
    home.check(end);
    return home.sample;
  }

  PairLine line_;
};

// The pairs of a sample.
class Pairs {
 public:
  Pairs(index_t n, Vector<const place_t> example, Vector<const std::int64_t> leaf,
        Vector<const std::int64_t> group, Vector<const double> group_weight,
        std::optional<Vector<const double>> weight)
      : home_(std::make_shared<PairsHome>()) {
    PairSample& sample = home_->sample;
    sample.n = n;
    copy(example, sample.example);
    copy(leaf, sample.leaf);
    copy(group, sample.group);
    copy(group_weight, sample.group_weight);
    if (weight) copy(*weight, sample.weight);
    check();
    sample.few_pairs = has_few_pairs(sample);
  }

  SortedPairs sort(Scores s, const PairOrder* near, int n_threads) const {
    return SortedPairs(home_, s, near, n_threads);
  }

  PairRay ray(Scores start, Scores end, const PairOrder* near, int n_threads) const {
    return PairRay(home_, start, end, near, n_threads);
  }

 private:
  template <class T>
  static void copy(const Vector<const T>& from, std::vector<T>& to) {
    to.assign(from.data(), from.data() + from.shape(0));
  }

  // Sweeps trust these offsets.
  void check() const {
    const PairSample& sample = home_->sample;
    const auto rising = [](const std::vector<index_t>& offsets, index_t end) {
      bool right = !offsets.empty() && offsets.front() == 0 && offsets.back() == end;
      for (std::size_t k = 1; k < offsets.size(); ++k) right &= offsets[k - 1] <= offsets[k];
      return right;
    };
    bool right = rising(sample.leaf, sample.places()) &&
                 rising(sample.group, static_cast<index_t>(sample.leaf.size()) - 1) &&
                 sample.group_weight.size() + 1 == sample.group.size() &&
                 (sample.weight.empty() || sample.weight.size() == sample.example.size());
    for (const place_t i : sample.example) right &= static_cast<index_t>(i) < sample.n;
    require(right, "groups, ranks and examples do not fit together");
  }

  std::shared_ptr<PairsHome> home_;
};

std::tuple<index_t, index_t, double> worst_for_f1(const Scores& positive, const Scores& negative,
                                                  double shift) {
  const F1Labelling worst = released([&] {
    return f1_worst(positive.data(), static_cast<index_t>(positive.shape(0)), negative.data(),
                    static_cast<index_t>(negative.shape(0)), shift);
  });
  return {worst.missed, worst.added, worst.loss};
}

}  // namespace

void bind_ranking(nb::module_& m) {
  nb::class_<PairOrder>(m, "PairOrder", "An order of scores that another one may begin with.");
  nb::class_<SortedPairs, PairOrder>(m, "SortedPairs",
                                     "Scores in order, on their grid, and sums over pairs.")
      .def("cut", &SortedPairs::cut, "(coef, offset, value)")
      .def("smoothed", &SortedPairs::smoothed, "h"_a, "reach"_a, "(coef, offset, value)")
      .def("curvature", &SortedPairs::curvature, "h"_a, "direction"_a)
      .def("curvature_of_rows", &SortedPairs::curvature_of_rows, "h"_a, "directions"_a, "coef"_a,
           "coef = L directions, L the Laplacian of the pairs on the kink of width h");
  nb::class_<PairRay, PairOrder>(m, "PairRay", "The risk of pairs along a line of scores.")
      .def("at", &PairRay::at, "t"_a, "(value, right derivative) at start + t * (end - start)");
  nb::class_<Pairs>(m, "Pairs", "The pairs of examples of different rank, within groups.")
      .def(nb::init<index_t, Vector<const place_t>, Vector<const std::int64_t>,
                    Vector<const std::int64_t>, Vector<const double>,
                    std::optional<Vector<const double>>>(),
           "n"_a, "example"_a, "leaf"_a, "group"_a, "group_weight"_a, "weight"_a.none())
      .def("sort", &Pairs::sort, "scores"_a, "near"_a.none() = nullptr, "n_threads"_a = 0,
           "`near`: an order that is nearly right")
      .def("ray", &Pairs::ray, "start"_a, "end"_a, "near"_a.none() = nullptr, "n_threads"_a = 0);
  m.def("grid_step", &grid_step, "n"_a, "largest"_a,
        "The step of the grid that n scores are sorted on, the largest of which has this size; 0 "
        "for none");
  m.def("f1_worst", &worst_for_f1, "positive"_a, "negative"_a, "shift"_a,
        "(missed, added, loss) of the labelling that holds up the bound of 1 - F1; positive scores "
        "ascending, negative ones descending");
}

}  // namespace cutplane::bind
