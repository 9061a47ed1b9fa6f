#include "core/smo/working_set.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace cutplane::smo {
namespace {

Blocks blocks_of(index_t variables) { return make_blocks(variables, 1 << 13, 64); }

}  // namespace

WorkingSet::WorkingSet(const Dual& dual, index_t size)
    : dual_(dual),
      most_(std::min(size, dual.size())),
      place_of_(dual.size(), -1),
      wanted_(dual.size(), 0) {
  if (most_ < dual.size()) return;
  // Everything fits: it comes in once and stays.
  variables_.resize(most_);
  std::iota(variables_.begin(), variables_.end(), index_t{0});
}

double WorkingSet::measure(int n_threads) {
  double violation = 0.0;
  const Blocks blocks = blocks_of(dual_.size());
  std::vector<Threshold> found(blocks.count);
  for (int g = 0; g < dual_.groups(); ++g) {
    for_blocks(blocks, useful_threads(n_threads, dual_.size()),
               [&](index_t block, index_t begin, index_t end) {
                 found[block] = threshold(g, begin, end);
               });
    Threshold& all = thresholds_[g];
    all = found[0];
    for (const Threshold& one : found) all = {std::min(all.up, one.up), std::max(all.low, one.low)};
    violation = std::max(violation, all.low - all.up);
  }
  return violation;
}

WorkingSet::Threshold WorkingSet::threshold(int group, index_t begin, index_t end) const {
  double up = std::numeric_limits<double>::infinity(), low = -up;
  for (index_t t = begin; t < end; ++t) {
    if (!belongs(t, group)) continue;
    if (dual_.b[t] < dual_.high[t]) up = std::min(up, dual_.f[t]);
    if (dual_.b[t] > dual_.low[t]) low = std::max(low, dual_.f[t]);
  }
  return {up, low};
}

void WorkingSet::keep_first(std::vector<Scored>& scored, index_t count) {
  if (count >= static_cast<index_t>(scored.size())) return;
  std::nth_element(scored.begin(), scored.begin() + count, scored.end(), before);
  scored.resize(count);
}

void WorkingSet::score(int group, bool growing, index_t begin, index_t end,
                       std::vector<Scored>& scored) const {
  const std::vector<double>&b = dual_.b, &f = dual_.f;
  const Threshold limit = thresholds_[group];
  for (index_t t = begin; t < end; ++t) {
    if (growing ? !(f[t] < limit.low && b[t] < dual_.high[t])
                : !(f[t] > limit.up && b[t] > dual_.low[t]))
      continue;
    if (belongs(t, group) && !wanted_[t]) scored.push_back({growing ? f[t] : -f[t], t});
  }
}

// The `count` variables that violate most in one direction: those of every block first, for who is
// not among these is not among those of all.
void WorkingSet::collect(int group, bool growing, index_t count, int n_threads) {
  const Blocks blocks = blocks_of(dual_.size());
  std::vector<std::vector<Scored>> parts(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, 2 * dual_.size()),
             [&](index_t block, index_t begin, index_t end) {
               score(group, growing, begin, end, parts[block]);
               keep_first(parts[block], count);
             });
  std::vector<Scored> scored = std::move(parts[0]);
  for (index_t block = 1; block < blocks.count; ++block)
    scored.insert(scored.end(), parts[block].begin(), parts[block].end());
  keep_first(scored, count);
  std::sort(scored.begin(), scored.end(), before);
  for (const Scored& entry : scored) {
    wanted_[entry.variable] = 1;
    violators_.push_back(entry.variable);
  }
}

void WorkingSet::refresh(index_t count, int n_threads) {
  ++round_;
  changed_.clear();
  if (most_ == dual_.size()) {
    if (round_ == 1) {
      changed_.resize(most_);
      std::iota(changed_.begin(), changed_.end(), index_t{0});
    }
    return;
  }
  violators_.clear();
  const index_t each = std::max<index_t>(1, std::min(count, most_) / (2 * dual_.groups()));
  for (int g = 0; g < dual_.groups(); ++g)
    for (const bool growing : {true, false}) collect(g, growing, each, n_threads);
  place_violators();
  for (const index_t variable : violators_) wanted_[variable] = 0;
}

void WorkingSet::place_violators() {
  // Who may leave: at a bound before free, longest there first.
  std::vector<index_t> places;
  for (index_t place = 0; place < size(); ++place)
    if (!wanted_[variables_[place]]) places.push_back(place);
  const auto is_free = [&](index_t place) {
    const index_t t = variables_[place];
    return dual_.b[t] > dual_.low[t] && dual_.b[t] < dual_.high[t];
  };
  std::sort(places.begin(), places.end(), [&](index_t a, index_t z) {
    const bool free_a = is_free(a), free_z = is_free(z);
    if (free_a != free_z) return free_z;
    if (since_[a] != since_[z]) return since_[a] < since_[z];
    return a < z;
  });
  std::size_t next = 0;
  for (const index_t variable : violators_) {
    index_t place = place_of_[variable];
    if (place >= 0) {
      since_[place] = round_;
      continue;
    }
    if (size() < most_) {
      place = size();
      variables_.push_back(variable);
      since_.push_back(round_);
    } else {
      place = places[next++];
      place_of_[variables_[place]] = -1;
      variables_[place] = variable;
      since_[place] = round_;
    }
    place_of_[variable] = place;
    changed_.push_back(place);
  }
  std::sort(changed_.begin(), changed_.end());
}

}  // namespace cutplane::smo
