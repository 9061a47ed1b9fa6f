// SMO on a dense block of kernel values that is at hand: the inner level of two.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/team.hpp"
#include "core/smo/rules.hpp"

namespace cutplane::smo {

struct InnerResult {
  std::int64_t steps = 0;
  double violation = 0;  // what is left within the block
  bool noisy = false;    // ended because rounding had added up to a part of eps
};

// The variables of a block, in double precision.
struct InnerState {
  std::vector<double> f, b, low, high, diagonal;
  std::vector<std::int8_t> y;
  bool grouped = false;
  double largest = 0.0;  // size of an f, at the first step
  double noise = 0.0;    // square of what rounding has added to an f since

  index_t size() const { return static_cast<index_t>(f.size()); }
  void resize(index_t n) {
    for (auto* array : {&f, &b, &low, &high, &diagonal}) array->resize(n);
    y.resize(n);
  }
  InnerState part(index_t begin, index_t end) const {
    const auto some = [&](const auto& all) {
      return std::decay_t<decltype(all)>(all.begin() + begin, all.begin() + end);
    };
    return {some(f), some(b), some(low), some(high), some(diagonal),
            some(y), grouped, largest,   noise};
  }
  void put(index_t begin, const InnerState& part) {
    std::copy(part.f.begin(), part.f.end(), f.begin() + begin);
    std::copy(part.b.begin(), part.b.end(), b.begin() + begin);
    noise = part.noise;
  }
};

// Variables of a set whose kernel values are at hand, and who may work on them.
struct InnerProblem {
  InnerState& state;
  const float* kernel;  // (size x size) row-major with this stride
  index_t stride;
  int n_threads;
  Rest& rest;  // of a team of them
};

// Steps until the violation within the block is at most eps. Scans are in Real; b and its bounds in
// double, so that sums of pairs stay what they are.
template <class Real>
InnerResult solve_inner(const InnerProblem& problem, Rule rule, double eps,
                        std::int64_t most_steps);

}  // namespace cutplane::smo
