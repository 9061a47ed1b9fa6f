// Labels that are whole numbers close to each other, told apart by a table: threaded sweeps.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// Between what labels lie, and whether all are whole numbers. With NaN among them they are not.
struct LabelRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool whole = true;
};

// T: int8, uint8, int32, int64, float or double.
template <class T>
LabelRange label_range(const T* y, index_t n, int n_threads);

// seen[y - low] = 1 for every label.
template <class T>
void mark_labels(const T* y, index_t n, std::int64_t low, std::uint8_t* seen, index_t range,
                 int n_threads);

// codes = table[y - low]. Code: int8, int16 or int32.
template <class T, class Code>
void code_labels(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes,
                 int n_threads);

// +1 where a code is that of the class, else -1.
template <class Code>
void sign_codes(const Code* codes, index_t n, Code positive, std::int8_t* signs, int n_threads);

// Numbers for names, in the order in which they are first met.
struct NameNumbers {
  std::vector<std::int32_t> numbers;  // of each name
  std::vector<index_t> firsts;        // where each number's name comes first
};

// Ensures: the same for any number of threads.
NameNumbers number_names(std::span<const std::string_view> names, int n_threads);

}  // namespace cutplane
