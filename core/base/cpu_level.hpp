// The x86-64 level of the machine: which of the modules of the core it can run. Asked of the CPU
// and of the system, without the compiler's run-time library, which Clang on Windows does not link.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cutplane {

#if defined(__x86_64__)

namespace cpu {

// The registers of CPUID in the order EAX, EBX, ECX, EDX; all zero where the CPU has no such leaf.
struct Leaf {
  unsigned int a = 0, b = 0, c = 0, d = 0;
  explicit Leaf(unsigned int number) { __get_cpuid_count(number, 0, &a, &b, &c, &d); }
};

constexpr bool has_all(unsigned int word, unsigned int bits) { return (word & bits) == bits; }
constexpr unsigned int bit(int place) { return 1u << place; }

// The registers that the system saves when it switches threads (XCR0).
inline unsigned int saved_registers() {
  unsigned int low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace cpu

// 4 for x86-64-v4 (AVX-512), 3 for x86-64-v3 (AVX2), else 1: the levels of the x86-64 psABI.
inline int cpu_level() {
  using cpu::bit;
  using cpu::has_all;
  const cpu::Leaf basic(1), extended(7), more(0x80000001);
  // FMA, SSE4.1, SSE4.2, MOVBE, POPCNT, XGETBV for programs, AVX, F16C
  const unsigned int v3_basic =
      bit(12) | bit(19) | bit(20) | bit(22) | bit(23) | bit(27) | bit(28) | bit(29);
  const unsigned int v3_extended = bit(3) | bit(5) | bit(8);  // BMI1, AVX2, BMI2
  const unsigned int v3_more = bit(5);                        // LZCNT
  if (!has_all(basic.c, v3_basic) || !has_all(extended.b, v3_extended) || !has_all(more.c, v3_more))
    return 1;
  const unsigned int saved = cpu::saved_registers();
  if (!has_all(saved, bit(1) | bit(2))) return 1;  // 128 and 256 bits
  // AVX-512 F, DQ, CD, BW, VL
  const unsigned int v4_extended = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
  const bool all_saved = has_all(saved, bit(5) | bit(6) | bit(7));  // masks and 512 bits
  return has_all(extended.b, v4_extended) && all_saved ? 4 : 3;
}

#else

inline int cpu_level() { return 1; }

#endif

}  // namespace cutplane
