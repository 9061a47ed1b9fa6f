#include "core/strings/packed.hpp"

#include <algorithm>
#include <array>

#include "core/base/multiversion.hpp"

namespace cutplane::strings {
namespace {

// Strings packed at a time: their columns are written in runs of this many bytes.
constexpr index_t kTile = 256;

// Four columns hold sixteen letters: a k-mer of up to thirteen, wherever in the first byte it
// begins.
CUTPLANE_MULTIVERSION void from_quarters(const std::uint8_t* a, const std::uint8_t* b,
                                         const std::uint8_t* c, const std::uint8_t* d, index_t n,
                                         int shift, std::uint32_t mask, std::uint32_t* out) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    const std::uint32_t letters = (std::uint32_t{a[i]} << 24) | (std::uint32_t{b[i]} << 16) |
                                  (std::uint32_t{c[i]} << 8) | std::uint32_t{d[i]};
    out[i] = (letters >> shift) & mask;
  }
}

CUTPLANE_MULTIVERSION void append_letter(const std::uint8_t* letters, index_t n,
                                         std::uint32_t alphabet, std::uint32_t* out) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] = out[i] * alphabet + letters[i];
}

// out[i] = the k-mer of letters[i], letters[i + apart] and so on, letter by letter.
void join_letters(const std::uint8_t* letters, index_t apart, index_t order, index_t n,
                  index_t alphabet, std::uint32_t* out) {
  for (index_t i = 0; i < n; ++i) out[i] = letters[i];
  for (index_t k = 1; k < order; ++k)
    append_letter(letters + k * apart, n, static_cast<std::uint32_t>(alphabet), out);
}

// The letters of strings [begin, end) of a piece into its columns.
void pack_tile(const std::uint8_t* text, const Layout& layout, index_t piece, index_t begin,
               index_t end, const std::uint8_t* codes, std::uint8_t* out, PackOutcome& found) {
  const index_t length = layout.length;
  const index_t first = layout.piece_begin(piece);
  for (index_t column = 0; column < layout.columns(); ++column) {
    std::uint8_t* target = out + layout.column(piece, column);
    for (index_t i = begin; i < end; ++i) {
      const std::uint8_t* row = text + (first + i) * length;
      if (!layout.quarters) {
        const std::uint8_t code = codes[row[column]];
        target[i] = code < kUnknown ? code : 0;
        continue;
      }
      std::uint8_t byte = 0;
      for (index_t position = 4 * column; position < std::min(length, 4 * column + 4); ++position) {
        const std::uint8_t code = codes[row[position]];
        if (code < kUnknown) byte |= static_cast<std::uint8_t>(code << (6 - 2 * (position % 4)));
      }
      target[i] = byte;
    }
  }
  for (index_t i = begin; i < end; ++i) {
    const std::uint8_t* row = text + (first + i) * length;
    std::uint8_t any = 0;
    for (index_t position = 0; position < length; ++position)
      any |= codes[row[position]] >= kUnknown;
    if (!any) continue;
    for (index_t position = 0; position < length; ++position) {
      const std::uint8_t code = codes[row[position]];
      if (code == kUnknown) found.note_unknown(first + i, position);
      if (code == kInvalid && found.wrong_string < 0) {
        found.wrong_string = first + i;
        found.wrong_position = position;
      }
    }
  }
}

PackOutcome joined(std::vector<PackOutcome>& parts) {
  PackOutcome all;
  for (PackOutcome& part : parts) {
    if (all.wrong_string < 0) {
      all.wrong_string = part.wrong_string;
      all.wrong_position = part.wrong_position;
    }
    for (std::int64_t& start : part.begin) start += std::ssize(all.positions);
    all.strings.insert(all.strings.end(), part.strings.begin(), part.strings.end());
    all.begin.insert(all.begin.end(), part.begin.begin(), part.begin.end());
    all.positions.insert(all.positions.end(), part.positions.begin(), part.positions.end());
  }
  all.begin.push_back(std::ssize(all.positions));
  return all;
}

}  // namespace

PackOutcome pack(const std::uint8_t* text, const Layout& layout, const std::uint8_t* codes,
                 std::uint8_t* out, int n_threads) {
  const index_t pieces = layout.pieces();
  std::vector<PackOutcome> found(pieces);
  for_blocks({pieces, pieces}, n_threads, [&](index_t piece, index_t, index_t) {
    const index_t size = layout.piece_size(piece);
    for (index_t i = 0; i < size; i += kTile)
      pack_tile(text, layout, piece, i, std::min(size, i + kTile), codes, out, found[piece]);
  });
  return joined(found);
}

void gather(const Packed& from, std::span<const std::int64_t> strings, const Layout& layout,
            std::uint8_t* out, int n_threads) {
  const index_t columns = layout.columns();
  const int threads = useful_threads(n_threads, layout.bytes());
  for_blocks({columns, columns}, threads, [&](index_t column, index_t, index_t) {
    for (index_t piece = 0; piece < layout.pieces(); ++piece) {
      std::uint8_t* target = out + layout.column(piece, column);
      const std::int64_t* chosen = strings.data() + layout.piece_begin(piece);
      const index_t size = layout.piece_size(piece);
      for (index_t i = 0; i < size; ++i) {
        const index_t home = chosen[i] / kPiece;
        target[i] = from.data[from.layout.column(home, column) + chosen[i] % kPiece];
      }
    }
  });
}

PackOutcome gather_unknown(const Packed& from, std::span<const std::int64_t> strings) {
  PackOutcome result;
  for (index_t i = 0; i < std::ssize(strings); ++i)
    for (const std::int32_t position : from.unknown.of(strings[i]))
      result.note_unknown(i, position);
  result.begin.push_back(std::ssize(result.positions));
  return result;
}

void Packed::read(index_t position, index_t order, index_t begin, index_t end,
                  std::uint32_t* out) const {
  while (begin < end) {
    const index_t piece = begin / kPiece;
    const index_t i = begin - layout.piece_begin(piece);
    const index_t n = std::min(end, layout.piece_begin(piece) + layout.piece_size(piece)) - begin;
    if (layout.quarters) {
      // Columns past the last hold nothing that the mask leaves: any column will do.
      std::array<const std::uint8_t*, 4> four{};
      for (index_t k = 0; k < 4; ++k) {
        const index_t column = std::min(position / 4 + k, layout.columns() - 1);
        four[k] = data + layout.column(piece, column) + i;
      }
      const int shift = static_cast<int>(32 - 2 * (position % 4) - 2 * order);
      const std::uint32_t mask = (std::uint32_t{1} << (2 * order)) - 1;
      from_quarters(four[0], four[1], four[2], four[3], n, shift, mask, out);
      if (alphabet < 4) {  // digits of another base than four: put together letter by letter
        for (index_t j = 0; j < n; ++j) {
          std::uint32_t number = 0;
          for (index_t k = order - 1; k >= 0; --k)
            number = number * static_cast<std::uint32_t>(alphabet) + ((out[j] >> (2 * k)) & 3);
          out[j] = number;
        }
      }
    } else {
      const std::uint8_t* first = data + layout.column(piece, position) + i;
      join_letters(first, layout.piece_size(piece), order, n, alphabet, out);
    }
    begin += n;
    out += n;
  }
}

void Packed::letters(index_t string, std::uint8_t* out) const {
  const index_t piece = string / kPiece, i = string % kPiece;
  const std::uint8_t* bytes = data + layout.column(piece, 0) + i;
  for (index_t column = 0; column < layout.columns(); ++column) {
    const std::uint8_t byte = bytes[column * layout.piece_size(piece)];
    if (!layout.quarters) out[column] = byte;
    for (index_t k = 4 * column; layout.quarters && k < std::min(layout.length, 4 * column + 4);
         ++k)
      out[k] = (byte >> (6 - 2 * (k % 4))) & 3;
  }
  for (const std::int32_t position : unknown.of(string)) out[position] = kUnknown;
}

Windows::Windows(const std::uint8_t* codes, index_t size, index_t length, index_t alphabet)
    : codes_(codes, codes + size), known_(codes_), length_(length), alphabet_(alphabet) {
  index_t next = 0;  // windows before it are listed
  for (index_t i = 0; i < size; ++i) {
    if (codes_[i] != kUnknown) continue;
    known_[i] = 0;
    for (next = std::max(next, i - length + 1); next <= std::min(i, count() - 1); ++next)
      with_unknown_.push_back(next);
  }
}

void Windows::read(index_t position, index_t order, index_t begin, index_t end,
                   std::uint32_t* out) const {
  join_letters(known_.data() + begin + position, 1, order, end - begin, alphabet_, out);
}

void Windows::letters(index_t string, std::uint8_t* out) const {
  std::copy_n(codes_.data() + string, length_, out);
}

}  // namespace cutplane::strings
