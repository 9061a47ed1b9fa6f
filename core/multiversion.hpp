// One build for every CPU: a function marked CUTPLANE_MULTIVERSION is compiled for the baseline and
// for newer instruction sets, and the loader picks the version the machine can run. It must not
// throw: compilers may take calls of it never to.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CUTPLANE_MULTIVERSION \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
// aarch64: NEON is the baseline already. Other compilers: the baseline of the platform.
#define CUTPLANE_MULTIVERSION
#endif

#define CUTPLANE_INLINE inline __attribute__((always_inline))
// The same of a lambda.
#define CUTPLANE_INLINED __attribute__((always_inline))
