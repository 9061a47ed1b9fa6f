// How long a call may work before it hands back what it has begun.
#pragma once

#include <algorithm>
#include <chrono>

namespace cutplane {

class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::min(seconds, kForever)))) {}
  bool passed() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kForever = 1e9;  // seconds: the clock has no infinity
  Clock::time_point end_;
};

}  // namespace cutplane
