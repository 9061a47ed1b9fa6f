#include "core/matrix/narrow.hpp"

#include <algorithm>
#include <bit>

#include "core/base/multiversion.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace cutplane {
namespace {

// As many values as are converted at a time: a loop of that length, compilers turn into vectors.
constexpr int kTogether = 16;

struct Int8 {
  using Stored = std::int8_t;
  CUTPLANE_INLINE static float widened(Stored value) { return static_cast<float>(value); }
};

struct Uint8 {
  using Stored = std::uint8_t;
  CUTPLANE_INLINE static float widened(Stored value) { return static_cast<float>(value); }
};

// The upper half of a float.
struct Bfloat16 {
  using Stored = std::uint16_t;
  CUTPLANE_INLINE static float widened(Stored bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

#ifdef __aarch64__
struct Float16 {
  using Stored = __fp16;
  CUTPLANE_INLINE static float widened(Stored value) { return static_cast<float>(value); }
};
#else
// Exponents of half precision are biased by 15, those of single by 127: times 2^112, subnormal
// numbers too. The largest exponent, of what is not finite, stays the largest.
struct Float16 {
  using Stored = std::uint16_t;
  CUTPLANE_INLINE static float widened(Stored half) {
    const std::uint32_t bits = half, size = bits & 0x7fff;
    const float scaled = std::bit_cast<float>(size << 13) * 0x1p112f;
    const std::uint32_t beyond = size >= 0x7c00 ? 0x7f800000u : 0u;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | beyond |
                                (bits & 0x8000) << 16);
  }
};
#endif

template <class Type>
CUTPLANE_INLINE void widen_some(const typename Type::Stored* from, float* to) {
#pragma omp simd
  for (int l = 0; l < kTogether; ++l) to[l] = Type::widened(from[l]);
}

// The last of a row overlap those before.
template <class Type>
CUTPLANE_INLINE void widen_row(const typename Type::Stored* from, index_t count, float* to) {
  if (count < kTogether) {
    for (index_t j = 0; j < count; ++j) to[j] = Type::widened(from[j]);
    return;
  }
  index_t j = 0;
  for (; j + kTogether <= count; j += kTogether) widen_some<Type>(from + j, to + j);
  if (j < count) widen_some<Type>(from + count - kTogether, to + count - kTogether);
}

template <class Type>
CUTPLANE_INLINE void widen_rows(const std::byte* const* from, index_t rows, index_t count,
                                index_t step, float* to, index_t distance) {
  for (index_t r = 0; r < rows; ++r, to += distance) {
    const auto* row = reinterpret_cast<const typename Type::Stored*>(from[r]);
    if (step == 1) {
      widen_row<Type>(row, count, to);
    } else {
      for (index_t j = 0; j < count; ++j) to[j] = Type::widened(row[j * step]);
    }
  }
}

CUTPLANE_MULTIVERSION void widen_any(NarrowType type, const std::byte* const* from, index_t rows,
                                     index_t count, index_t step, float* to, index_t distance) {
  switch (type) {
    case NarrowType::kFloat16:
      return widen_rows<Float16>(from, rows, count, step, to, distance);
    case NarrowType::kBfloat16:
      return widen_rows<Bfloat16>(from, rows, count, step, to, distance);
    case NarrowType::kInt8:
      return widen_rows<Int8>(from, rows, count, step, to, distance);
    case NarrowType::kUint8:
      return widen_rows<Uint8>(from, rows, count, step, to, distance);
  }
}

// x86-64 has an instruction for half precision from its third level on.
#if defined(__x86_64__) && (defined(CUTPLANE_CLONES) || defined(__F16C__))
constexpr index_t kHalvesTogether = 8;

#ifdef CUTPLANE_CLONES
__attribute__((target("arch=x86-64-v3")))
#endif
void widen_halves(const std::byte* const* from, index_t rows, index_t count, float* to,
                  index_t distance) {
  for (index_t r = 0; r < rows; ++r, to += distance) {
    for (index_t j = 0; j < count; j += kHalvesTogether) {
      const index_t k = std::min(j, count - kHalvesTogether);
      const auto* halves = reinterpret_cast<const __m128i*>(from[r] + 2 * k);
      _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128(halves)));
    }
  }
}
bool has_halves() {
#ifdef CUTPLANE_CLONES
  return __builtin_cpu_supports("x86-64-v3");
#else
  return true;
#endif
}
#define CUTPLANE_HALVES
#endif

}  // namespace

void widen(NarrowType type, const std::byte* const* from, index_t rows, index_t count, index_t step,
           float* to, index_t distance) {
#ifdef CUTPLANE_HALVES
  if (type == NarrowType::kFloat16 && step == 1 && count >= kHalvesTogether && has_halves())
    return widen_halves(from, rows, count, to, distance);
#endif
  widen_any(type, from, rows, count, step, to, distance);
}

}  // namespace cutplane
