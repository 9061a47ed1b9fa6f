// Sequential minimal optimisation: what a caller sees of it, whichever way it works.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/smo/dual.hpp"
#include "core/smo/rules.hpp"

namespace cutplane::smo {

// kkt: the maximal violation is at most eps. pair: that of the pair selected is (or its gain is at
// most least_gain): not a proof, kept to reproduce the OFS paper. none: the caller decides.
enum class StopRule { kkt, pair, none };

struct Settings {
  Rule rule = Rule::second_order;
  StopRule stop = StopRule::kkt;
  double eps = 1e-3;
  double least_gain = 0.0;
  bool shrinking = true;
  index_t working_set = 2;  // more than 2: two levels
  std::int64_t most_steps = std::numeric_limits<std::int64_t>::max();
  int n_threads = 0;
};

// Seconds spent: computing or finding kernel rows, choosing variables, on pair steps, on gradients.
struct Phases {
  double rows = 0, selection = 0, steps = 0, gradient = 0;
};

enum class Progress { finished, reached, paused };

class Solver {
 public:
  virtual ~Solver() = default;
  // Pair steps until there are `most` in all, the rule says to stop, or the time is up, which may
  // be in the middle of what makes a step: the next call goes on there, so that the point reached
  // does not depend on the clock. May throw what a kernel throws.
  virtual Progress advance(std::int64_t most, const Deadline& deadline) = 0;
  // How many threads from now on. What is found does not depend on it.
  virtual void use_threads(int n_threads) = 0;
  // Whether bounds and gradients mean something yet: not before those of the start are computed.
  virtual bool ready() const = 0;
  // Every variable's f is right again, shrunken ones included.
  virtual void settle() = 0;
  // Every f is summed up afresh: the rounding of the steps until now is gone.
  virtual void refresh() = 0;
  virtual std::int64_t iterations() const = 0;
  // No pair makes progress any more, for rounding: the end, whatever the rule.
  virtual bool stuck() const = 0;
  // Bounds that hold at the point reached, even while variables are shrunken away.
  virtual Bounds bounds() const = 0;
  virtual Phases phases() const { return {}; }
};

std::unique_ptr<Solver> make_pair_solver(Dual& dual, const Settings& settings);
std::unique_ptr<Solver> make_block_solver(Dual& dual, const Settings& settings);

}  // namespace cutplane::smo
