// Writing svmlight text.
#include <charconv>
#include <cstring>

#include "core/text/svmlight.hpp"

namespace cutplane::svmlight {

namespace {

// The longest of each, with the character before or behind it.
constexpr index_t index_room = 20;  // 19 digits and a colon
constexpr index_t value_room = 25;  // -2.2250738585072014e-308 and a space
constexpr index_t qid_room = 26;    // " qid:" and 20 digits, and a newline in all

template <class Number>
char* put(char* p, Number number) {
  // The caller has reserved room for the longest number, so this cannot fail.
  return std::to_chars(p, p + value_room, number).ptr;
}

}  // namespace

template <class Value, class Index>
std::vector<GrowingArray<char>> format_rows(std::span<const Value> values,
                                            std::span<const Index> indices,
                                            std::span<const Index> indptr,
                                            std::span<const double> labels,
                                            std::span<const std::int64_t> qids, index_t first_index,
                                            int n_threads) {
  const auto n_rows = static_cast<index_t>(labels.size());
  const Blocks blocks = make_blocks(n_rows, 256, 256);
  std::vector<GrowingArray<char>> pieces(static_cast<std::size_t>(blocks.count));
  for (index_t b = 0; b < blocks.count; ++b) {
    const auto n_entries = static_cast<index_t>(indptr[blocks.end(b)] - indptr[blocks.begin(b)]);
    const index_t block_rows = blocks.end(b) - blocks.begin(b);
    pieces[b].resize(static_cast<std::size_t>(n_entries * (index_room + value_room) +
                                              block_rows * (value_room + qid_room)));
  }
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    char* p = pieces[b].data();
    for (index_t row = begin; row < end; ++row) {
      p = put(p, labels[row]);
      if (!qids.empty()) {
        std::memcpy(p, " qid:", 5);
        p = put(p + 5, qids[row]);
      }
      for (Index e = indptr[row]; e < indptr[row + 1]; ++e) {
        *p++ = ' ';
        p = put(p, static_cast<std::int64_t>(indices[e]) + first_index);
        *p++ = ':';
        p = put(p, values[e]);
      }
      *p++ = '\n';
    }
    pieces[b].resize(static_cast<std::size_t>(p - pieces[b].data()));
  });
  return pieces;
}

#define CUTPLANE_FORMAT_ROWS(Value, Index)                                    \
  template std::vector<GrowingArray<char>> format_rows<Value, Index>(         \
      std::span<const Value>, std::span<const Index>, std::span<const Index>, \
      std::span<const double>, std::span<const std::int64_t>, index_t, int);
CUTPLANE_FORMAT_ROWS(float, std::int32_t)
CUTPLANE_FORMAT_ROWS(float, std::int64_t)
CUTPLANE_FORMAT_ROWS(double, std::int32_t)
CUTPLANE_FORMAT_ROWS(double, std::int64_t)
#undef CUTPLANE_FORMAT_ROWS

}  // namespace cutplane::svmlight
