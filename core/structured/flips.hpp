// The labels other than the true ones that the labellings of a sequence give to its tokens.
//
// Labellings share most of them: what costs a pass over the features of a token is done once for
// each flip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/structured/chain.hpp"

namespace cutplane {

struct Flip {
  index_t token;
  label_t label, right;  // the labelling's, and the true one
  double value;
};

class Flips {
 public:
  // For a sequence whose tokens begin here, with these true labels.
  void start(index_t first_token, std::span<const label_t> truth, index_t labels) {
    first_ = first_token;
    truth_ = truth;
    labels_ = labels;
    place_.assign(truth.size() * labels, kNone);
    flips_.clear();
    listed_.clear();
    ends_.assign(1, 0);
  }

  // Lists the next labelling's.
  void add(std::span<const label_t> labelling) {
    for (std::size_t t = 0; t < labelling.size(); ++t) {
      if (labelling[t] == truth_[t]) continue;
      std::int32_t& place = place_[t * labels_ + labelling[t]];
      if (place == kNone) {
        place = static_cast<std::int32_t>(flips_.size());
        flips_.push_back({first_ + static_cast<index_t>(t), labelling[t], truth_[t], 0.0});
      }
      listed_.push_back(place);
    }
    ends_.push_back(listed_.size());
  }

  auto begin() { return flips_.begin(); }
  auto end() { return flips_.end(); }

  void clear_values() {
    for (Flip& flip : flips_) flip.value = 0.0;
  }
  // The sum of a labelling's values.
  double sum(std::size_t labelling) const {
    double sum = 0;
    for (const std::int32_t place : of(labelling)) sum += flips_[place].value;
    return sum;
  }
  // Adds to all values of a labelling.
  void add_to(std::size_t labelling, double value) {
    for (const std::int32_t place : of(labelling)) flips_[place].value += value;
  }

 private:
  static constexpr std::int32_t kNone = -1;

  std::span<const std::int32_t> of(std::size_t labelling) const {
    return std::span(listed_).subspan(ends_[labelling], ends_[labelling + 1] - ends_[labelling]);
  }

  index_t first_ = 0, labels_ = 0;
  std::span<const label_t> truth_;
  std::vector<Flip> flips_;
  std::vector<std::int32_t> place_;   // length x labels: the place among them, or none
  std::vector<std::int32_t> listed_;  // the flips of all labellings, one after the other
  std::vector<std::size_t> ends_;     // of each labelling's, after that of none
};

}  // namespace cutplane
