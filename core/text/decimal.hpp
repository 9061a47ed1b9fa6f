// Decimal text to the nearest float or double, ties to even.
//
// A number with at most 19 significant digits and a scale of 10^-27 to 1, which is nearly every
// number in a data file, is converted here by one exact integer division; the rest go to
// std::from_chars.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "core/base/multiversion.hpp"

namespace cutplane::decimal {

enum class Status { ok, malformed, out_of_range };

namespace detail {

using Wide = unsigned __int128;

inline constexpr int max_scale = 27;        // 5^27 < 2^63
inline constexpr int max_digits = 19;       // 10^19 < 2^64
inline constexpr int max_exponent = 99999;  // beyond any float; larger exponents are cut to this

// 5^k scaled to have its top bit set, and its reciprocal.
struct Divisor {
  std::uint64_t scaled = 0;      // 5^k * 2^shift
  std::uint64_t reciprocal = 0;  // floor(2^127 / scaled)
  int shift = 0;
};

inline constexpr auto divisors = [] {
  std::array<Divisor, max_scale + 1> table{};
  std::uint64_t power = 1;
  for (int k = 1; k <= max_scale; ++k) {
    power *= 5;
    const int shift = std::countl_zero(power);
    const std::uint64_t scaled = power << shift;
    table[k] = {scaled, static_cast<std::uint64_t>((Wide{1} << 127) / scaled), shift};
  }
  return table;
}();

inline constexpr std::array<double, 23> powers_of_ten = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline constexpr std::array<std::uint64_t, 9> integer_powers_of_ten = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// The largest power of ten that T holds exactly.
template <class T>
inline constexpr int max_exact_power = std::is_same_v<T, float> ? 10 : 22;

template <class T>
inline constexpr std::uint64_t max_exact_integer =
    std::uint64_t{1} << std::numeric_limits<T>::digits;

// digits / 10^k for 1 <= k <= max_scale and digits > 0, correctly rounded. No branch depends on the
// number: in a file of long decimals such a branch would be guessed wrong every other time.
template <class T>
CUTPLANE_INLINE T divide_by_power_of_ten(std::uint64_t digits, int k) {
  const Divisor& divisor = divisors[k];
  const int shift = std::countl_zero(digits);
  const std::uint64_t scaled = digits << shift;
  // scaled * 2^62 / divisor.scaled. The reciprocal is short by less than 1, so this quotient is
  // right or one too small.
  auto quotient = static_cast<std::uint64_t>((Wide{scaled} * divisor.reciprocal) >> 65);
  const Wide remainder = (Wide{scaled} << 62) - Wide{quotient} * divisor.scaled;
  const bool too_small = remainder >= divisor.scaled;
  quotient += too_small;
  const bool inexact = remainder != (too_small ? divisor.scaled : 0);
  // The quotient has 62 or 63 bits. Marking an inexact one in its last bit ("round to odd") keeps
  // the conversion from seeing a tie where there is none, so rounding to T is the only rounding.
  const auto rounded = static_cast<T>(static_cast<std::int64_t>(quotient | inexact));
  const int exponent = divisor.shift - shift - k - 62;
  const auto power_of_two =
      std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return static_cast<T>(static_cast<double>(rounded) * power_of_two);
}

CUTPLANE_INLINE bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight digits, one per byte, the first in the lowest: into pairs, then fours, then one number.
CUTPLANE_INLINE std::uint64_t join_eight(std::uint64_t x) {
  x = x * 10 + (x >> 8);
  const std::uint64_t mask = 0x000000FF000000FF;
  return ((x & mask) * 0x000F424000000064 + ((x >> 16) & mask) * 0x0000271000000001) >> 32;
}

// The digits at p, one by one, and p behind them. Best for the short runs of indices and integer
// parts: their lengths repeat from line to line, so the processor guesses the loop's end and runs
// ahead.
CUTPLANE_INLINE void read_short_run(const char*& p, std::uint64_t& digits) {
  while (is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
}

// The same by eights. Best for fractions: how many digits they end with cannot be guessed, so the
// last few are taken in one step without a branch.
CUTPLANE_INLINE void read_long_run(const char*& p, const char* limit, std::uint64_t& digits) {
  while (limit - p >= 8) {
    std::uint64_t x;
    std::memcpy(&x, p, sizeof x);
    if constexpr (std::endian::native == std::endian::big) x = __builtin_bswap64(x);
    x ^= 0x3030303030303030;
    // The top bit of a byte is set if it is no digit; a carry disturbs only the bytes behind the
    // first such.
    const std::uint64_t others = ((x + 0x7676767676767676) | x) & 0x8080808080808080;
    if (others != 0) {
      const int count = std::countr_zero(others) / 8;
      // Zeros in front instead of what follows; in two shifts, since one by 64 would be undefined.
      x = (x << (56 - 8 * count)) << 8;
      digits = digits * integer_powers_of_ten[count] + join_eight(x);
      p += count;
      return;
    }
    digits = digits * integer_powers_of_ten[8] + join_eight(x);
    p += 8;
  }
  read_short_run(p, digits);
}

// What the fast way leaves: [begin, end) is known to be a well-formed unsigned number.
template <class T>
[[gnu::noinline]] inline Status convert_slowly(const char* begin, const char* end, bool below_one,
                                               T& value) {
  const auto result = std::from_chars(begin, end, value);
  if (result.ec == std::errc::result_out_of_range) {
    if (!below_one) return Status::out_of_range;
    value = 0;  // nearer to zero than to any other number
  }
  return std::isfinite(value) ? Status::ok : Status::out_of_range;
}

}  // namespace detail

// Read [+-]digits[.digits][e[+-]digits] at p and move p behind it. Requires a byte before `limit`
// that ends the number, a newline say; memory is read up to `limit`.
template <class T>
CUTPLANE_INLINE Status parse(const char*& p, const char* limit, T& value) {
  using namespace detail;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const begin = p;

  std::uint64_t digits = 0;  // of more than 19, the value is lost and only their number counts
  read_short_run(p, digits);
  std::int64_t n_digits = p - begin;
  std::int64_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    read_long_run(p, limit, digits);
    exponent = fraction - p;
    n_digits += p - fraction;
  }
  if (n_digits == 0) return Status::malformed;
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool minus = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    if (!is_digit(*p)) return Status::malformed;
    std::int64_t written = 0;
    for (; is_digit(*p); ++p)
      written = std::min<std::int64_t>(written * 10 + (*p - '0'), max_exponent);
    exponent += minus ? -written : written;
  }
  if (n_digits > max_digits) [[unlikely]] {
    for (const char* q = begin; *q == '0' || *q == '.'; ++q) n_digits -= *q == '0';
  }

  Status status = Status::ok;
  if (n_digits > max_digits) [[unlikely]] {
    status = convert_slowly(begin, p, n_digits + exponent <= 0, value);
  } else if (exponent == 0 || digits == 0) {
    value = static_cast<T>(digits);
  } else if (exponent < 0 && exponent >= -max_scale) {
    value = divide_by_power_of_ten<T>(digits, static_cast<int>(-exponent));
  } else if (exponent > 0 && exponent <= max_exact_power<T> && digits <= max_exact_integer<T>) {
    // Both factors are exact, and their product is far below the largest T.
    value = static_cast<T>(digits) * static_cast<T>(powers_of_ten[exponent]);
  } else {
    status = convert_slowly(begin, p, n_digits + exponent <= 0, value);
  }
  if (negative) value = -value;
  return status;
}

}  // namespace cutplane::decimal
