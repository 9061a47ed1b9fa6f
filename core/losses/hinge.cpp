#include "core/losses/hinge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/losses/hinge_blocks.hpp"

namespace cutplane {
namespace {

using hinge::by_chunks;
using hinge::cut_block;
using hinge::extrapolated_block;
using hinge::smoothed_block;
using hinge::value_block;
using hinge::with_examples;

template <class E>
CUTPLANE_MULTIVERSION index_t count_kinks_block(E e, double h, index_t begin, index_t end) {
  const double half = 0.5 * h;
  double total = 0;
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double near = 0;
#pragma omp simd reduction(+ : near)
        for (index_t k = 0; k < count; ++k)
          near += std::abs(1.0 - labels[k] * at.s[k]) <= half ? 1.0 : 0.0;
        total += near;
      });
  return static_cast<index_t>(total);
}

// Writes the positions of the examples on kinks, in order.
template <class E>
CUTPLANE_MULTIVERSION void list_kinks_block(E e, double h, index_t begin, index_t end,
                                            std::int64_t* place) {
  const double half = 0.5 * h;
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        // Eight marks are looked at together: mostly none of them is set.
        static_assert(std::endian::native == std::endian::little);
        alignas(8) std::uint8_t marks[hinge::kChunk];
        for (index_t k = 0; k < count; ++k) marks[k] = std::abs(1.0 - labels[k] * at.s[k]) <= half;
        std::fill(marks + count, marks + (count + 7) / 8 * 8, std::uint8_t{0});
        const index_t first = at.y - e.y;
        for (index_t k = 0; k < count; k += 8) {
          std::uint64_t eight;
          std::memcpy(&eight, marks + k, sizeof eight);
          for (; eight != 0; eight &= eight - 1) *place++ = first + k + std::countr_zero(eight) / 8;
        }
      });
}

// Writes where it reads: not by the pointers of Examples, which no one else points to.
template <class E>
CUTPLANE_MULTIVERSION Sums<3> advance_block(E e, double* s, double* other, double step, double mu,
                                            index_t begin, index_t end) {
  Sums<3> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* here = s + (at.y - e.y);
        double* there = other + (at.y - e.y);
        double value = 0, cut_value = 0, offset = 0;
#pragma omp simd reduction(+ : value, cut_value, offset)
        for (index_t k = 0; k < count; ++k) {
          const double c = at.weight(k);
          const double next = here[k] + step * (there[k] - here[k]);
          const double loss = 1.0 - labels[k] * next;
          const double z = 1.0 - labels[k] * (next + mu * (there[k] - next));
          const double active = z >= 0.0 ? c : 0.0;
          here[k] = next;
          there[k] = -labels[k] * active;
          value += c * (loss > 0.0 ? loss : 0.0);
          cut_value += active * z;
          offset += active;
        }
        total[0] += value;
        total[1] += cut_value;
        total[2] += offset;
      });
  return total;
}

CUTPLANE_MULTIVERSION double signed_sum(const double* coef, const std::int8_t* y, index_t begin,
                                        index_t end) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = begin; i < end; ++i) sum += coef[i] * y[i];
  return sum;
}

}  // namespace

template <class S>
double hinge_value(const HingeSample& sample, const S* s, int n_threads) {
  return with_examples(sample, s, [&](auto e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return value_block(e, begin, end);
    })[0];
  });
}

HingeCut hinge_cut(const HingeSample& sample, const double* s, double* coef, int n_threads) {
  return with_examples(sample, s, [&](auto e) -> HingeCut {
    const auto sums = sum_examples<2>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return cut_block(e, 0.0, coef + begin, begin, end);
    });
    return {sums[0], sums[1]};
  });
}

HingeCut hinge_balanced_cut(const HingeSample& sample, const double* s, double width, double* coef,
                            int n_threads) {
  auto weight = [&](index_t i) { return sample.c ? sample.c[i] : sample.each; };
  // Weights of the examples beyond the kink and on it, by side: {value, beyond+, beyond-, on+,
  // on-}.
  const auto sums = sum_examples<5>(sample.n, n_threads, [&](index_t begin, index_t end) {
    Sums<5> sum{};
    for (index_t i = begin; i < end; ++i) {
      const double c = weight(i);
      const double z = 1.0 - sample.y[i] * s[i];
      const bool positive = sample.y[i] > 0;
      if (z > width) {
        sum[positive ? 1 : 2] += c;
      } else if (z >= -width) {
        sum[positive ? 3 : 4] += c;
      }
      sum[0] += c * std::max(z, 0.0);
    }
    return sum;
  });
  const double excess = sums[1] - sums[2];  // of the positive side, beyond the kink
  double beyond_positive = 1, beyond_negative = 1, on_positive = 0, on_negative = 0;
  if (excess > 0.0) {
    on_negative = sums[4] > 0.0 ? std::min(1.0, excess / sums[4]) : 0.0;
    beyond_positive = (sums[2] + on_negative * sums[4]) / sums[1];
  } else if (excess < 0.0) {
    on_positive = sums[3] > 0.0 ? std::min(1.0, -excess / sums[3]) : 0.0;
    beyond_negative = (sums[1] + on_positive * sums[3]) / sums[2];
  }
  const auto offset = sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
    Sums<1> sum{};
    for (index_t i = begin; i < end; ++i) {
      const double z = 1.0 - sample.y[i] * s[i];
      const bool positive = sample.y[i] > 0;
      double pi = 0;
      if (z > width) {
        pi = positive ? beyond_positive : beyond_negative;
      } else if (z >= -width) {
        pi = positive ? on_positive : on_negative;
      }
      const double active = pi * weight(i);
      sum[0] += active;
      coef[i] = -sample.y[i] * active;
    }
    return sum;
  });
  return {sums[0], offset[0]};
}

SmoothedHinge hinge_smoothed(const HingeSample& sample, const double* s, double h, double* coef,
                             int n_threads) {
  return with_examples(sample, s, [&](auto e) -> SmoothedHinge {
    const auto sums = sum_examples<4>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return smoothed_block(e, h, coef + begin, begin, end);
    });
    return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
  });
}

double hinge_offset(const HingeSample& sample, const double* coef, int n_threads) {
  return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) -> Sums<1> {
    return {-signed_sum(coef, sample.y, begin, end)};
  })[0];
}

void hinge_extrapolated(const HingeSample& sample, const double* s, double h, double reach,
                        double* coef, int n_threads) {
  with_examples(sample, s, [&](auto e) {
    for_blocks(example_blocks(sample.n), useful_threads(n_threads, kWorkPerExample * sample.n),
               [&](index_t, index_t begin, index_t end) {
                 extrapolated_block(e, h, reach, coef + begin, begin, end);
               });
  });
}

template <class S>
void hinge_kinks(const HingeSample& sample, const S* s, double h, std::vector<std::int64_t>& rows,
                 std::vector<double>& weights, int n_threads) {
  const Blocks blocks = example_blocks(sample.n);
  const int threads = useful_threads(n_threads, kWorkPerExample * sample.n);
  // Counted before they are listed: no more memory than the list takes. Labels are -1 or +1, so
  // that both times z is the same to the bit, whatever instructions compute it.
  std::vector<index_t> starts(blocks.count + 1, 0);
  with_examples(sample, s, [&](auto e) {
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      starts[b + 1] = count_kinks_block(e, h, begin, end);
    });
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  rows.resize(starts.back());
  weights.resize(starts.back());
  with_examples(sample, s, [&](auto e) {
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      list_kinks_block(e, h, begin, end, rows.data() + starts[b]);
      for (index_t place = starts[b]; place < starts[b + 1]; ++place)
        weights[place] = sample.c ? sample.c[rows[place]] : sample.each;
    });
  });
}

HingeAdvance hinge_advance(const HingeSample& sample, double* s, double* end, double step,
                           double mu, int n_threads) {
  return with_examples(sample, s, [&](auto e) -> HingeAdvance {
    const auto sums = sum_examples<3>(sample.n, n_threads, [&](index_t begin, index_t stop) {
      return advance_block(e, s, end, step, mu, begin, stop);
    });
    return {sums[0], {sums[1], sums[2]}};
  });
}

template double hinge_value(const HingeSample&, const double*, int);
template double hinge_value(const HingeSample&, const float*, int);
template void hinge_kinks(const HingeSample&, const double*, double, std::vector<std::int64_t>&,
                          std::vector<double>&, int);
template void hinge_kinks(const HingeSample&, const float*, double, std::vector<std::int64_t>&,
                          std::vector<double>&, int);

}  // namespace cutplane
