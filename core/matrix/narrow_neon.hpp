// Values of one or two bytes in the registers of aarch64, where passes wait for the processor and
// not for memory: through floats in memory they take half as long again.
#pragma once

#ifdef __aarch64__

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "core/base/lanes.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/narrow.hpp"

namespace cutplane::neon {

inline constexpr index_t kEight = 8;

// Eight values as floats.
struct Floats8 {
  float32x4_t low, high;
};

struct Float16 {
  CUTPLANE_INLINE static Floats8 read(const std::byte* from) {
    const float16x8_t x = vld1q_f16(reinterpret_cast<const __fp16*>(from));
    return {vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)};
  }
};
struct Bfloat16 {
  CUTPLANE_INLINE static Floats8 read(const std::byte* from) {
    const uint16x8_t x = vld1q_u16(reinterpret_cast<const std::uint16_t*>(from));
    return {vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)),
            vreinterpretq_f32_u32(vshll_high_n_u16(x, 16))};
  }
};
struct Int8 {
  CUTPLANE_INLINE static Floats8 read(const std::byte* from) {
    const int16x8_t x = vmovl_s8(vld1_s8(reinterpret_cast<const std::int8_t*>(from)));
    return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(x))), vcvtq_f32_s32(vmovl_high_s16(x))};
  }
};
struct Uint8 {
  CUTPLANE_INLINE static Floats8 read(const std::byte* from) {
    const uint16x8_t x = vmovl_u8(vld1_u8(reinterpret_cast<const std::uint8_t*>(from)));
    return {vcvtq_f32_u32(vmovl_u16(vget_low_u16(x))), vcvtq_f32_u32(vmovl_high_u16(x))};
  }
};

// For with_type.
struct Types {
  using Float16 = neon::Float16;
  using Bfloat16 = neon::Bfloat16;
  using Int8 = neon::Int8;
  using Uint8 = neon::Uint8;
};

// Calls `use` with the place, and the two values there, of eight of them.
template <class Use>
CUTPLANE_INLINE void by_pairs(const Floats8& x, const Use& use) {
  use(0, vcvt_f64_f32(vget_low_f32(x.low)));
  use(2, vcvt_high_f64_f32(x.low));
  use(4, vcvt_f64_f32(vget_low_f32(x.high)));
  use(6, vcvt_high_f64_f32(x.high));
}

// Eight rows of d >= 8 values of a type, each contiguous. Sums are those of floats, to the bit.
template <class Type>
struct EightRows {
  const std::byte* const* row;
  const std::byte* const* next;
  index_t d, bytes;

  // The last eight values of each row.
  struct End {
    float values[8 * kEight];
    DenseRows<float>::Eight rows;
  };
  CUTPLANE_INLINE void find_end(End& end) const {
    eight_times([&](int r) CUTPLANE_INLINED {
      float* to = end.values + r * kEight;
      const Floats8 x = Type::read(row[r] + (d - kEight) * bytes);
      vst1q_f32(to, x.low), vst1q_f32(to + 4, x.high);
      end.rows.row[r] = to;
    });
  }
  CUTPLANE_INLINE void prefetch(index_t j) const {
    if (j * bytes % 64) return;
    eight_times([&](int r) CUTPLANE_INLINED { __builtin_prefetch(next[r] + j * bytes); });
  }

  CUTPLANE_INLINE void add_dots(const double* w, const Lanes<2>& last, Lanes<2> (&sums)[8]) const {
    index_t j = 0;
    for (; j + kEight <= d; j += kEight) {
      prefetch(j);
      eight_times([&](int r) CUTPLANE_INLINED {
        by_pairs(Type::read(row[r] + j * bytes), [&](int k, float64x2_t x) CUTPLANE_INLINED {
          Lanes<2> weights;
          load<2>(w + j + k, weights);
          sums[r] += x * weights;
        });
      });
    }
    if (j == d) return;
    End end;
    find_end(end);
    const index_t first = j - (d - kEight);
    const auto add = [&](index_t k, const Lanes<2>& weights) CUTPLANE_INLINED {
      eight_times([&](int r) CUTPLANE_INLINED {
        Lanes<2> x;
        load<2>(end.rows.row[r] + k, x);
        sums[r] += x * weights;
      });
    };
    for (index_t k = first; k + 2 <= kEight; k += 2) {
      Lanes<2> weights;
      load<2>(w + (d - kEight) + k, weights);
      add(k, weights);
    }
    if (d % 2) add(kEight - 2, last);
  }

  CUTPLANE_INLINE void axpy(const double* coef, double* sum, Lanes<2>& behind) const {
    index_t j = 0;
    for (; j + kEight <= d; j += kEight) {
      prefetch(j);
      Lanes<2> to[4], other[4] = {};
      for (int k = 0; k < 4; ++k) load<2>(sum + j + 2 * k, to[k]);
      eight_times([&](int r) CUTPLANE_INLINED {
        by_pairs(Type::read(row[r] + j * bytes), [&](int k, float64x2_t x) CUTPLANE_INLINED {
          (r % 2 ? to : other)[k / 2] += coef[r] * x;
        });
      });
      for (int k = 0; k < 4; ++k) store<2>(to[k] + other[k], sum + j + 2 * k);
    }
    if (j == d) return;
    End end;
    find_end(end);
    for (index_t k = j - (d - kEight); k + 2 <= kEight; k += 2) {
      Lanes<2> to;
      load<2>(sum + (d - kEight) + k, to);
      DenseRows<float>::add_eight<2>(end.rows, k, coef, to);
      store<2>(to, sum + (d - kEight) + k);
    }
    if (d % 2) DenseRows<float>::add_eight<2>(end.rows, kEight - 2, coef, behind);
  }
};

}  // namespace cutplane::neon

#endif
