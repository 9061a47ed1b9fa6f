// The examples of a hinge as loops see them: what is constant known to the compiler, so that these
// vectorise.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/base/multiversion.hpp"
#include "core/losses/hinge.hpp"

namespace cutplane::hinge {

using Kind = LineKind;

// The arrays of a sample and a line.
template <bool kWeighted, Kind kKind, class S = double>
struct Examples {
  using Real = S;
  const std::int8_t* __restrict y;
  const double* __restrict c;
  double each;
  const S* __restrict s;
  const S* __restrict other;

  Examples(const HingeSample& sample, const LineOf<S>& line)
      : y(sample.y), c(sample.c), each(sample.each), s(line.s), other(line.other) {}

  CUTPLANE_INLINE Examples from(index_t start) const {
    Examples later = *this;
    later.y += start;
    if constexpr (kWeighted) later.c += start;
    later.s += start;
    if constexpr (kKind != Kind::kConstant) later.other += start;
    return later;
  }
  CUTPLANE_INLINE S weight(index_t i) const { return static_cast<S>(kWeighted ? c[i] : each); }
  CUTPLANE_INLINE S direction(index_t i) const {
    if constexpr (kKind == Kind::kConstant) return 1;
    if constexpr (kKind == Kind::kAlong) return other[i];
    return other[i] - s[i];
  }
};

// Calls body with the Examples type that fits.
template <Kind kKind, class S, class Body>
auto with_kind(const HingeSample& sample, const LineOf<S>& line, Body&& body) {
  return sample.c ? body(Examples<true, kKind, S>(sample, line))
                  : body(Examples<false, kKind, S>(sample, line));
}

template <class S, class Body>
auto with_examples(const HingeSample& sample, const LineOf<S>& line, Body&& body) {
  if (line.kind == Kind::kAlong) return with_kind<Kind::kAlong>(sample, line, body);
  if (line.kind == Kind::kTowards) return with_kind<Kind::kTowards>(sample, line, body);
  return with_kind<Kind::kConstant>(sample, line, body);
}

template <class S, class Body>
auto with_examples(const HingeSample& sample, const S* s, Body&& body) {
  return with_kind<Kind::kConstant>(sample, LineOf<S>{s}, body);
}

// Labels are bytes, and scores may be floats: they are turned into numbers of one type a chunk at
// a time, so that loops use whole vectors of these.
constexpr index_t kChunk = 512;

template <class T, class Real>
CUTPLANE_INLINE void convert(const T* __restrict from, index_t count, Real* __restrict out) {
  for (index_t k = 0; k < count; ++k) out[k] = static_cast<Real>(from[k]);
}

// In doubles, whatever the scores are.
template <bool kWeighted, Kind kKind, class S, class Body>
CUTPLANE_INLINE void by_chunks(const Examples<kWeighted, kKind, S>& e, index_t begin, index_t end,
                               Body body) {
  constexpr bool kDoubles = std::is_same_v<S, double>;
  double labels[kChunk];
  double scores[kDoubles ? 1 : kChunk];
  double others[kDoubles || kKind == Kind::kConstant ? 1 : kChunk];
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    convert(e.y + start, count, labels);
    if constexpr (kDoubles) {
      body(e.from(start), count, labels);
    } else {
      convert(e.s + start, count, scores);
      if constexpr (kKind != Kind::kConstant) convert(e.other + start, count, others);
      const HingeSample part{e.y + start, kWeighted ? e.c + start : nullptr, e.each, count};
      body(Examples<kWeighted, kKind>(part, {scores, others, kKind}), count, labels);
    }
  }
}

// In numbers of the type of the scores: twice as fast in single precision, where no more is wanted.
template <bool kWeighted, Kind kKind, class S, class Body>
CUTPLANE_INLINE void by_own_chunks(const Examples<kWeighted, kKind, S>& e, index_t begin,
                                   index_t end, Body body) {
  S labels[kChunk];
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    convert(e.y + start, count, labels);
    body(e.from(start), count, labels);
  }
}

// `at` are the examples of a chunk.
#define CUTPLANE_CHUNK \
  [&](const auto& at, index_t count, const auto* __restrict labels) __attribute__((always_inline))

}  // namespace cutplane::hinge
