// Values of one or two bytes, and how they become floats: each of them is one, to the last digit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

enum class NarrowType { kFloat16, kBfloat16, kInt8, kUint8 };

inline constexpr index_t bytes_of(NarrowType type) {
  return type == NarrowType::kFloat16 || type == NarrowType::kBfloat16 ? 2 : 1;
}

// Calls `use` with a value of the type, as Types names it.
template <class Types, class Use>
CUTPLANE_INLINE void with_type(NarrowType type, const Use& use) {
  switch (type) {
    case NarrowType::kFloat16:
      return use(typename Types::Float16{});
    case NarrowType::kBfloat16:
      return use(typename Types::Bfloat16{});
    case NarrowType::kInt8:
      return use(typename Types::Int8{});
    case NarrowType::kUint8:
      return use(typename Types::Uint8{});
  }
}

// to[r * distance + j] = the j-th value of row r, for `rows` rows of `count` values. `step`: from
// one value of a row to the next, in values.
void widen(NarrowType type, const std::byte* const* from, index_t rows, index_t count, index_t step,
           float* to, index_t distance);

}  // namespace cutplane
