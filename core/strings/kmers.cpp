#include "core/strings/kmers.hpp"

#include "core/base/multiversion.hpp"

namespace cutplane::strings {

CUTPLANE_MULTIVERSION void append_letter(const std::uint8_t* letters, index_t n,
                                         std::uint32_t alphabet, std::uint32_t* out) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] = out[i] * alphabet + letters[i];
}

void first_letter(const std::uint8_t* letters, index_t n, std::uint32_t* out) {
  for (index_t i = 0; i < n; ++i) out[i] = letters[i];
}

}  // namespace cutplane::strings
