// svmlight text to CSR arrays and back, in threads.
//
//   label [qid:N] index:value index:value ... [# comment]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane::svmlight {

// An array that grows without being initialised, and without being copied where the system can
// help: realloc moves the pages of a large block instead of its bytes, and memory that was reserved
// but never written takes no room.
template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

  // Empty, with room for `capacity` items. The old ones are let go before, not copied, and a little
  // more than asked for is taken: the next use is likely to need about as much.
  void restart(std::size_t capacity) {
    size_ = 0;
    if (capacity <= capacity_) return;
    memory_.reset();
    capacity_ = 0;
    reallocate(capacity + capacity / 8);
  }

  // New items hold whatever the memory held.
  void resize(std::size_t size) {
    if (size > capacity_) reallocate(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }

  void shrink_to_fit() { reallocate(size_); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };

  void reallocate(std::size_t capacity) {
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    // realloc of zero bytes may free, so at least one item is kept.
    void* moved = std::realloc(memory_.get(), std::max<std::size_t>(capacity, 1) * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    memory_.release();
    memory_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }

  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

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
struct IndexArray {
  std::variant<GrowingArray<std::int32_t>, GrowingArray<std::int64_t>> items;

  bool wide() const { return items.index() == 1; }
  std::size_t size() const {
    return std::visit([](const auto& held) { return held.size(); }, items);
  }
  void resize(std::size_t size) {
    std::visit([=](auto& held) { held.resize(size); }, items);
  }
  void widen();
  void shrink_to_fit() {
    std::visit([](auto& held) { held.shrink_to_fit(); }, items);
  }
  // visit(pointer to the first item), with the type the items have.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    std::visit([&](auto& held) { visitor(held.data()); }, items);
  }
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
struct Entry {
  std::int64_t index;
  Value value;
};

struct Row {
  double label;
  std::int64_t qid;
  std::int64_t end;  // of its entries in the chunk
};

struct Place {
  const char* line = nullptr;
  const char* token = nullptr;
  index_t line_number = 0;       // within the chunk, from 0
  const char* wanted = nullptr;  // what would be accepted there; null: nothing is wrong
};

// A chunk of whole lines, parsed into scratch memory of its own.
template <class Value>
struct Chunk {
  std::string_view lines;
  GrowingArray<Entry<Value>> entries;
  GrowingArray<Row> rows;
  index_t n_lines = 0;
  index_t max_index = -1;
  bool zero_seen = false;
  Place watched{};  // what is wrong unless the file turns out to start at 1
  Place fault{};

  void prepare(std::string_view text) {
    *this = {text, std::move(entries), std::move(rows)};
    // All the memory a parse can need: an entry takes at least the four bytes " 1:1", a row "1\n".
    entries.restart(text.size() / 4 + 1);
    rows.restart(text.size() / 2 + 1);
  }
};

struct Rules;

// Feed the text in blocks of any size, then finish. The outcome depends on the text alone, not on
// how it was cut nor on the number of threads. After a fault the reader is of no more use.
template <class Value>
class Reader {
 public:
  explicit Reader(const Options& options);
  Reader(const Reader&) = delete;
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
  std::string too_large_;  // what is wanted instead of an index beyond n_features
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

template <class Value, class Index>
struct Rows {
  std::span<const Value> values;
  std::span<const Index> indices, indptr;
  std::span<const double> labels;
  std::span<const std::int64_t> qids;  // empty, or one of each row
};

// Rows as text, in pieces to be written one after the other. Numbers are the shortest that read
// back to the same bits. `first_index` is 0 or 1.
template <class Value, class Index>
std::vector<GrowingArray<char>> format_rows(const Rows<Value, Index>& rows, index_t first_index,
                                            int n_threads);

}  // namespace cutplane::svmlight
