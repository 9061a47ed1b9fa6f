// svmlight text to CSR arrays and back, in threads.
//
//   label [qid:N] index:value index:value ... [# comment]
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/growing_array.hpp"
#include "core/base/parallel.hpp"

namespace cutplane::svmlight {

// Where indices start in the file; `automatic` is zero exactly if an index 0 occurs anywhere.
enum class Base { automatic, zero, one };

struct Options {
  Base base = Base::automatic;
  std::optional<index_t> n_features;
  int n_threads = 0;
  index_t chunk_bytes = index_t{1} << 18;  // what one thread parses at a time
  // Rows, columns and entries beyond this are counted in int64 instead of int32.
  index_t narrow_limit = std::numeric_limits<std::int32_t>::max();
};

// The first thing wrong in the file. Line and column (in bytes) start at 1.
struct Fault {
  index_t line = 0;
  index_t column = 0;
  std::string token;   // as it stands in the file
  std::string wanted;  // what would be accepted there
};

// Integers kept in int32 until told that they no longer fit.
class IndexArray {
 public:
  bool wide() const { return wide_; }
  std::size_t size() const { return wide_ ? large_.size() : small_.size(); }
  void resize(std::size_t size);
  void widen();
  void shrink_to_fit();

  // visit(pointer to the first item), with the type the items have.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    if (wide_) {
      visitor(large_.data());
    } else {
      visitor(small_.data());
    }
  }
  GrowingArray<std::int32_t>& small() { return small_; }
  GrowingArray<std::int64_t>& large() { return large_; }

 private:
  bool wide_ = false;
  GrowingArray<std::int32_t> small_;
  GrowingArray<std::int64_t> large_;
};

// The examples read: CSR with sorted, distinct, zero-based columns. indices and indptr have one
// width.
template <class Value>
struct Examples {
  GrowingArray<Value> values;
  IndexArray indices;
  IndexArray indptr;
  GrowingArray<double> labels;
  GrowingArray<std::int64_t> qids;  // empty if the file has none
  index_t n_features = 0;
};

template <class Value>
struct Chunk;
struct Rules;

// Feed the text in blocks of any size, then finish. The outcome depends on the text alone, not on
// how it was cut nor on the number of threads. After a fault the reader is of no more use.
template <class Value>
class Reader {
 public:
  explicit Reader(const Options& options);
  Reader(Reader&&) noexcept;
  ~Reader();

  std::optional<Fault> feed(std::string_view block);
  std::optional<Fault> finish();

  bool has_qid() const { return with_qid_.value_or(false); }
  Examples<Value>& examples() { return examples_; }  // complete once finished

 private:
  struct Offset {
    std::size_t row, entry;
  };

  std::optional<Fault> parse(const std::vector<std::string_view>& pieces);
  void cut(std::string_view lines, std::vector<std::string_view>& pieces) const;
  std::optional<Fault> gather();
  std::vector<Offset> make_room();
  void append(const Chunk<Value>& chunk, Offset at);
  Rules rules() const;

  Options options_;
  Examples<Value> examples_;
  std::vector<Chunk<Value>> parsed_;  // of the block before: good, and yet to be appended
  std::vector<Chunk<Value>> spare_;   // their memory is used again
  std::string partial_line_;          // the end of a block, until the rest of its line comes
  std::optional<bool> with_qid_;      // as the first example has it; all others must agree
  index_t n_lines_ = 0;
  index_t max_index_ = -1;
  bool zero_seen_ = false;
  std::optional<Fault> beyond_if_zero_based_;
};

extern template class Reader<float>;
extern template class Reader<double>;

// Rows as text, in pieces to be written one after the other. Numbers are the shortest that read
// back to the same bits. `qids` is empty or has one item per row; `first_index` is 0 or 1.
template <class Value, class Index>
std::vector<GrowingArray<char>> format_rows(std::span<const Value> values,
                                            std::span<const Index> indices,
                                            std::span<const Index> indptr,
                                            std::span<const double> labels,
                                            std::span<const std::int64_t> qids, index_t first_index,
                                            int n_threads);

}  // namespace cutplane::svmlight
