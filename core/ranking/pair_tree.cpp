#include "core/ranking/pair_tree.hpp"

#include <algorithm>

namespace cutplane {
namespace {

class PairTree {
 public:
  PairTree(const PairSample& sample, const PairVisitor& visitor, int n_threads)
      : sample_(sample),
        visitor_(visitor),
        n_threads_(useful_threads(n_threads, 8 * sample.places())) {
    const std::size_t n = sample.example.size();
    if (!sample.weight.empty()) before_.resize(n);
    if (needs_merging()) {
      for (auto& key : keys_) key.resize(n);
      for (auto& place : places_) place.resize(n);
    }
  }

  PairSums sweep(const SortedScores& sorted) {
    PairSums total{};
    const auto batches = make_batches();
    std::vector<PairSums> partial(batches.size());
    for_blocks({static_cast<index_t>(batches.size()), static_cast<index_t>(batches.size())},
               n_threads_, [&](index_t b, index_t, index_t) {
                 const Batch& batch = batches[b];
                 for (index_t g = batch.group; g < batch.group_end; ++g)
                   for (index_t level = 1; level <= batch.levels(*this, g); ++level)
                     sweep_level(sorted, g, level, batch, partial[b]);
               });
    for (const PairSums& sums : partial) add(total, sums);
    for (index_t g = 0; g < groups(); ++g)
      if (is_large(g))
        for (index_t level = first_shared_level(g); level <= top_level(g); ++level)
          sweep_shared_level(sorted, g, level, total);
    return total;
  }

 private:
  static constexpr index_t kBatch = (1 << 15) / kFineness;  // places that one thread takes
  static constexpr index_t kMostParts = 32;                 // of a node that threads share

  // Small groups as a whole, or the lower levels of a part of a large one: nodes [node, node_end)
  // of level `level`, with all below.
  struct Batch {
    index_t group, group_end;
    index_t level, node, node_end;

    index_t levels(const PairTree& tree, index_t g) const {
      return level < 0 ? tree.top_level(g) : level;
    }
  };

  index_t groups() const { return static_cast<index_t>(sample_.group.size()) - 1; }
  index_t ranks(index_t g) const { return sample_.group[g + 1] - sample_.group[g]; }
  index_t size(index_t g) const {
    return sample_.leaf[sample_.group[g + 1]] - sample_.leaf[sample_.group[g]];
  }
  bool is_large(index_t g) const { return size(g) > kBatch; }
  bool needs_merging() const {
    for (index_t g = 0; g < groups(); ++g)
      if (ranks(g) > 2) return true;
    return false;
  }
  index_t top_level(index_t g) const {
    index_t level = 0;
    while ((index_t{1} << level) < ranks(g)) ++level;
    return level;
  }
  // Below it, nodes are small enough on average for one thread each.
  index_t first_shared_level(index_t g) const {
    index_t level = 1;
    while (level <= top_level(g) && (size(g) << level) / ranks(g) < kBatch) ++level;
    return level;
  }
  index_t nodes(index_t g, index_t level) const {
    return (ranks(g) + (index_t{1} << level) - 1) >> level;
  }
  index_t place_of_rank(index_t g, index_t rank) const {
    return sample_.leaf[sample_.group[g] + std::min(rank, ranks(g))];
  }

  std::vector<Batch> make_batches() const {
    std::vector<Batch> batches;
    index_t filled = kBatch;
    for (index_t g = 0; g < groups(); ++g) {
      if (is_large(g)) {
        const index_t level = first_shared_level(g) - 1, count = nodes(g, level);
        if (level > 0)
          for (index_t node = 0; node < count; ++node)
            batches.push_back({g, g + 1, level, node, node + 1});
        filled = kBatch;
      } else {
        if (filled >= kBatch) batches.push_back({g, g, -1, 0, 0}), filled = 0;
        batches.back().group_end = g + 1;
        filled += size(g);
      }
    }
    return batches;
  }

  // The order of a level is that of the leaves, or what merging its nodes wrote.
  const double* keys(const SortedScores& sorted, index_t level) const {
    return level == 0 ? sorted.key.data() : keys_[level % 2].data();
  }
  const place_t* places(const SortedScores& sorted, index_t level) const {
    return level == 0 ? sorted.place.data() : places_[level % 2].data();
  }

  OrderedSpan span(const SortedScores& sorted, index_t level, index_t begin, index_t end) {
    OrderedSpan part{keys(sorted, level) + begin, places(sorted, level) + begin, end - begin};
    if (before_.empty()) return part;
    for (index_t k = 0; k < part.size; ++k) {
      before_[begin + k] = part.total;
      part.total += sample_.weight[part.place[k]];
    }
    part.before = before_.data() + begin;
    return part;
  }

  struct Extent {
    index_t begin, middle, end;
  };
  Extent extent(index_t g, index_t level, index_t node) const {
    const index_t first = node << level, half = index_t{1} << (level - 1);
    return {place_of_rank(g, first), place_of_rank(g, first + half),
            place_of_rank(g, first + 2 * half)};
  }
  RankNode node_at(const SortedScores& sorted, index_t g, index_t level, const Extent& at) {
    return {span(sorted, level - 1, at.begin, at.middle),
            span(sorted, level - 1, at.middle, at.end), sample_.group_weight[g]};
  }

  void sweep_level(const SortedScores& sorted, index_t g, index_t level, const Batch& batch,
                   PairSums& sums) {
    const index_t shift = batch.level < 0 ? 0 : batch.level - level;
    const index_t first = batch.level < 0 ? 0 : batch.node << shift;
    const index_t last =
        batch.level < 0 ? nodes(g, level) : std::min(batch.node_end << shift, nodes(g, level));
    for (index_t k = first; k < last; ++k) {
      const Extent at = extent(g, level, k);
      const RankNode node = node_at(sorted, g, level, at);
      add(sums, visitor_.higher(node, 0, node.higher.size));
      add(sums, visitor_.lower(node, 0, node.lower.size));
      if (level < top_level(g)) merge_part(node, level, at.begin, 0, node.lower.size);
    }
  }

  void sweep_shared_level(const SortedScores& sorted, index_t g, index_t level, PairSums& total) {
    for (index_t k = 0; k < nodes(g, level); ++k) {
      const Extent at = extent(g, level, k);
      const RankNode node = node_at(sorted, g, level, at);
      const Blocks higher = make_blocks(node.higher.size, kBatch / 2, kMostParts);
      const Blocks lower = make_blocks(node.lower.size, kBatch / 2, kMostParts);
      std::vector<PairSums> partial(higher.count + lower.count);
      for_blocks({higher.count + lower.count, higher.count + lower.count}, n_threads_,
                 [&](index_t b, index_t, index_t) {
                   const index_t c = b - higher.count;
                   partial[b] = c < 0 ? visitor_.higher(node, higher.begin(b), higher.end(b))
                                      : visitor_.lower(node, lower.begin(c), lower.end(c));
                 });
      for (const PairSums& sums : partial) add(total, sums);
      if (level < top_level(g))
        for_blocks(lower, n_threads_, [&](index_t, index_t begin, index_t end) {
          merge_part(node, level, at.begin, begin, end);
        });
    }
  }

  // The lower half's examples [begin, end), with those of the higher half that belong between them.
  void merge_part(const RankNode& node, index_t level, index_t start, index_t begin, index_t end) {
    const OrderedSpan &low = node.lower, &high = node.higher;
    const auto before = [&](index_t from, place_t place, double score) {
      return std::partition_point(high.score + from, high.score + high.size,
                                  [&](const double& s) {
                                    return visitor_.less(s, high.place[&s - high.score], score,
                                                         place);
                                  }) -
             high.score;
    };
    index_t h = begin == 0 ? 0 : before(0, low.place[begin], low.score[begin]);
    const index_t stop = end == low.size ? high.size : before(h, low.place[end], low.score[end]);
    double* key = keys_[level % 2].data() + start + begin + h;
    place_t* place = places_[level % 2].data() + start + begin + h;
    const auto put = [&](const OrderedSpan& from, index_t k) {
      *key++ = from.score[k];
      *place++ = from.place[k];
    };
    for (index_t l = begin; l < end; ++l) {
      while (h < stop && visitor_.less(high.score[h], high.place[h], low.score[l], low.place[l]))
        put(high, h++);
      put(low, l);
    }
    while (h < stop) put(high, h++);
  }

  const PairSample& sample_;
  const PairVisitor& visitor_;
  int n_threads_;
  std::array<std::vector<double>, 2> keys_;
  std::array<std::vector<place_t>, 2> places_;
  std::vector<double> before_;
};

}  // namespace

PairSums sweep(const PairSample& sample, const SortedScores& sorted, const PairVisitor& visitor,
               int n_threads) {
  return PairTree(sample, visitor, n_threads).sweep(sorted);
}

std::vector<double> gather(const PairSample& sample, const double* values, index_t columns,
                           int n_threads) {
  std::vector<double> by_place(sample.example.size() * columns);
  double* to = by_place.data();
  if (columns == 1)  // to call a function for each value would take ten times as long
    for_places(sample, 1, n_threads, [&](index_t p, index_t i) { to[p] = values[i]; });
  else
    for_places(sample, columns, n_threads, [&](index_t p, index_t i) {
      std::copy_n(values + i * columns, columns, to + p * columns);
    });
  return by_place;
}

void scatter(const PairSample& sample, const std::vector<double>& by_place, index_t columns,
             double* values, int n_threads) {
  if (sample.places() < sample.n) std::fill(values, values + sample.n * columns, 0.0);
  const double* from = by_place.data();
  if (columns == 1)
    for_places(sample, 1, n_threads, [&](index_t p, index_t i) { values[i] = from[p]; });
  else
    for_places(sample, columns, n_threads, [&](index_t p, index_t i) {
      std::copy_n(from + p * columns, columns, values + i * columns);
    });
}

}  // namespace cutplane
