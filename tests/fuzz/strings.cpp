// Any bytes as strings of one length over an alphabet: packed letters are those of the text, chosen
// strings stay themselves, and k-mers are made of the letters, of packed strings and of windows.
//
// The first three bytes are the alphabet, the length and the order of k-mers; the rest is the text.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/strings/packed.hpp"

namespace {

using namespace cutplane;
using namespace cutplane::strings;

using Bytes = std::vector<std::uint8_t>;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// By the byte's rest: a letter, an unknown one (one in 64), an invalid one (one in 64).
std::array<std::uint8_t, 256> codes_of(index_t alphabet) {
  std::array<std::uint8_t, 256> codes{};
  for (int byte = 0; byte < 256; ++byte) {
    codes[byte] = static_cast<std::uint8_t>(byte % alphabet);
    if (byte % 64 == 62) codes[byte] = kUnknown;
    if (byte % 64 == 63) codes[byte] = kInvalid;
  }
  return codes;
}

std::uint32_t kmer(const std::uint8_t* letters, index_t order, index_t alphabet) {
  std::uint32_t number = 0;
  for (index_t k = 0; k < order; ++k) {
    number =
        number * static_cast<std::uint32_t>(alphabet) + (letters[k] == kUnknown ? 0 : letters[k]);
  }
  return number;
}

void check_letters(const Strings& strings, const Bytes& wanted, index_t order, index_t alphabet) {
  const index_t length = strings.length();
  Bytes letters(static_cast<std::size_t>(length));
  std::vector<std::int64_t> with_unknown;
  for (index_t i = 0; i < strings.count(); ++i) {
    strings.letters(i, letters.data());
    const auto* mine = wanted.data() + i * length;
    require(std::equal(letters.begin(), letters.end(), mine), "letters are those of the text");
    if (std::find(mine, mine + length, kUnknown) != mine + length) with_unknown.push_back(i);
  }
  require(std::ranges::equal(strings.with_unknown(), with_unknown), "unknown letters are listed");
  if (strings.count() == 0) return;
  std::vector<std::uint32_t> found(static_cast<std::size_t>(strings.count()));
  for (index_t position = 0; position + order <= length; ++position) {
    strings.read(position, order, 0, strings.count(), found.data());
    for (index_t i = 0; i < strings.count(); ++i) {
      require(found[i] == kmer(wanted.data() + i * length + position, order, alphabet),
              "k-mers are made of the letters");
    }
  }
}

Packed view(const Layout& layout, index_t alphabet, const Bytes& data, const PackOutcome& found) {
  return {layout, alphabet, data.data(), {found.strings, found.begin, found.positions}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const index_t alphabet = 2 + data[0] % 24;
  const index_t length = 1 + data[1] % 40;
  const index_t most = alphabet <= 4 ? 13 : 6;  // what fits 32 bits
  const index_t order = 1 + data[2] % std::min(length, most);
  const bool quarters = alphabet <= 4;
  const std::uint8_t* const text = data + 3;
  const Layout layout{static_cast<index_t>(size - 3) / length, length, quarters};
  const auto codes = codes_of(alphabet);

  Bytes packed(static_cast<std::size_t>(layout.bytes()));
  const PackOutcome outcome = pack(text, layout, codes.data(), packed.data(), 1);
  Bytes wanted;
  for (index_t k = 0; k < layout.count * length; ++k) wanted.push_back(codes[text[k]]);
  const auto invalid = std::find(wanted.begin(), wanted.end(), kInvalid) - wanted.begin();
  if (invalid < std::ssize(wanted)) {
    require(outcome.wrong_string == invalid / length && outcome.wrong_position == invalid % length,
            "the first invalid letter is named");
    return 0;
  }
  require(outcome.wrong_string == -1, "no letter is invalid");
  const Packed strings = view(layout, alphabet, packed, outcome);
  check_letters(strings, wanted, order, alphabet);

  // Every second string, in reverse.
  std::vector<std::int64_t> chosen;
  Bytes wanted_of_chosen;
  for (index_t i = layout.count - 1; i >= 0; i -= 2) {
    chosen.push_back(i);
    wanted_of_chosen.insert(wanted_of_chosen.end(), wanted.begin() + i * length,
                            wanted.begin() + (i + 1) * length);
  }
  const Layout fewer{std::ssize(chosen), length, quarters};
  Bytes gathered(static_cast<std::size_t>(fewer.bytes()));
  gather(strings, chosen, fewer, gathered.data(), 1);
  const PackOutcome unknown = gather_unknown(strings, chosen);
  check_letters(view(fewer, alphabet, gathered, unknown), wanted_of_chosen, order, alphabet);

  if (std::ssize(wanted) >= length) {
    const Windows windows(wanted.data(), std::ssize(wanted), length, alphabet);
    Bytes of_windows;
    for (index_t i = 0; i < windows.count(); ++i) {
      of_windows.insert(of_windows.end(), wanted.begin() + i, wanted.begin() + i + length);
    }
    check_letters(windows, of_windows, order, alphabet);
  }
  return 0;
}
