// Two levels: hundreds of violators at a time, their kernel rows by one blocked product, pair steps
// among them on a block that fits into the cache, and one product to bring the gradient up to date.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/smo/inner_solver.hpp"
#include "core/smo/solver.hpp"
#include "core/smo/working_set.hpp"

namespace cutplane::smo {
namespace {

constexpr index_t kSmallest = 8;  // a set with room for a pair of either label
// Violators let in at first, and at least: while few of them matter, their kernel rows are wasted.
constexpr index_t kFewest = 64, kFirst = 128;
// Violators let in at most, of a large set a share: more of them push out those that are not done.
// Of a small set, half. By hand: covtype of 20,000 to 60,000 examples, ijcnn1, w8a, a9a, mnist.
constexpr index_t kMany = 640;
constexpr index_t most_at_once(index_t set) { return std::max(std::min(set / 2, kMany), set / 4); }
// Share of those let in that must have moved for more, or fewer, to be let in next time.
constexpr double kUseful = 0.5, kUseless = 0.25;
// What is left of the violation after the pair steps within the set: more is cheap, but in vain.
constexpr double kInner = 0.1;
// Share of eps that they may leave: their scans are rounded.
constexpr double kMargin = 0.9, kInnerMargin = 0.5;
constexpr std::int64_t kStepsPerVariable = 20;
// |f| times this is the rounding of scans in single precision.
constexpr double kSingleNoise = 2e-6;
// Kernel rows, and values, that are computed between looks at the clock.
constexpr index_t kLeastBlock = 48, kBlockValues = index_t{1} << 24;

// Adds the time until it goes out of scope.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class BlockSolver : public Solver {
 public:
  BlockSolver(Dual& dual, const Settings& settings)
      : dual_(dual),
        settings_(settings),
        most_(std::min(std::max(settings.working_set, kSmallest), dual.size())),
        eps_(settings.stop == StopRule::none ? 0.0 : settings.eps),
        set_(dual, most_) {
    stride_ = most_ + kPanel;  // not a power of two: columns would share a few lines of the cache
    block_ = unset_array<float>(most_ * stride_);
  }

  Progress advance(std::int64_t most, const Deadline& deadline) override {
    if (!dual_.recompute(settings_.n_threads, &deadline)) return Progress::paused;
    while (iterations_ < most) {
      if (!chosen_) {
        violation_ = measure();
        if (violation_ <= eps_) return Progress::finished;
        choose();
      }
      if (!fetch(deadline)) return Progress::paused;
      chosen_ = false;
      if (!outer()) {
        stuck_ = true;
        return Progress::finished;
      }
      if (iterations_ < most && deadline.passed()) return Progress::paused;
    }
    return Progress::reached;
  }

  bool ready() const override { return dual_.ready(); }
  void use_threads(int n_threads) override { settings_.n_threads = n_threads; }

  void settle() override {}

  void refresh() override {
    dual_.restart();
    dual_.recompute(settings_.n_threads);
  }

  std::int64_t iterations() const override { return iterations_; }
  bool stuck() const override { return stuck_; }
  Bounds bounds() const override { return dual_.bounds(); }
  Phases phases() const override { return phases_; }

 private:
  double measure() {
    const Stopwatch watch(phases_.selection);
    return set_.measure(settings_.n_threads);
  }

  void choose() {
    const Stopwatch watch(phases_.selection);
    set_.refresh(fresh_, settings_.n_threads);
    chosen_ = true;
    fetched_ = 0;
  }

  // The kernel rows of those that are new, some at a time; false if the time is up before the last.
  bool fetch(const Deadline& deadline) {
    const std::span<const index_t> changed = set_.changed();
    const index_t at_once = std::max(kLeastBlock, kBlockValues / dual_.rows.size());
    // A cache without room for all would have to compute them again.
    if (set_.size() > dual_.rows.cache().capacity()) return true;
    const Stopwatch watch(phases_.rows);
    while (static_cast<index_t>(changed.size()) - fetched_ > at_once) {
      ids_.clear();
      for (index_t c = fetched_; c < fetched_ + at_once; ++c)
        ids_.push_back(dual_.rows.global(dual_.row_of(set_.variables()[changed[c]])));
      Lease some;
      dual_.rows.acquire(ids_, some, settings_.n_threads);
      fetched_ += at_once;
      if (deadline.passed()) return false;
    }
    return true;
  }

  bool outer() {
    load();
    const std::vector<double> before = inner_.b;
    const InnerResult result = steps(violation_);
    iterations_ += result.steps;
    if (result.steps == 0) return false;
    // Rounds that end for their rounding before each variable had its turn are too short.
    if (result.noisy && result.steps < set_.size()) single_ = false;
    store(before);
    adapt(before);
    return true;
  }

  InnerResult steps(double violation) {
    const Stopwatch watch(phases_.steps);
    const bool all = set_.size() == dual_.size();
    const double eps =
        all && eps_ > 0.0 ? kMargin * eps_ : std::max(kInnerMargin * eps_, kInner * violation);
    const std::int64_t most =
        std::min<std::int64_t>(kStepsPerVariable * set_.size(), settings_.most_steps - iterations_);
    const InnerProblem problem{inner_, block_.get(), stride_, settings_.n_threads, rest_};
    return single_ && kSingleNoise * inner_.largest < eps
               ? solve_inner<float>(problem, settings_.rule, eps, most)
               : solve_inner<double>(problem, settings_.rule, eps, most);
  }

  // More violators at once while most of them move; fewer where they do not.
  void adapt(const std::vector<double>& before) {
    index_t moved = 0;
    for (const index_t place : set_.changed()) moved += inner_.b[place] != before[place];
    const double share = static_cast<double>(moved) /
                         static_cast<double>(std::max<std::size_t>(set_.changed().size(), 1));
    if (share > kUseful) fresh_ = std::min(2 * fresh_, most_at_once(most_));
    if (share < kUseless) fresh_ = std::max(fresh_ / 2, kFewest);
  }

  void load() {
    const std::span<const index_t> variables = set_.variables();
    const index_t q = set_.size();
    ids_.resize(q);
    for (index_t w = 0; w < q; ++w) ids_[w] = dual_.rows.global(dual_.row_of(variables[w]));
    {
      const Stopwatch watch(phases_.rows);
      dual_.rows.acquire(ids_, lease_, settings_.n_threads);
    }
    const Stopwatch watch(phases_.selection);
    const std::span<const index_t> changed = set_.changed();
    const index_t fresh = static_cast<index_t>(changed.size());
    const int threads = useful_threads(settings_.n_threads, 4 * fresh * q);
    for_blocks(make_blocks(fresh, 8, 1 << 10), threads, [&](index_t, index_t begin, index_t end) {
      for (index_t c = begin; c < end; ++c) {
        const float* row = lease_[changed[c]];
        float* own = block_.get() + changed[c] * stride_;
        for (index_t w = 0; w < q; ++w) own[w] = row[ids_[w]];
      }
    });
    if (fresh < q) copy_columns(changed, threads);
    inner_.resize(q);
    inner_.grouped = dual_.grouped;
    inner_.largest = inner_.noise = 0.0;
    for (index_t w = 0; w < q; ++w) {
      const index_t t = variables[w];
      inner_.f[w] = dual_.f[t];
      inner_.largest = std::max(inner_.largest, std::abs(inner_.f[w]));
      inner_.b[w] = dual_.b[t];
      inner_.low[w] = dual_.low[t];
      inner_.high[w] = dual_.high[t];
      inner_.diagonal[w] = dual_.diagonal[dual_.row_of(t)];
      inner_.y[w] = dual_.y[t];
    }
  }

  // The new rows are the new columns of the others: 16 rows at a time, so that lines fill up. Those
  // of each other they have already, and other threads read them.
  void copy_columns(std::span<const index_t> changed, int threads) {
    const index_t q = set_.size();
    std::vector<index_t> others(static_cast<std::size_t>(q));
    std::iota(others.begin(), others.end(), index_t{0});
    for (const index_t c : changed) others[c] = -1;
    std::erase(others, index_t{-1});
    const index_t count = static_cast<index_t>(others.size());
    for_blocks({count, panels_for(count)}, threads, [&](index_t, index_t begin, index_t end) {
      for (const index_t c : changed) {
        const float* own = block_.get() + c * stride_;
        for (index_t k = begin; k < end; ++k) block_[others[k] * stride_ + c] = own[others[k]];
      }
    });
  }

  void store(const std::vector<double>& before) {
    moved_.clear();
    change_.clear();
    for (index_t w = 0; w < set_.size(); ++w) {
      dual_.b[set_.variables()[w]] = inner_.b[w];
      if (inner_.b[w] == before[w]) continue;
      moved_.push_back(lease_[w]);
      change_.push_back(inner_.b[w] - before[w]);
    }
    const Stopwatch watch(phases_.gradient);
    add_products(dual_, moved_, change_, settings_.n_threads);
  }

  Dual& dual_;
  Settings settings_;
  index_t most_;
  double eps_;
  WorkingSet set_;
  index_t stride_;
  std::unique_ptr<float[]> block_;  // of what has come in so far
  std::vector<std::int64_t> ids_;
  Lease lease_;
  InnerState inner_;
  Rest rest_;
  std::vector<const float*> moved_;
  std::vector<double> change_;
  Phases phases_;
  index_t fresh_ = kFirst;
  std::int64_t iterations_ = 0;
  bool stuck_ = false;
  bool chosen_ = false;  // whether a working set waits for its kernel rows
  index_t fetched_ = 0;  // of those that are new in it
  double violation_ = 0.0;
  bool single_ = true;  // whether scans may be in single precision
};

}  // namespace

std::unique_ptr<Solver> make_block_solver(Dual& dual, const Settings& settings) {
  return std::make_unique<BlockSolver>(dual, settings);
}

}  // namespace cutplane::smo
