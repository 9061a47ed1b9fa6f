// Fixed blocks, any number of threads. Work is split into blocks that depend on the problem alone,
// and partial sums are added in block order, so every result is the same to the bit for 1 thread
// or 64.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#ifdef CUTPLANE_PLAIN_THREADS
#include <atomic>
#include <thread>
#include <vector>
#endif

namespace cutplane {

using index_t = std::int64_t;

// n_threads <= 0 means "what OpenMP would use", which OMP_NUM_THREADS and threadpoolctl control.
inline int resolve_threads(int n_threads) {
  return n_threads > 0 ? n_threads : std::max(1, omp_get_max_threads());
}

// Children of fork may open parallel regions too, whatever their parent has done before. To be
// called once, when the core is loaded.
void make_forks_safe();

// A thread is worth waking for this much work: entries or examples, about a nanosecond each.
// Threads that OpenMP has used a moment ago still wait awake, and a fit is many short passes.
inline constexpr index_t kWorkPerThread = 25'000;

inline int useful_threads(int n_threads, index_t work) {
  return static_cast<int>(
      std::clamp<index_t>(work / kWorkPerThread, 1, resolve_threads(n_threads)));
}

struct Blocks {
  index_t size;   // items in all
  index_t count;  // number of blocks, at least 1

  index_t begin(index_t b) const { return size / count * b + std::min(b, size % count); }
  index_t end(index_t b) const { return begin(b + 1); }
};

// Blocks of about `grain` items, at most `most` of them.
inline Blocks make_blocks(index_t size, index_t grain, index_t most) {
  return {size, std::clamp<index_t>(size / std::max<index_t>(grain, 1), 1, most)};
}

// body(block index, begin, end), each block once, in parallel. The body must not throw.
template <class Body>
void for_blocks(const Blocks& blocks, int n_threads, Body&& body) {
  const int threads = static_cast<int>(std::min<index_t>(resolve_threads(n_threads), blocks.count));
  if (threads == 1) {
    for (index_t b = 0; b < blocks.count; ++b) body(b, blocks.begin(b), blocks.end(b));
    return;
  }
#ifdef CUTPLANE_PLAIN_THREADS  // ThreadSanitizer does not see how GNU OpenMP's threads meet
  std::atomic<index_t> next = 0;
  const auto work = [&] {
    for (index_t b; (b = next++) < blocks.count;) body(b, blocks.begin(b), blocks.end(b));
  };
  std::vector<std::jthread> team;
  for (int t = 1; t < threads; ++t) team.emplace_back(work);
  work();
#else
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (index_t b = 0; b < blocks.count; ++b) body(b, blocks.begin(b), blocks.end(b));
#endif
}

}  // namespace cutplane
