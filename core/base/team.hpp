// Threads that work on one thing together, and wait for one another every few microseconds on the
// way: for that, a parallel region each is too slow.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/function_view.hpp"

namespace cutplane {

// body(t) for t from 0 to n_threads - 1, each on a thread of its own, all at once. False, and no
// body is called, where so many threads are not to be had. The body must not throw.
bool run_team(int n_threads, FunctionView<void(int)> body);

// Returns when `arrived` is `round`; what was written before that was stored is then seen. It waits
// awake, and lets others have the processor where that takes long: the thread that is waited for
// may need it.
void wait_for(const std::atomic<std::uint64_t>& arrived, std::uint64_t round);

}  // namespace cutplane
