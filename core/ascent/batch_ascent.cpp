#include "core/ascent/batch_ascent.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/ascent/feature_parts.hpp"
#include "core/base/random_order.hpp"
#include "core/base/team.hpp"
#include "core/base/vectors.hpp"
#include "core/matrix/any_rows.hpp"

namespace cutplane {
namespace {

// Examples of a batch: of 16 threads each adds up the scores of seven, which are a line of the
// cache with the number of the batch. More threads than these have nothing to do.
constexpr int kBatch = 112, kMostParts = 16;
// Of the active examples: a batch is no larger share, and no smaller number.
constexpr index_t kLeastBatches = 8, kLeastBatch = 28;
// Of the rise that the moves of a sweep promise one by one: with less, batches are halved.
constexpr double kTrusted = 0.4;
// Rows ahead whose entries are fetched.
constexpr index_t kRowsAhead = 12;
// Examples whose heights are added up together, and how many such blocks there are at most.
constexpr index_t kHeights = 1024, kMostHeights = 64;
// Of the lengths that v can have: room for what is not foreseen.
constexpr double kRoom = 4.0;

// What threads tell one another: about each of some examples, and in which batch.
template <class Told>
struct alignas(64) Message {
  std::atomic<std::uint64_t> round{0};
  Told told[kBatch];
};

// What is worked out of an example before the batch is moved, and its move when the score has
// changed by so much since: for most losses, the score alone.
template <class Term>
struct Visit {
  double score = 0;

  CUTPLANE_INLINE static Visit ahead(const Term&, double, double score, double) { return {score}; }
  CUTPLANE_INLINE DualMove move(const Term& term, double alpha, double change, double per,
                                const ShrinkBounds& shrink) const {
    return term.move(alpha, score + change, per, shrink);
  }
};

template <>
struct Visit<LogisticDual::Term> {
  using Term = LogisticDual::Term;
  Term::Stale stale{};

  CUTPLANE_INLINE static Visit ahead(const Term& term, double alpha, double score, double per) {
    return {term.stale_move(alpha, score, per)};
  }
  CUTPLANE_INLINE DualMove move(const Term& term, double alpha, double change, double,
                                const ShrinkBounds&) const {
    return term.late_move(alpha, stale, change);
  }
};

// What the moves of a sweep come to. Every thread adds up the same.
struct Tally {
  double largest = -INFINITY, smallest = INFINITY, gain = 0, rise = 0, open = 0, travelled = 0;
  double bias_weight = 0;
  index_t changes = 0;
};

struct Change {
  std::int32_t example;
  double size;
};

// Half the square of what v may be as long as: while the dual value is above that of zero, ½|v|² is
// at most the heights of all planes, and these are at most the losses at scores of zero.
template <class Loss>
double highest(const Loss& loss, index_t n) {
  double total = 0;
  for (index_t e = 0; e < n; ++e) {
    const auto term = loss.at(e);
    total += term.move(std::clamp(0.0, term.low(), term.high()), 0.0, 0.0, {}).gain;
  }
  return total;
}

template <class T, class Loss>
class SparseBatches final : public BatchAscent {
 public:
  template <class I>
  SparseBatches(const Matrix& matrix, const CsrRows<T, I>& rows, const AscentScale& scale,
                const Loss& loss, int n_threads)
      : loss_(loss),
        threads_(n_threads),
        parts_(std::min(n_threads, kMostParts)),
        entries_(rows, parts_, n_threads),
        along_mean_(rows.n),
        sums_(std::make_unique<Message<double>[]>(parts_ * parts_)),
        visits_(std::make_unique<Message<Visited>[]>(parts_)),
        alphas_(parts_) {
    std::vector<double> mean(rows.d);
    matrix.combine(std::vector<double>(rows.n, 1.0).data(), 1, mean.data(), n_threads);
    const double square = inner(mean.data(), mean.data(), rows.d, n_threads);
    const double per_length = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
    for (double& entry : mean) entry *= per_length;
    matrix.scores(mean.data(), 1, along_mean_.data(), n_threads);
    longest_ = std::sqrt(*std::max_element(scale.squares.begin(), scale.squares.end()));
    usual_ = std::sqrt(2.0 * highest(loss, rows.n));
  }

  bool sweep(Ascent& state) override {
    const index_t batch = std::min<index_t>(batch_, state.active / kLeastBatches);
    if (batch < kLeastBatch) return false;
    shuffle_runs(state.order, state.active, state.random);
    const double square = square_of(state.v), weight = state.bias_weight;
    const double heights = heights_before(state);
    constant_ = rounding_constant(kRoom * longest_ * std::max(std::sqrt(square), usual_));
    before_ = state;
    const index_t active = state.active;
    idle_.assign(state.active, 0);
    for (auto& alpha : alphas_) alpha.resize(state.alpha.size());
    Tally tally;
    const bool complete = run_team(threads_, [&](int me) {
      if (me < parts_) visit(state, batch, me, tally);
    });
    if (!complete) return false;
    round_ += (state.active + batch - 1) / batch;
    rest(state);
    state.bias_weight = tally.bias_weight;
    double gain = heights_after(state, tally) - heights - 0.5 * (square_of(state.v) - square);
    if (state.bias != 0.0)
      gain -= (state.bias_weight - weight) *
              (0.5 * (state.bias_weight + weight) + state.bias_center / state.bias);
    if (!(gain >= kTrusted * tally.gain)) batch_ /= 2;
    if (!(gain >= 0.0)) {
      static_cast<DualVariables&>(state) = before_;
      state.active = active;
      return false;
    }
    state.shrink = {tally.largest > 0.0 ? tally.largest : INFINITY,
                    tally.smallest < 0.0 ? tally.smallest : -INFINITY};
    state.gain = gain;
    state.open_gap = tally.open;
    state.travelled += tally.travelled;
    state.roundings += static_cast<double>(tally.changes);
    return true;
  }

 private:
  using Visited = Visit<typename Loss::Term>;

  // Heights that are parabolas count from those before: their moves have told by how much they
  // rise.
  double heights_before(const Ascent& state) const {
    return Loss::kParabolas ? 0.0 : sum_of_heights(state);
  }
  double heights_after(const Ascent& state, const Tally& tally) const {
    return Loss::kParabolas ? tally.rise : sum_of_heights(state);
  }
  double sum_of_heights(const Ascent& state) const {
    const Blocks blocks = make_blocks(std::ssize(state.alpha), kHeights, kMostHeights);
    std::vector<double> sums(blocks.count, 0.0);
    for_blocks(blocks, threads_, [&](index_t b, index_t begin, index_t end) {
      for (index_t e = begin; e < end; ++e) sums[b] += loss_.at(e).height(state.alpha[e]);
    });
    return sum(sums.data(), blocks.count, 1);
  }

  double square_of(const std::vector<double>& v) const {
    return inner(v.data(), v.data(), std::ssize(v), threads_);
  }

  // What one thread does in a sweep. The variables that it moves are its own copy, but for the
  // first thread: that moves the real ones, and not before the others have sent scores, so have
  // copied.
  CUTPLANE_MULTIVERSION void visit(Ascent& state, index_t batch, int me, Tally& result) {
    double* alpha = state.alpha.data();
    if (me > 0) {
      std::copy_n(alpha, state.alpha.size(), alphas_[me].data());
      alpha = alphas_[me].data();
    }
    const FeaturePart<T>& entries = entries_[me];
    Tally tally;
    tally.bias_weight = state.bias_weight;
    Visited visits[kBatch];
    Change changes[kBatch];
    std::uint64_t round = round_;
    for (index_t begin = 0; begin < state.active; begin += batch) {
      const Blocks shares{std::min(batch, state.active - begin), parts_};
      const std::int32_t* examples = state.order.data() + begin;
      score(state, alpha, examples, shares, state.active - begin, me, ++round);
      const double shift = state.bias * tally.bias_weight + state.bias_center;
      add_up(state, alpha, examples + shares.begin(me), shares.end(me) - shares.begin(me), shift,
             me, round);
      for (int from = 0; from < parts_; ++from) {
        wait_for(visits_[from].round, round);
        std::copy_n(visits_[from].told, shares.end(from) - shares.begin(from),
                    visits + shares.begin(from));
      }
      char* idle = me == 0 ? idle_.data() + begin : nullptr;
      const index_t count = move(state, alpha, examples, shares.size, visits, tally, changes, idle);
      for (index_t k = 0; k < count; ++k)
        entries.add(changes[k].example, changes[k].size, state.v.data());
    }
    if (me == 0) result = tally;
  }

  // This thread's parts of the scores, sent to those who add them up.
  CUTPLANE_INLINE void score(const Ascent& state, const double* alpha, const std::int32_t* examples,
                             const Blocks& shares, index_t left, int me, std::uint64_t round) {
    const FeaturePart<T>& entries = entries_[me];
    for (int to = 0; to < parts_; ++to) {
      Message<double>& message = sums_[to * parts_ + me];
      const index_t begin = shares.begin(to), end = shares.end(to);
      for (index_t s = begin; s < end; ++s) {
        if (s + kRowsAhead < left) entries.prefetch(examples[s + kRowsAhead]);
        const std::int32_t e = examples[s];
        __builtin_prefetch(alpha + e);
        __builtin_prefetch(along_mean_.data() + e);
        __builtin_prefetch(state.per_curvature.data() + e);
        message.told[s - begin] = entries.score(e, state.v.data(), constant_);
      }
      message.round.store(round, std::memory_order_release);
    }
  }

  // Adds up the scores of this thread's share of a batch, and tells all what follows from them.
  CUTPLANE_INLINE void add_up(const Ascent& state, const double* alpha,
                              const std::int32_t* examples, index_t size, double shift, int me,
                              std::uint64_t round) {
    double scores[kBatch];
    std::fill_n(scores, size, 0.0);
    for (int from = 0; from < parts_; ++from) {
      const Message<double>& message = sums_[me * parts_ + from];
      wait_for(message.round, round);
      for (index_t k = 0; k < size; ++k) scores[k] += message.told[k];
    }
    for (index_t k = 0; k < size; ++k) {
      const std::int32_t e = examples[k];
      visits_[me].told[k] =
          Visited::ahead(loss_.at(e), alpha[e], scores[k] + shift, state.per_curvature[e]);
    }
    visits_[me].round.store(round, std::memory_order_release);
  }

  // The moves of a batch, one after the other. Returns how many changes there are.
  CUTPLANE_INLINE index_t move(const Ascent& state, double* alpha, const std::int32_t* examples,
                               index_t size, const Visited* visits, Tally& tally, Change* changes,
                               char* idle) const {
    const double first_weight = tally.bias_weight;
    double along_mean = 0;
    index_t count = 0;
    for (index_t s = 0; s < size; ++s) {
      const std::int32_t e = examples[s];
      const auto term = loss_.at(e);
      const double per = state.per_curvature[e];
      const double since =
          along_mean_[e] * along_mean + state.bias * (tally.bias_weight - first_weight);
      const DualMove move = visits[s].move(term, alpha[e], since, per, state.shrink);
      if (move.idle) {
        if (idle) idle[s] = 1;
        continue;
      }
      tally.largest = std::max(tally.largest, move.projected);
      tally.smallest = std::min(tally.smallest, move.projected);
      if (move.projected == 0.0) continue;
      tally.open += move.open;
      tally.gain += move.gain;
      const double change = (move.next - alpha[e]) * term.sign;
      alpha[e] = move.next;
      if (change == 0.0) continue;
      if constexpr (Loss::kParabolas) {
        tally.rise += move.gain + change * (visits[s].score + since);
        if (per > 0.0) tally.rise += 0.5 * change * change / per;
      }
      along_mean += change * along_mean_[e];
      tally.bias_weight += change * state.bias;
      tally.travelled += std::abs(change);
      ++tally.changes;
      changes[count++] = {e, change};
    }
    return count;
  }

  // Examples that have settled go behind those that are active.
  void rest(Ascent& state) {
    settled_.clear();
    index_t kept = 0;
    for (index_t s = 0; s < state.active; ++s) {
      if (idle_[s])
        settled_.push_back(state.order[s]);
      else
        state.order[kept++] = state.order[s];
    }
    std::copy(settled_.begin(), settled_.end(), state.order.begin() + kept);
    state.active = kept;
  }

  Loss loss_;
  int threads_, parts_;
  FeatureParts<T> entries_;
  std::vector<double> along_mean_;  // how far each example goes along the mean of all
  double longest_ = 0;              // of the examples
  double usual_ = 0;                // what v is at most as long as
  double constant_ = 0;
  index_t batch_ = kBatch;
  std::uint64_t round_ = 0;                  // batches so far
  std::unique_ptr<Message<double>[]> sums_;  // over one part: [who adds them up][whose part]
  std::unique_ptr<Message<Visited>[]> visits_;
  std::vector<std::vector<double>> alphas_;  // each thread's own
  DualVariables before_;                     // the sweep
  std::vector<char> idle_;
  std::vector<std::int32_t> settled_;
};

}  // namespace

std::unique_ptr<BatchAscent> make_batch_ascent(const Matrix& matrix, const AscentScale& scale,
                                               const DualLoss& loss, int n_threads) {
  constexpr index_t kMost = std::numeric_limits<std::int32_t>::max();
  if (matrix.rows() == 0 || matrix.entries() > kMost || matrix.cols() > kMost) return nullptr;
  std::unique_ptr<BatchAscent> made;
  visit_rows(matrix, [&]<class Rows>(const Rows& rows) {
    if constexpr (requires { rows.indptr; }) {
      using T = std::remove_cvref_t<decltype(*rows.values)>;
      std::visit(
          [&]<class Loss>(const Loss& of) {
            made = std::make_unique<SparseBatches<T, Loss>>(matrix, rows, scale, of,
                                                            resolve_threads(n_threads));
          },
          loss);
    }
  });
  return made;
}

}  // namespace cutplane
