#include "core/smo/rules.hpp"

namespace cutplane::smo {
namespace {

// Scores of some candidates at a time, which stay in the first cache: their greatest is found by
// vector instructions, and where it is only if it is greater than all before. Where each maximum
// was met could be noted as well, but GCC would keep those notes in memory.
constexpr index_t kScoredTogether = 1024;
// The least step a partner is credited with (the tau of Peng et al.).
constexpr double kLeastStep = 1e-10;

// NaN is not greater than anything.
template <class Real>
CUTPLANE_INLINE Real greatest(const Real* scores, index_t count) {
  Real most = kNever<Real>;
#pragma omp simd reduction(max : most)
  for (index_t l = 0; l < count; ++l) most = scores[l] > most ? scores[l] : most;
  return most;
}

// The first of `count` scores, in blocks, that is equal to this one.
template <class Real>
CUTPLANE_INLINE index_t place_of(const Real* scores, index_t count, Real wanted) {
  constexpr index_t kLookedAt = 64;
  index_t begin = 0;
  for (; begin + kLookedAt <= count; begin += kLookedAt) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (index_t l = 0; l < kLookedAt; ++l) found |= scores[begin + l] == wanted;
    if (found) break;
  }
  while (scores[begin] != wanted) ++begin;
  return begin;
}

// The t of greatest score, the least such t; scores of kNever do not count. fill(begin, count,
// scores) says those of some candidates.
template <class Real, class Fill>
CUTPLANE_INLINE Best<Real> argmax(index_t n, const Fill& fill) {
  Real scores[kScoredTogether];
  Best<Real> best;
  for (index_t begin = 0; begin < n; begin += kScoredTogether) {
    const index_t count = std::min(kScoredTogether, n - begin);
    fill(begin, count, scores);
    const Real most = greatest(scores, count);
    if (most > best.score) best = {begin + place_of(scores, count, most), most};
  }
  return best;
}

template <class Real>
CUTPLANE_INLINE Extremes extremes_of(const Candidates<Real> c) {
  const Best<Real> up =
      argmax<Real>(c.n, [&](index_t begin, index_t count, Real* scores) CUTPLANE_INLINED {
        for (index_t l = 0, t = begin; l < count; ++l, ++t)
          scores[l] = c.can_grow(t) ? -c.f[t] : kNever<Real>;
      });
  const Best<Real> low =
      argmax<Real>(c.n, [&](index_t begin, index_t count, Real* scores) CUTPLANE_INLINED {
        for (index_t l = 0, t = begin; l < count; ++l, ++t)
          scores[l] = c.can_shrink(t) ? c.f[t] : kNever<Real>;
      });
  return {up.at, low.at, -static_cast<double>(up.score), static_cast<double>(low.score)};
}

// What each of some candidates is worth as a partner.
template <class Real>
CUTPLANE_INLINE void score(Rule rule, const Known<Real>& known, const Candidates<Real>& c,
                           index_t begin, index_t count, Real* scores) {
  const float* k = known.kernel;
  const auto each = [&](const auto& worth) CUTPLANE_INLINED {
    for (index_t l = 0, t = begin; l < count; ++l, ++t)
      scores[l] = worth(t, curvature(known.diagonal, c.diagonal[t], k[t]));
  };
  // worth(difference, curvature, room) of those that can move towards the known variable.
  const Real sign = known.grows ? 1 : -1,
             known_room = known.grows ? known.room_up : known.room_down;
  const Real* partner_room = known.grows ? c.room_down : c.room_up;
  const auto by_step = [&](const auto& worth) CUTPLANE_INLINED {
    each([&](index_t t, Real eta) CUTPLANE_INLINED {
      const Real difference = sign * (c.f[t] - known.f), room = partner_room[t];
      const Real gain = worth(difference, eta, std::min(known_room, room));
      return ((room > 0) & (difference > 0) & c.allowed(t)) ? gain : kNever<Real>;
    });
  };
  constexpr Real kLeast = static_cast<Real>(kLeastStep);
  switch (rule) {
    case Rule::ofs1:
      return by_step([&](Real difference, Real eta, Real room) CUTPLANE_INLINED {
        return std::max(std::min(difference / eta, room), kLeast) * difference;
      });
    case Rule::ofs2:
      return by_step([&](Real difference, Real eta, Real room) CUTPLANE_INLINED {
        return feasible_gain(difference, eta, std::max(room, kLeast));
      });
    case Rule::hmg:
      return each([&](index_t t, Real eta) CUTPLANE_INLINED {
        const Real difference = c.f[t] - known.f;
        const Real if_up = std::min(known.room_up, c.room_down[t]);
        const Real if_down = std::min(known.room_down, c.room_up[t]);
        const Real room = difference > 0 ? if_up : if_down;
        const Real size = difference > 0 ? difference : -difference;
        const Real gain = feasible_gain(size, eta, room);
        return ((room > 0) & (size > 0) & c.allowed(t)) ? gain : kNever<Real>;
      });
    case Rule::conjugate:
      return each([&](index_t t, Real eta) CUTPLANE_INLINED {
        const Real difference = c.f[t] - known.f, along = known.slope - c.slope[t];
        const Real left =
            std::max(eta - along * along * c.inverse, static_cast<Real>(kLeastShare) * eta);
        const Real gain = difference * difference / left;
        return (c.can_shrink(t) & (difference > 0)) ? gain : kNever<Real>;
      });
    case Rule::mvp:
    case Rule::second_order:  // twice what the best step takes off if there were no box
      return each([&](index_t t, Real eta) CUTPLANE_INLINED {
        const Real difference = c.f[t] - known.f;
        const Real gain = difference * difference / eta;
        return (c.can_shrink(t) & (difference > 0)) ? gain : kNever<Real>;
      });
  }
}

template <class Real>
CUTPLANE_INLINE Best<Real> partner_of(Rule rule, const Known<Real> known,
                                      const Candidates<Real> c) {
  return argmax<Real>(c.n, [&](index_t begin, index_t count, Real* scores)
                               CUTPLANE_INLINED { score(rule, known, c, begin, count, scores); });
}

template <class Real>
CUTPLANE_INLINE void add_differences(index_t n, Real step, const float* k_up, const float* k_low,
                                     Real* f) {
  for (index_t t = 0; t < n; ++t)
    f[t] += step * (static_cast<Real>(k_up[t]) - static_cast<Real>(k_low[t]));
}

}  // namespace

CUTPLANE_MULTIVERSION Extremes find_extremes(const Candidates<float>& all) {
  return extremes_of(all);
}
CUTPLANE_MULTIVERSION Extremes find_extremes(const Candidates<double>& all) {
  return extremes_of(all);
}
CUTPLANE_MULTIVERSION Best<float> find_partner(Rule rule, const Known<float>& known,
                                               const Candidates<float>& all) {
  return partner_of(rule, known, all);
}
CUTPLANE_MULTIVERSION Best<double> find_partner(Rule rule, const Known<double>& known,
                                                const Candidates<double>& all) {
  return partner_of(rule, known, all);
}
CUTPLANE_MULTIVERSION void add_difference(index_t n, float step, const float* k_up,
                                          const float* k_low, float* f) {
  add_differences(n, step, k_up, k_low, f);
}
CUTPLANE_MULTIVERSION void add_difference(index_t n, double step, const float* k_up,
                                          const float* k_low, double* f) {
  add_differences(n, step, k_up, k_low, f);
}

}  // namespace cutplane::smo
