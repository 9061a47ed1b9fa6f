#include "core/base/team.hpp"

#include <omp.h>

#include <chrono>
#include <thread>
#ifdef CUTPLANE_PLAIN_THREADS
#include <vector>
#endif

namespace cutplane {
namespace {

// Looks before the processor is offered to others: some ten microseconds.
constexpr int kLooks = 1000;

inline void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool run_team(int n_threads, FunctionView<void(int)> body) {
  if (n_threads <= 1) {
    body(0);
    return true;
  }
#ifdef CUTPLANE_PLAIN_THREADS  // as in parallel.cpp
  std::vector<std::jthread> team;
  for (int t = 1; t < n_threads; ++t) team.emplace_back([&body, t] { body(t); });
  body(0);
  return true;
#else
  bool complete = false;
#pragma omp parallel num_threads(n_threads)
  {
    if (omp_get_num_threads() == n_threads) {
      const int thread = omp_get_thread_num();
      body(thread);
      if (thread == 0) complete = true;
    }
  }
  return complete;
#endif
}

double wait_for(const std::atomic<std::uint64_t>& arrived, std::uint64_t round) {
  const auto is_here = [&] { return arrived.load(std::memory_order_acquire) == round; };
  for (int looks = 0; looks < kLooks; ++looks) {
    if (is_here()) return 0.0;
    relax();
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  while (!is_here()) std::this_thread::yield();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace cutplane
