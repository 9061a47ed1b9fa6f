// The examples of a hinge as loops see them: what is constant known to the compiler, so that these
// vectorise.
#pragma once

#include <algorithm>

#include "core/hinge.hpp"
#include "core/multiversion.hpp"

namespace cutplane::hinge {

using Kind = ScoreLine::Kind;

// The arrays of a sample and a line.
template <bool kWeighted, Kind kKind>
struct Examples {
  const std::int8_t* __restrict y;
  const double* __restrict c;
  double each;
  const double* __restrict s;
  const double* __restrict other;

  Examples(const HingeSample& sample, const ScoreLine& line)
      : y(sample.y), c(sample.c), each(sample.each), s(line.s), other(line.other) {}

  CUTPLANE_INLINE Examples from(index_t start) const {
    Examples later = *this;
    later.y += start;
    if constexpr (kWeighted) later.c += start;
    later.s += start;
    if constexpr (kKind != Kind::kConstant) later.other += start;
    return later;
  }
  CUTPLANE_INLINE double weight(index_t i) const { return kWeighted ? c[i] : each; }
  CUTPLANE_INLINE double direction(index_t i) const {
    if constexpr (kKind == Kind::kConstant) return 1.0;
    if constexpr (kKind == Kind::kAlong) return other[i];
    return other[i] - s[i];
  }
};

// Calls body with the Examples type that fits.
template <Kind kKind, class Body>
auto with_kind(const HingeSample& sample, const ScoreLine& line, Body&& body) {
  return sample.c ? body(Examples<true, kKind>(sample, line))
                  : body(Examples<false, kKind>(sample, line));
}

template <class Body>
auto with_examples(const HingeSample& sample, const ScoreLine& line, Body&& body) {
  if (line.kind == Kind::kAlong) return with_kind<Kind::kAlong>(sample, line, body);
  if (line.kind == Kind::kTowards) return with_kind<Kind::kTowards>(sample, line, body);
  return with_kind<Kind::kConstant>(sample, line, body);
}

template <class Body>
auto with_examples(const HingeSample& sample, const double* s, Body&& body) {
  return with_kind<Kind::kConstant>(sample, ScoreLine{s}, body);
}

// Labels are bytes: turned into doubles a chunk at a time, so that loops over scores use whole
// vectors of these.
constexpr index_t kChunk = 512;

template <class E, class Body>
CUTPLANE_INLINE void by_chunks(const E& e, index_t begin, index_t end, Body body) {
  double labels[kChunk];
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    for (index_t k = 0; k < count; ++k) labels[k] = static_cast<double>(e.y[start + k]);
    body(e.from(start), count, labels);
  }
}

#define CUTPLANE_CHUNK \
  [&](const E& at, index_t count, const double* __restrict labels) __attribute__((always_inline))

}  // namespace cutplane::hinge
