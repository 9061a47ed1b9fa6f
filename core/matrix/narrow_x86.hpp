// Values of one or two bytes in the registers of x86-64 from its third level on: rows of them are
// then dense rows like those of floats, in the same loops (core/matrix/dense_rows.hpp).
#pragma once

#ifdef __x86_64__

#include <cstdint>

#include "core/base/lanes.hpp"
#include "core/matrix/narrow.hpp"

namespace cutplane::x86 {

struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
struct Int8 {
  std::int8_t value;
};
struct Uint8 {
  std::uint8_t value;
};

// For with_type.
struct Types {
  using Float16 = x86::Float16;
  using Bfloat16 = x86::Bfloat16;
  using Int8 = x86::Int8;
  using Uint8 = x86::Uint8;
};

// N values as they lie in an array, and N numbers of four bytes in a register.
template <class T, int N>
struct Group {
  T values[N];
};
template <int N>
struct Register {
  typedef float floats __attribute__((vector_size(4 * N)));
  typedef std::int32_t integers __attribute__((vector_size(4 * N)));
};

template <int N, class T>
CUTPLANE_INLINE const Group<T, N>& group(const T* from) {
  return *reinterpret_cast<const Group<T, N>*>(from);
}

// As cutplane::load_at_once, which says why these are instructions.
template <int N>
CUTPLANE_INLINE void load_at_once(const Float16* from, Lanes<N>& out) {
  typename Register<N>::floats x;
  asm("vcvtph2ps %1, %0" : "=v"(x) : "m"(group<N>(from)));
  asm("vcvtps2pd %1, %0" : "=v"(out) : "v"(x));
}
template <int N>
CUTPLANE_INLINE void load_at_once(const Bfloat16* from, Lanes<N>& out) {
  typename Register<N>::integers x;  // the upper half of a float
  asm("vpmovzxwd %1, %0" : "=v"(x) : "m"(group<N>(from)));
  asm("vpslld $16, %0, %0" : "+v"(x));
  asm("vcvtps2pd %1, %0" : "=v"(out) : "v"(x));
}
template <int N>
CUTPLANE_INLINE void load_at_once(const Int8* from, Lanes<N>& out) {
  typename Register<N>::integers x;
  asm("vpmovsxbd %1, %0" : "=v"(x) : "m"(group<N>(from)));
  asm("vcvtdq2pd %1, %0" : "=v"(out) : "v"(x));
}
template <int N>
CUTPLANE_INLINE void load_at_once(const Uint8* from, Lanes<N>& out) {
  typename Register<N>::integers x;
  asm("vpmovzxbd %1, %0" : "=v"(x) : "m"(group<N>(from)));
  asm("vcvtdq2pd %1, %0" : "=v"(out) : "v"(x));
}

}  // namespace cutplane::x86

#endif
