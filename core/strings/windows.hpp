// The windows of one long string, which begin at every letter, as strings of one length: none of
// them is cut out.
#pragma once

#include <vector>

#include "core/strings/kmers.hpp"

namespace cutplane::strings {

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

}  // namespace cutplane::strings
