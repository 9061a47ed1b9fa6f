// Spectrum and weighted-degree features of strings as a linear map, never as a matrix.
//
// A part has one feature for every k-mer of order 1..K: one for each in a window (spectrum), or one
// for each at each position of the window (weighted degree). All orders of a k-mer that starts at a
// position are prefixes of its longest one, so weights are collapsed, once a pass, into one table
// per position indexed by the longest k-mer, for all parts together: a position costs one lookup.
// The adjoint counts k-mers in one histogram per position and expands it to all orders afterwards.
// k-mers that start in the last positions and do not reach the full order are suffixes of the last
// full one: its table holds their weights too.
//
// Parts whose feature vectors are scaled alike form a group; each group has tables of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/strings/packed.hpp"

namespace cutplane::strings {

struct Part {
  bool positional;  // weighted degree
  index_t begin, end;
  std::vector<double> values;  // of a feature by order: values.size() is the greatest
  index_t group;

  index_t order() const { return static_cast<index_t>(values.size()); }
  // The longest k-mer of this part that starts at a position.
  index_t depth(index_t position) const {
    return position < begin || position >= end ? 0 : std::min(order(), end - position);
  }
};

// The tables of one group, one after the other, on large pages: lookups are all over them.
using Tables = std::shared_ptr<double[]>;

// The k-mers that occur in some strings, as columns of a sparse matrix. What only one string has is
// one column together: rotated, feature vectors keep their products.
struct Occurring {
  std::vector<std::int64_t> begin;          // of the strings' entries
  std::unique_ptr<std::int32_t[]> columns;  // of the entries; a spectrum's may come several times
  std::vector<double> values;               // by column
  // Of weights v by column: the weight of features[f] is factors[f] * v[homes[f]], of others 0.
  std::vector<std::int64_t> features;
  std::vector<std::int32_t> homes;
  std::vector<double> factors;
};

class Features {
 public:
  // Requires: windows within the strings, no order longer than its window, groups 0, 1, ... all
  // used, and no table larger than 2^24 (alphabet to the power of the greatest order).
  Features(index_t alphabet, index_t length, std::vector<Part> parts);

  index_t dimension() const { return dimension_; }
  index_t groups() const { return std::ssize(groups_); }
  // Lookups for one string.
  index_t lookups() const;

  // One set of tables per group.
  std::vector<Tables> collapse(const double* w, int n_threads) const;

  // out[i] = sum over groups of scale_i * (sum of the group's features of string i times their
  // weights). scales: for each group one factor per string, or null for 1.
  void scores(const Strings& strings, const std::vector<Tables>& tables,
              std::span<const double* const> scales, double* out, int n_threads) const;
  // out = sum over strings of coef_i * scale_i * features of string i, group by group.
  void combine(const Strings& strings, const double* coef, std::span<const double* const> scales,
               double* out, int n_threads) const;

  // The same for one string, k-mers with an unknown letter left out, of one group. `letters` are
  // codes.
  double score_one(const std::uint8_t* letters, index_t group, const double* w) const;
  void add_one(const std::uint8_t* letters, index_t group, double coef, double* out) const;

  // Columns for these strings, of one group; entries that their letters bound fit into memory.
  Occurring occurring(const Strings& strings) const;

  // out[i] = the squared length of the features of group `group` of string i.
  void squared_lengths(const Strings& strings, index_t group, double* out, int n_threads) const;
  // The same for windows, each from the one before.
  void squared_lengths(const Windows& windows, index_t group, double* out, int n_threads) const;

 private:
  struct Group {
    index_t begin, end, order;
    std::vector<index_t> parts;
    // By slot, a position with a k-mer of full order; -1: nothing to look up.
    std::vector<index_t> table;
    std::vector<index_t> owner;  // the slot that a table is made for
    index_t spectra = 0;         // features of its spectra together
    index_t slots() const { return end - begin - order + 1; }
    index_t depth(index_t position) const { return std::min(order, end - position); }
  };

  Group make_group(index_t number);
  index_t power(index_t k) const { return powers_[static_cast<std::size_t>(k)]; }
  // Where the weights of a part's k-mers of order k at a position begin.
  index_t place(index_t part, index_t position, index_t k) const;
  void collapse_position(const Group& group, index_t position, const double* w, double* out) const;
  void collapse_table(const Group& group, index_t slot, const double* w, double* out) const;
  // `counts` is used up; those of spectra are added to `sums`, one after the other.
  void expand_position(const Group& group, index_t position, std::vector<double>& counts,
                       double* out, double* sums) const;
  void expand_slot(const Group& group, index_t slot, std::vector<double>& counts, double* out,
                   double* sums) const;
  void combine_group(const Group& group, const Strings& strings, const double* coef, double* out,
                     int n_threads) const;
  void finish_spectra(const Group& group, std::vector<std::vector<double>>& sums, double* out,
                      int n_threads) const;
  struct SpectrumScratch {
    std::vector<std::uint16_t> counts;
    std::vector<index_t> squares, kmers, repeated;
  };
  void list_kmers(const Part& part, const std::uint8_t* letters, index_t k,
                  SpectrumScratch& scratch) const;
  double known_spectrum(const Part& part, const std::uint8_t* letters,
                        SpectrumScratch& scratch) const;
  void slide(const Part& part, const std::uint8_t* codes, index_t begin, index_t end,
             std::vector<std::uint16_t>& counts, double* out) const;

  index_t alphabet_, length_;
  std::vector<index_t> powers_;  // of the alphabet's size
  std::vector<index_t> below_;   // k-mers of orders 1..k - 1 together
  std::vector<Part> parts_;
  // Where the weights of each part's positions begin; of a spectrum, all of them.
  std::vector<std::vector<index_t>> starts_;
  std::vector<index_t> spectra_;  // of a spectrum among those of its group
  std::vector<Group> groups_;
  index_t dimension_ = 0;
};

}  // namespace cutplane::strings
