// Numbers for names, in the order in which they are first met.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

struct NameNumbers {
  std::vector<std::int32_t> numbers;  // of each name
  std::vector<index_t> firsts;        // where each number's name comes first
};

// Ensures: the same for any number of threads.
NameNumbers number_names(std::span<const std::string_view> names, int n_threads);

}  // namespace cutplane
