#include "core/strings/windows.hpp"

#include <algorithm>

namespace cutplane::strings {

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
  const std::uint8_t* first = known_.data() + begin + position;
  first_letter(first, end - begin, out);
  for (index_t k = 1; k < order; ++k)
    append_letter(first + k, end - begin, static_cast<std::uint32_t>(alphabet_), out);
}

void Windows::letters(index_t string, std::uint8_t* out) const {
  std::copy_n(codes_.data() + string, length_, out);
}

}  // namespace cutplane::strings
