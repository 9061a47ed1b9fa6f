// One pair at a time: the solver of the papers, by whichever rule.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/smo/solver.hpp"

namespace cutplane::smo {
namespace {

// Steps between attempts to shrink, and how close to the end everything comes back for a last look.
constexpr std::int64_t kShrinkEvery = 1000;
constexpr double kUnshrinkAt = 10.0;
// Steps between looks at the clock.
constexpr std::int64_t kStepsPerLook = 16;

CUTPLANE_MULTIVERSION void gather(index_t n, const float* values, const std::int32_t* columns,
                                  float* out) {
  for (index_t t = 0; t < n; ++t) out[t] = values[columns[t]];
}

// The variables that have not settled, side by side, and kernel rows over them.
class Active {
 public:
  Active(Dual& dual, int n_threads) : dual_(dual), n_threads_(n_threads) { take_all(); }

  void use_threads(int n_threads) { n_threads_ = n_threads; }
  index_t size() const { return static_cast<index_t>(f.size()); }
  bool complete() const { return size() == dual_.size(); }

  void take_all() {
    variables_.resize(dual_.size());
    for (index_t t = 0; t < dual_.size(); ++t) variables_[t] = t;
    load();
  }

  // Keep those of which keep(t) holds.
  template <class Keep>
  void shrink(Keep&& keep) {
    store();
    index_t kept = 0;
    for (index_t t = 0; t < size(); ++t)
      if (keep(t)) variables_[kept++] = variables_[t];
    variables_.resize(kept);
    load();
  }

  void store() {
    for (index_t t = 0; t < size(); ++t) {
      dual_.b[variables_[t]] = b[t];
      dual_.f[variables_[t]] = f[t];
    }
  }

  Candidates<double> candidates(int group) const {
    return {size(),
            f.data(),
            room_up.data(),
            room_down.data(),
            diagonal.data(),
            label.data(),
            static_cast<double>(group)};
  }

  // Move a pair by `wanted`, or as far as the box allows; the step taken.
  double move(index_t up, index_t down, double wanted) {
    const double step = std::min({wanted, room_up[up], room_down[down]});
    set(up, step >= room_up[up] ? high[up] : b[up] + step);
    set(down, step >= room_down[down] ? low[down] : b[down] - step);
    return step;
  }

  // Valid until the next but one call.
  const float* row(index_t t) {
    if (held_[0].variable == t) return held_[0].values;
    if (held_[1].variable == t) {
      std::swap(newer_, older_);
      std::swap(held_[0], held_[1]);
      return held_[0].values;
    }
    std::swap(newer_, older_);
    std::swap(held_[0], held_[1]);
    held_[0] = {-1, nullptr};
    const std::int64_t id = dual_.rows.global(dual_.row_of(variables_[t]));
    leases_[newer_].release();
    dual_.rows.acquire({&id, 1}, leases_[newer_], n_threads_);
    const float* values = leases_[newer_][0];
    if (!in_place_) {
      std::vector<float>& gathered = gathered_[newer_];
      gathered.resize(size());
      gather(size(), values, columns_.data(), gathered.data());
      values = gathered.data();
    }
    held_[0] = {t, values};
    return values;
  }

  std::vector<double> f, b, low, high, room_up, room_down, diagonal, label;

 private:
  void set(index_t t, double value) {
    b[t] = value;
    room_up[t] = high[t] - value;
    room_down[t] = value - low[t];
  }

  struct Held {
    index_t variable = -1;
    const float* values = nullptr;
  };

  void load() {
    const index_t n = static_cast<index_t>(variables_.size());
    for (auto* array : {&f, &b, &low, &high, &room_up, &room_down, &diagonal, &label})
      array->resize(n);
    columns_.resize(n);
    in_place_ = dual_.copies == 1 && dual_.rows.whole() && n == dual_.size();
    for (index_t t = 0; t < n; ++t) {
      const index_t v = variables_[t], row = dual_.row_of(v);
      f[t] = dual_.f[v];
      low[t] = dual_.low[v];
      high[t] = dual_.high[v];
      set(t, dual_.b[v]);
      diagonal[t] = dual_.diagonal[row];
      label[t] = dual_.y[v];
      columns_[t] = static_cast<std::int32_t>(dual_.rows.global(row));
    }
    held_[0] = held_[1] = Held{};
  }

  Dual& dual_;
  int n_threads_;
  std::vector<index_t> variables_;
  std::vector<std::int32_t> columns_;  // a cache has room for no more rows than that
  bool in_place_ = true;
  Held held_[2];  // the row asked for last, and the one before
  int newer_ = 0, older_ = 1;
  Lease leases_[2];
  std::vector<float> gathered_[2];
};

class PairSolver : public Solver {
 public:
  PairSolver(Dual& dual, const Settings& settings)
      : dual_(dual), settings_(settings), active_(dual, settings.n_threads) {
    // The gap is that of all variables.
    if (settings.stop == StopRule::none) settings_.shrinking = false;
    if (settings.rule == Rule::conjugate) settings_.rule = Rule::second_order;
  }

  Progress advance(std::int64_t most, const Deadline& deadline) override {
    if (!dual_.ready()) {
      if (!dual_.recompute(settings_.n_threads, &deadline)) return Progress::paused;
      active_.take_all();
    }
    for (std::int64_t done = 1; iterations_ < most; ++done) {
      if (done % kStepsPerLook == 0 && deadline.passed()) {
        active_.store();
        return Progress::paused;
      }
      if (settings_.shrinking && ++since_shrink_ >= kShrinkEvery) shrink();
      if (!step()) {
        active_.store();
        if (active_.complete()) return Progress::finished;
        // What was shrunken away has its say before anything is final.
        unshrink();
      }
    }
    active_.store();
    return Progress::reached;
  }

  bool ready() const override { return dual_.ready(); }
  void use_threads(int n_threads) override {
    settings_.n_threads = n_threads;
    active_.use_threads(n_threads);
  }

  void settle() override {
    if (!active_.complete()) unshrink();
  }

  void refresh() override { unshrink(); }

  std::int64_t iterations() const override { return iterations_; }
  bool stuck() const override { return stuck_; }

  // What was shrunken away keeps an f of the past: then the primal bound is that of the last full
  // look, and the dual one has gained what the steps since have taken off.
  Bounds bounds() const override {
    if (active_.complete()) return dual_.bounds();
    Bounds result = full_;
    result.dual += gained_;
    return result;
  }

 private:
  // False where the rule says to stop.
  bool step() {
    double maximal = 0.0;
    const Pair best = best_pair(
        settings_.rule, dual_.grouped, [&](int label) { return active_.candidates(label); }, last_,
        [&](index_t t) { return active_.row(t); }, maximal);
    if (best.up < 0) return false;
    if (settings_.stop == StopRule::kkt && maximal <= settings_.eps) return false;
    if (settings_.stop == StopRule::pair &&
        (best.violation < settings_.eps || best.gain < gain_floor(best)))
      return false;
    return move(best);
  }

  double gain_floor(const Pair& pair) const {
    return pair.gain > 0.0 ? settings_.least_gain : 0.0;  // a rule may not compute it
  }

  bool move(const Pair& pair) {
    const auto [i, j] = std::pair{pair.up, pair.low};
    const float* k_up = active_.row(i);
    const float* k_low = active_.row(j);
    const double eta = curvature(active_.candidates(0), i, j, k_up[j]);
    const double old_up = active_.b[i], old_low = active_.b[j];
    const double taken = active_.move(i, j, pair.violation / eta);
    if (active_.b[i] == old_up && active_.b[j] == old_low) {
      stuck_ = true;
      return false;
    }
    const double bend = active_.diagonal[i] + active_.diagonal[j] - 2.0 * k_up[j];
    gained_ += taken * (pair.violation - 0.5 * taken * bend);
    add_difference(active_.size(), taken, k_up, k_low, active_.f.data());
    note_rounding(taken);
    ++iterations_;
    return true;
  }

  // Each step rounds f, what is added to it, and the difference of two kernel values.
  void note_rounding(double taken) {
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    const double added = 2.1 * taken * dual_.largest_value;
    if (iterations_ % kShrinkEvery == 0) {
      largest_ = 0.0;
      for (const double value : active_.f) largest_ = std::max(largest_, std::abs(value));
    }
    largest_ += added;
    dual_.drift += 4.0 * unit * (largest_ + added);
  }

  // LIBSVM's rule: at a bound, and further beyond the threshold than any violator.
  void shrink() {
    since_shrink_ = 0;
    Extremes extremes[2];
    const auto look = [&] {
      double violation = 0.0;
      for (int g = 0; g < dual_.groups(); ++g) {
        extremes[g] = find_extremes(active_.candidates(dual_.grouped ? 1 - 2 * g : 0));
        violation = std::max(violation, extremes[g].violation());
      }
      return violation;
    };
    if (look() <= kUnshrinkAt * settings_.eps && !unshrunk_) {
      unshrunk_ = true;
      if (!active_.complete()) unshrink();
      look();
    }
    if (active_.complete()) {
      active_.store();
      full_ = dual_.bounds();
      gained_ = 0.0;
    }
    active_.shrink([&](index_t t) {
      const Extremes& e = extremes[dual_.grouped && active_.label[t] < 0 ? 1 : 0];
      if (active_.b[t] >= active_.high[t]) return !(active_.f[t] < e.up_value);
      if (active_.b[t] <= active_.low[t]) return !(active_.f[t] > e.low_value);
      return true;
    });
    last_[0] = last_[1] = Pair{};  // candidates have been renumbered
  }

  void unshrink() {
    active_.store();
    dual_.restart();
    dual_.recompute(settings_.n_threads);
    active_.take_all();
    largest_ = 0.0;
    for (const double value : active_.f) largest_ = std::max(largest_, std::abs(value));
    since_shrink_ = 0;
    stuck_ = false;
    last_[0] = last_[1] = Pair{};  // candidates have been renumbered
  }

  Dual& dual_;
  Settings settings_;
  Active active_;
  Pair last_[2];  // of each group
  std::int64_t iterations_ = 0, since_shrink_ = 0;
  bool unshrunk_ = false, stuck_ = false;
  Bounds full_{};
  double gained_ = 0.0;
  double largest_ = 0.0;  // at least the size of every f
};

}  // namespace

std::unique_ptr<Solver> make_pair_solver(Dual& dual, const Settings& settings) {
  return std::make_unique<PairSolver>(dual, settings);
}

}  // namespace cutplane::smo
