#include "core/base/parallel.hpp"

#if defined(__GNUC__) && !defined(__clang__) && !defined(_WIN32)
#define CUTPLANE_GNU_OPENMP_FORKS
#include <pthread.h>
#endif

#ifdef CUTPLANE_PLAIN_THREADS
#include <atomic>
#include <thread>
#include <vector>
#endif

namespace cutplane {

void for_blocks(const Blocks& blocks, int n_threads, BlockBody body) {
  const int threads = resolve_threads(n_threads);
  if (threads <= 1 || blocks.count <= 1) {
    for (index_t b = 0; b < blocks.count; ++b) body(b, blocks.begin(b), blocks.end(b));
    return;
  }
#ifdef CUTPLANE_PLAIN_THREADS  // ThreadSanitizer does not see how GNU OpenMP's threads meet
  std::atomic<index_t> next = 0;
  const auto work = [&] {
    for (index_t b; (b = next++) < blocks.count;) body(b, blocks.begin(b), blocks.end(b));
  };
  std::vector<std::jthread> team;
  for (int t = 1; t < std::min<index_t>(threads, blocks.count); ++t) team.emplace_back(work);
  work();
#else
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (index_t b = 0; b < blocks.count; ++b) body(b, blocks.begin(b), blocks.end(b));
#endif
}

#ifdef CUTPLANE_GNU_OPENMP_FORKS
namespace {

// GNU OpenMP keeps the threads that a thread has used for the regions it will open next. A child of
// fork inherits the record of them without the threads, and its first region would wait for them
// for ever. So they are let go before the fork; the next region, of the parent or of the child,
// makes new ones. Other threads' teams are no concern of the child, whose only thread is this one.
void let_threads_go() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace

void make_forks_safe() {
  static const int done = pthread_atfork(let_threads_go, nullptr, nullptr);
  static_cast<void>(done);
}
#else
// LLVM's OpenMP, which comes with Clang, begins anew in the child by itself, unless the environment
// says otherwise (KMP_INIT_AT_FORK). It reads the environment at its first call: make it now, while
// ours is set (_runtime/core.py). Windows has no fork.
void make_forks_safe() { omp_get_max_threads(); }
#endif

}  // namespace cutplane
