// Strings of one length, of which a pass reads the k-mers at one position, many strings at a time:
// packed ones, and the windows of one long string.
//
// A k-mer is a number: its letters are digits, the first the most significant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane::strings {

// Codes of letters: unknown to the alphabet, but allowed; and not allowed.
inline constexpr std::uint8_t kUnknown = 254, kInvalid = 255;

class Strings {
 public:
  virtual ~Strings() = default;
  virtual index_t count() const = 0;
  virtual index_t length() const = 0;
  // out[i - begin] = the k-mer of string i at `position`, for i in [begin, end); unknown letters
  // read as the letter 0.
  virtual void read(index_t position, index_t order, index_t begin, index_t end,
                    std::uint32_t* out) const = 0;
  // The codes of one string's letters, kUnknown for unknown ones.
  virtual void letters(index_t string, std::uint8_t* out) const = 0;
  // The strings that have unknown letters, ascending.
  virtual std::span<const std::int64_t> with_unknown() const = 0;
};

// How strings over a small alphabet are packed, so that a pass can walk position by position.
//
// Pieces of kPiece strings; within a piece, column after column. A column holds one byte of every
// string of the piece: four letters of an alphabet of up to four, most significant first, else one
// letter. So the k-mers that neighbouring strings have at one position lie side by side, and a file
// of pieces is read front to back.
//
// A letter that is none of the alphabet's (N in DNA) is stored as the letter 0 and listed in
// `Unknown`.
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

  std::span<const std::int32_t> of(std::int64_t string) const {
    const auto at = std::ranges::lower_bound(strings, string);
    if (at == strings.end() || *at != string) return {};
    const auto k = at - strings.begin();
    return positions.subspan(begin[k], begin[k + 1] - begin[k]);
  }
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

// The windows of one long string, which begin at every letter: none of them is cut out.
class Windows : public Strings {
 public:
  // codes: of `size` letters, kUnknown for unknown ones; they are copied.
  Windows(const std::uint8_t* codes, index_t size, index_t length, index_t alphabet);

  index_t count() const override { return std::ssize(codes_) - length_ + 1; }
  index_t length() const override { return length_; }
  void read(index_t position, index_t order, index_t begin, index_t end,
            std::uint32_t* out) const override;
  void letters(index_t string, std::uint8_t* out) const override;
  std::span<const std::int64_t> with_unknown() const override { return with_unknown_; }

  const std::uint8_t* codes() const { return codes_.data(); }

 private:
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> known_;  // the codes with the letter 0 for unknown ones
  std::vector<std::int64_t> with_unknown_;
  index_t length_, alphabet_;
};

struct PackOutcome {
  index_t wrong_string = -1;  // the first with an invalid letter, and where
  index_t wrong_position = -1;
  std::vector<std::int64_t> strings, begin;
  std::vector<std::int32_t> positions;

  void note_unknown(index_t string, index_t position) {
    if (strings.empty() || strings.back() != string) {
      strings.push_back(string);
      begin.push_back(std::ssize(positions));
    }
    positions.push_back(static_cast<std::int32_t>(position));
  }
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
