// Threads that work on one thing together, and wait for one another every few microseconds on the
// way: for that, a parallel region each is too slow.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/base/parallel.hpp"

namespace cutplane {

// body(t) for t from 0 to n_threads - 1, each on a thread of its own, all at once. False, and no
// body is called, where so many threads are not to be had. The body must not throw.
bool run_team(int n_threads, FunctionView<void(int)> body);

// Returns when `arrived` is `round`; what was written before that was stored is then seen. It waits
// awake, and lets others have the processor where that takes long: the thread that is waited for
// may need it. The seconds it took from then on: none, where every thread has a processor.
double wait_for(const std::atomic<std::uint64_t>& arrived, std::uint64_t round);

// Whether those of a team wait for threads that have no processor, most of the time: then one
// thread alone is faster.
class Delays {
 public:
  void add(double seconds) { seconds_ += seconds; }
  double seconds() const { return seconds_; }
  bool too_long() const {
    return seconds_ > kLeast &&
           seconds_ > kShare * std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kLeast = 2e-3, kShare = 0.5;

  Clock::time_point start_ = Clock::now();
  double seconds_ = 0.0;
};

// After delays a team rests for so many times as long, so that to try again costs little.
class Rest {
 public:
  void begin(double delay) {
    constexpr double kTimes = 20.0;
    const std::chrono::duration<double> length(kTimes * delay);
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(length);
  }
  bool lasts() const { return Clock::now() < end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_{};
};

}  // namespace cutplane
