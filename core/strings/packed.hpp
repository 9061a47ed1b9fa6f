// Strings of one length over a small alphabet, packed so that a pass can walk position by position.
//
// Pieces of kPiece strings; within a piece, column after column. A column holds one byte of every
// string of the piece: four letters of an alphabet of up to four, most significant first, else one
// letter. So the k-mers that neighbouring strings have at one position lie side by side, and a file
// of pieces is read front to back.
//
// A letter that is none of the alphabet's (N in DNA) is stored as the letter 0 and listed in
// `Unknown`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/strings/kmers.hpp"

namespace cutplane::strings {

inline constexpr index_t kPiece = 1 << 16;

struct Layout {
  index_t count;   // strings
  index_t length;  // letters of a string
  bool quarters;   // four letters a byte

  index_t columns() const { return quarters ? (length + 3) / 4 : length; }
  index_t bytes() const { return count * columns(); }
  index_t pieces() const { return (count + kPiece - 1) / kPiece; }
  index_t piece_begin(index_t piece) const { return piece * kPiece; }
  index_t piece_size(index_t piece) const { return std::min(kPiece, count - piece_begin(piece)); }
  // Where column `column` of a piece begins.
  index_t column(index_t piece, index_t column) const {
    return piece_begin(piece) * columns() + column * piece_size(piece);
  }
};

// The unknown letters, by string: those of strings[i] are at positions[begin[i]] ..
// positions[begin[i + 1]].
struct Unknown {
  std::span<const std::int64_t> strings;  // ascending
  std::span<const std::int64_t> begin;
  std::span<const std::int32_t> positions;
};

class Packed : public Strings {
 public:
  Packed(const Layout& layout, index_t alphabet, const std::uint8_t* data, const Unknown& unknown)
      : layout(layout), alphabet(alphabet), data(data), unknown(unknown) {}

  index_t count() const override { return layout.count; }
  index_t length() const override { return layout.length; }
  void read(index_t position, index_t order, index_t begin, index_t end,
            std::uint32_t* out) const override;
  void letters(index_t string, std::uint8_t* out) const override;
  std::span<const std::int64_t> with_unknown() const override { return unknown.strings; }

  const Layout layout;
  const index_t alphabet;
  const std::uint8_t* const data;
  const Unknown unknown;
};

struct PackOutcome {
  index_t wrong_string = -1;  // the first with an invalid letter, and where
  index_t wrong_position = -1;
  std::vector<std::int64_t> strings, begin;
  std::vector<std::int32_t> positions;
};

// Pack `text` (count x length bytes) by the code of each byte.
PackOutcome pack(const std::uint8_t* text, const Layout& layout, const std::uint8_t* codes,
                 std::uint8_t* out, int n_threads);

// Pack some of the strings anew, in the order given; `layout` is that of the result.
void gather(const Packed& from, std::span<const std::int64_t> strings, const Layout& layout,
            std::uint8_t* out, int n_threads);

// Which of the strings chosen have unknown letters, as the lists of the chosen.
PackOutcome gather_unknown(const Packed& from, std::span<const std::int64_t> strings);

}  // namespace cutplane::strings
