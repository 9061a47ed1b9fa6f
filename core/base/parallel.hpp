// Fixed blocks, any number of threads. Work is split into blocks that depend on the problem alone,
// and partial sums are added in block order, so every result is the same to the bit for 1 thread
// or 64.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace cutplane {

// A view of a function that outlives the call it is handed to: two pointers. What takes one is
// compiled once, and not again for every body; the body is compiled once, too.
template <class Signature>
class FunctionView;

template <class Result, class... Arguments>
class FunctionView<Result(Arguments...)> {
 public:
  template <class Body>
  FunctionView(const Body& body)
      : body_(&body), call_([](const void* of, Arguments... arguments) -> Result {
          return (*static_cast<const Body*>(of))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(body_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* body_;
  Result (*call_)(const void*, Arguments...);
};

using index_t = std::int64_t;

// n_threads <= 0 means "what OpenMP would use", which OMP_NUM_THREADS and threadpoolctl control.
inline int resolve_threads(int n_threads) {
  return n_threads > 0 ? n_threads : std::max(1, omp_get_max_threads());
}

// Children of fork may open parallel regions too, whatever their parent has done before. To be
// called once, when the core is loaded.
void make_forks_safe();

// Blocks are so many times smaller for ThreadSanitizer: the small problems of tests are shared out
// among threads as large ones are.
#ifdef CUTPLANE_FINE_BLOCKS
inline constexpr index_t kFineness = 1024;
#else
inline constexpr index_t kFineness = 1;
#endif

// Two threads are worth waking for twice this much work, more of them for its root times as much:
// entries or examples, about a nanosecond each. Threads that wait fall asleep soon
// (_runtime/core.py), and to wake one takes some 40 microseconds.
inline constexpr index_t kWorkPerThread = 50'000 / kFineness;

// All threads, or one. GNU OpenMP ends those that a smaller team leaves out, and has to make new
// ones for the next that is larger, which takes longer than most passes do.
inline int useful_threads(int n_threads, index_t work) {
  const int all = resolve_threads(n_threads);
  const double least = static_cast<double>(kWorkPerThread) * std::max(2.0, std::sqrt(all));
  return static_cast<double>(work) >= least ? all : 1;
}

struct Blocks {
  index_t size;   // items in all
  index_t count;  // number of blocks; 0 where there is nothing to do

  index_t begin(index_t b) const { return size / count * b + std::min(b, size % count); }
  index_t end(index_t b) const { return begin(b + 1); }
};

// Blocks of about `grain` items, at most `most` of them.
inline Blocks make_blocks(index_t size, index_t grain, index_t most) {
  return {size, std::clamp<index_t>(size / std::max<index_t>(grain / kFineness, 1), 1, most)};
}

// body(block index, begin, end), each block once, in parallel. The body must not throw.
using BlockBody = FunctionView<void(index_t block, index_t begin, index_t end)>;
void for_blocks(const Blocks& blocks, int n_threads, BlockBody body);

}  // namespace cutplane
