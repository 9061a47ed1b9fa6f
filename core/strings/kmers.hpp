// Strings of one length, of which a pass reads the k-mers at one position, many strings at a time.
//
// A k-mer is a number: its letters are digits, the first the most significant.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/parallel.hpp"

namespace cutplane::strings {

inline constexpr std::uint8_t kUnknown =
    254;  // codes of letters: unknown to the alphabet, but allowed
inline constexpr std::uint8_t kInvalid = 255;  // and not allowed

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

// out[i] = letters[i], then out[i] * alphabet + letters[i]: k-mers letter by letter.
void first_letter(const std::uint8_t* letters, index_t n, std::uint32_t* out);
void append_letter(const std::uint8_t* letters, index_t n, std::uint32_t alphabet,
                   std::uint32_t* out);

}  // namespace cutplane::strings
