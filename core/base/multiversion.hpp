// Loops for every CPU, in two ways. CMakeLists.txt decides.
//
// Clones (CUTPLANE_CLONES: GCC, where the loader has ifuncs). A function marked
// CUTPLANE_MULTIVERSION is compiled for the baseline and for newer instruction sets, and the loader
// picks the version the machine can run. It must not throw: compilers may take calls of it never
// to.
//
// Modules (x86-64 elsewhere: Windows, macOS, musl, Clang). The whole core is compiled once for each
// instruction set, with -march, and Python loads the module that the machine can run
// (core/base/cpu_level.hpp). Here nothing is left to do.
//
// with_lanes(most, body) calls body with the number of doubles in a register of the machine, but no
// more than `most`, compiled for that machine: for loops that are written with vectors of that size
// (core/base/lanes.hpp). All that the body calls must be CUTPLANE_INLINE.
#pragma once

#include <type_traits>

#define CUTPLANE_INLINE inline __attribute__((always_inline))
// The same of a lambda.
#define CUTPLANE_INLINED __attribute__((always_inline))

#if defined(CUTPLANE_CLONES) && !defined(CUTPLANE_SANITIZED)
#define CUTPLANE_MULTIVERSION \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
// Sanitizers: what one version reads and writes, all do, and each takes minutes to compile.
// aarch64: NEON is the baseline already.
#define CUTPLANE_MULTIVERSION
#endif

namespace cutplane {

// Doubles in a register, on the machines that have the widest.
inline constexpr int kMostLanes = 8;

// Doubles in a register of the machines that this file is compiled for.
#if defined(__AVX512F__)
inline constexpr int kRegisterLanes = 8;
#elif defined(__AVX2__)
inline constexpr int kRegisterLanes = 4;
#else
inline constexpr int kRegisterLanes = 2;
#endif

template <int N>
using LaneCount = std::integral_constant<int, N>;

#ifdef CUTPLANE_CLONES
template <class Body>
__attribute__((target("arch=x86-64-v4"))) void with_eight_lanes(const Body& body) {
  body(LaneCount<8>{});
}
template <class Body>
__attribute__((target("arch=x86-64-v3"))) void with_four_lanes(const Body& body) {
  body(LaneCount<4>{});
}
template <class Body>
void with_lanes(int most_lanes, const Body& body) {
  if (most_lanes >= 8 && __builtin_cpu_supports("x86-64-v4")) return with_eight_lanes(body);
  if (most_lanes >= 4 && __builtin_cpu_supports("x86-64-v3")) return with_four_lanes(body);
  body(LaneCount<2>{});
}
#else
template <class Body>
void with_lanes(int most_lanes, const Body& body) {
  if constexpr (kRegisterLanes >= 8) {
    if (most_lanes >= 8) return body(LaneCount<8>{});
  }
  if constexpr (kRegisterLanes >= 4) {
    if (most_lanes >= 4) return body(LaneCount<4>{});
  }
  body(LaneCount<2>{});
}
#endif

}  // namespace cutplane
