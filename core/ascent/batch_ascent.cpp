// The entries of a sparse matrix are kept by ranges of its features, a range for each thread: what
// a thread reads and writes of v then stays in its own cache.
//
// Scores are sums over the ranges, and must not depend on where these end. So every product is
// rounded to a multiple of one quantum, the same for all, and sums of such multiples are exact.
#include "core/ascent/batch_ascent.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/multiversion.hpp"
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

// Added to a number and taken off again, it rounds that to a multiple of the quantum. Numbers, and
// sums of them, may be as large as `reach`.
double rounding_constant(double reach) {
  return 1.5 * std::exp2(std::ceil(std::log2(std::max(reach, 1e-100))) + 2.0);
}

template <class T>
class FeaturePart {
 public:
  // <x_e, v> over the features of the part, as multiples of the quantum.
  CUTPLANE_INLINE double score(index_t e, const double* v, double constant) const {
    std::int32_t k = starts[e];
    const std::int32_t end = starts[e + 1];
    double even = 0, odd = 0;
    for (; k + 2 <= end; k += 2) {
      even += (static_cast<double>(values[k]) * v[features[k]] + constant) - constant;
      odd += (static_cast<double>(values[k + 1]) * v[features[k + 1]] + constant) - constant;
    }
    if (k < end) even += (static_cast<double>(values[k]) * v[features[k]] + constant) - constant;
    return even + odd;
  }
  CUTPLANE_INLINE void add(index_t e, double change, double* v) const {
    const std::int32_t end = starts[e + 1];
    for (std::int32_t k = starts[e]; k < end; ++k)
      v[features[k]] += change * static_cast<double>(values[k]);
  }
  // The first and the last entries of an example; few have more than lie in those lines.
  CUTPLANE_INLINE void prefetch(index_t e) const {
    const std::int32_t begin = starts[e], end = starts[e + 1];
    __builtin_prefetch(features.data() + begin);
    __builtin_prefetch(features.data() + end);
    __builtin_prefetch(values.data() + begin);
    __builtin_prefetch(values.data() + end);
  }

  std::vector<std::int32_t> starts;  // of the entries of each example
  std::vector<std::int32_t> features;
  std::vector<T> values;
};

template <class T>
class FeatureParts {
 public:
  template <class I>
  FeatureParts(const CsrRows<T, I>& rows, int count, int n_threads) : parts_(count) {
    const std::vector<std::uint8_t> owner = owners(rows, count);
    const Blocks blocks = make_blocks(rows.n, kRows, kMostBlocks);
    for (auto& part : parts_) part.starts.assign(rows.n + 1, 0);
    for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
      for (index_t e = begin; e < end; ++e)
        rows.each(rows.at(e))([&](double, index_t j) { ++parts_[owner[j]].starts[e + 1]; });
    });
    for_blocks({count, count}, n_threads, [&](index_t p, index_t, index_t) {
      auto& part = parts_[p];
      for (index_t e = 0; e < rows.n; ++e) part.starts[e + 1] += part.starts[e];
      part.features.resize(part.starts[rows.n]);
      part.values.resize(part.starts[rows.n]);
    });
    for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
      std::vector<std::int32_t> next(count);
      for (index_t e = begin; e < end; ++e) {
        for (int p = 0; p < count; ++p) next[p] = parts_[p].starts[e];
        rows.each(rows.at(e))([&](double value, index_t j) {
          auto& part = parts_[owner[j]];
          const std::int32_t k = next[owner[j]]++;
          part.features[k] = static_cast<std::int32_t>(j);
          part.values[k] = static_cast<T>(value);
        });
      }
    });
  }

  const FeaturePart<T>& operator[](int p) const { return parts_[p]; }

 private:
  static constexpr index_t kRows = 256, kMostBlocks = 64;
  // Examples that are asked how often each feature comes.
  static constexpr index_t kAsked = 2000;

  // The part of each feature: ranges of about as many entries each.
  template <class I>
  static std::vector<std::uint8_t> owners(const CsrRows<T, I>& rows, int count) {
    std::vector<index_t> often(rows.d, 0);
    index_t total = 0;
    const index_t step = std::max<index_t>(1, rows.n / kAsked);
    for (index_t e = 0; e < rows.n; e += step)
      rows.each(rows.at(e))([&](double, index_t j) {
        ++often[j];
        ++total;
      });
    std::vector<std::uint8_t> owner(rows.d);
    index_t passed = 0;
    for (index_t j = 0; j < rows.d; ++j) {
      owner[j] = static_cast<std::uint8_t>(
          std::min<index_t>(count - 1, passed * count / std::max<index_t>(total, 1)));
      passed += often[j];
    }
    return owner;
  }

  std::vector<FeaturePart<T>> parts_;
};

// What threads tell one another: about each of some examples, and in which batch. Of the logistic
// loss also what is worked out of an example before the batch is moved.
struct alignas(64) Message {
  std::atomic<std::uint64_t> round{0};
  double scores[kBatch];
};
struct Visits : Message {
  StaleMove stale[kBatch];
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
double highest(const DualLoss& loss, index_t n) {
  double total = 0;
  for (index_t e = 0; e < n; ++e) {
    const DualTerm term = loss.at(e);
    total += loss.move(e, std::clamp(0.0, term.low, term.high), 0.0, 0.0, {}).gain;
  }
  return total;
}

template <class T>
class SparseBatches final : public BatchAscent {
 public:
  template <class I>
  SparseBatches(const Matrix& matrix, const CsrRows<T, I>& rows, const AscentScale& scale,
                const DualLoss& loss, int n_threads)
      : loss_(loss),
        threads_(n_threads),
        parts_(std::min(n_threads, kMostParts)),
        entries_(rows, parts_, n_threads),
        along_mean_(rows.n),
        sums_(std::make_unique<Message[]>(parts_ * parts_)),
        visits_(std::make_unique<Visits[]>(parts_)),
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
  // Heights that are parabolas count from those before: their moves have told by how much they
  // rise.
  double heights_before(const Ascent& state) const {
    return loss_.parabolas() ? 0.0 : sum_of_heights(state);
  }
  double heights_after(const Ascent& state, const Tally& tally) const {
    return loss_.parabolas() ? tally.rise : sum_of_heights(state);
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
    std::unique_ptr<Visits> visits = std::make_unique<Visits>();
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
        const index_t at = shares.begin(from), size = shares.end(from) - at;
        std::copy_n(visits_[from].scores, size, visits->scores + at);
        if (!loss_.parabolas()) std::copy_n(visits_[from].stale, size, visits->stale + at);
      }
      char* idle = me == 0 ? idle_.data() + begin : nullptr;
      const index_t count =
          move(state, alpha, examples, shares.size, *visits, tally, changes, idle);
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
      Message& message = sums_[to * parts_ + me];
      const index_t begin = shares.begin(to), end = shares.end(to);
      for (index_t s = begin; s < end; ++s) {
        if (s + kRowsAhead < left) entries.prefetch(examples[s + kRowsAhead]);
        const std::int32_t e = examples[s];
        __builtin_prefetch(alpha + e);
        __builtin_prefetch(along_mean_.data() + e);
        __builtin_prefetch(state.per_curvature.data() + e);
        message.scores[s - begin] = entries.score(e, state.v.data(), constant_);
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
      const Message& message = sums_[me * parts_ + from];
      wait_for(message.round, round);
      for (index_t k = 0; k < size; ++k) scores[k] += message.scores[k];
    }
    for (index_t k = 0; k < size; ++k) {
      const std::int32_t e = examples[k];
      visits_[me].scores[k] = scores[k] + shift;
      if (loss_.parabolas()) continue;
      const DualTerm term = loss_.at(e);
      visits_[me].stale[k] = logistic_move(term.sign, term.target, term.high, alpha[e],
                                           scores[k] + shift, state.per_curvature[e]);
    }
    visits_[me].round.store(round, std::memory_order_release);
  }

  // The moves of a batch, one after the other. Returns how many changes there are.
  CUTPLANE_INLINE index_t move(const Ascent& state, double* alpha, const std::int32_t* examples,
                               index_t size, const Visits& visits, Tally& tally, Change* changes,
                               char* idle) const {
    const double first_weight = tally.bias_weight;
    double along_mean = 0;
    index_t count = 0;
    for (index_t s = 0; s < size; ++s) {
      const std::int32_t e = examples[s];
      const double per = state.per_curvature[e];
      const double since =
          along_mean_[e] * along_mean + state.bias * (tally.bias_weight - first_weight);
      const DualMove move =
          loss_.parabolas() ? loss_.move(e, alpha[e], visits.scores[s] + since, per, state.shrink)
                            : late_move(loss_.weights[e], alpha[e], visits.stale[s], since);
      if (move.idle) {
        if (idle) idle[s] = 1;
        continue;
      }
      tally.largest = std::max(tally.largest, move.projected);
      tally.smallest = std::min(tally.smallest, move.projected);
      if (move.projected == 0.0) continue;
      tally.open += move.open;
      tally.gain += move.gain;
      const double change = (move.next - alpha[e]) * loss_.sign(e);
      alpha[e] = move.next;
      if (change == 0.0) continue;
      if (loss_.parabolas()) {
        tally.rise += move.gain + change * (visits.scores[s] + since);
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

  DualLoss loss_;
  int threads_, parts_;
  FeatureParts<T> entries_;
  std::vector<double> along_mean_;  // how far each example goes along the mean of all
  double longest_ = 0;              // of the examples
  double usual_ = 0;                // what v is at most as long as
  double constant_ = 0;
  index_t batch_ = kBatch;
  std::uint64_t round_ = 0;          // batches so far
  std::unique_ptr<Message[]> sums_;  // over one part: [who adds them up][whose part]
  std::unique_ptr<Visits[]> visits_;
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
      made =
          std::make_unique<SparseBatches<T>>(matrix, rows, scale, loss, resolve_threads(n_threads));
    }
  });
  return made;
}

}  // namespace cutplane
