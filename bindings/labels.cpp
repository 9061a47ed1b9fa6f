#include "core/base/labels.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bindings/bind.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Marked = std::pair<std::int64_t, Array1<std::uint8_t>>;

// What body returns, given a label of the type.
template <class Body>
auto by_label_type(const AnyVector& y, const Body& body) {
  return by_type<std::int8_t, std::uint8_t, std::int32_t, std::int64_t, float, double>(y.dtype(),
                                                                                       body);
}
template <class Body>
auto by_code_type(const AnyVector& codes, const Body& body) {
  return by_type<std::int8_t, std::int16_t, std::int32_t>(codes.dtype(), body);
}

// The least label and which of those from there on occur; none where labels are no whole numbers
// within a range of that size.
std::optional<Marked> marked_labels(const AnyVector& y, index_t most, int n_threads) {
  constexpr double kExact = 9007199254740992.0;  // whole numbers up to here are doubles
  const auto n = static_cast<index_t>(y.size());
  return by_label_type(y, [&]<class T>(T) -> std::optional<Marked> {
    const T* labels = numbers_of<T>(y);
    const LabelRange range = released([&] { return label_range(labels, n, n_threads); });
    // Also false for NaN, and where there are no labels.
    if (!(range.whole && range.low > -kExact && range.high < kExact &&
          range.high - range.low < static_cast<double>(most)))
      return std::nullopt;
    const auto low = static_cast<std::int64_t>(range.low);
    const auto size = static_cast<index_t>(range.high - range.low) + 1;
    Array1<std::uint8_t> seen = new_array<std::uint8_t>(static_cast<std::size_t>(size));
    std::fill_n(seen.data(), size, std::uint8_t{0});
    released([&] { mark_labels(labels, n, low, seen.data(), size, n_threads); });
    return Marked(low, std::move(seen));
  });
}

void coded_into(const AnyVector& y, std::int64_t low, const AnyVector& table,
                const nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>& codes,
                int n_threads) {
  if (codes.size() != y.size()) throw std::invalid_argument("a code for each label is needed");
  if (codes.dtype() != table.dtype()) throw nb::type_error("arrays of one type are needed");
  const auto n = static_cast<index_t>(y.size());
  by_label_type(y, [&]<class T>(T) {
    by_code_type(table, [&]<class Code>(Code) {
      auto* out = static_cast<Code*>(codes.data());
      released(
          [&] { code_labels(numbers_of<T>(y), n, low, numbers_of<Code>(table), out, n_threads); });
    });
  });
}

Array1<std::int8_t> signs(const AnyVector& codes, int positive, int n_threads) {
  Array1<std::int8_t> found = new_array<std::int8_t>(codes.size());
  by_code_type(codes, [&]<class Code>(Code) {
    released([&] {
      sign_codes(numbers_of<Code>(codes), static_cast<index_t>(codes.size()),
                 static_cast<Code>(positive), found.data(), n_threads);
    });
  });
  return found;
}

}  // namespace

void bind_labels(nb::module_& m) {
  m.def("marked_labels", &marked_labels, "y"_a.noconvert(), "most"_a, "n_threads"_a = 0,
        "The least label, and which of those from there on occur; None for other than whole "
        "numbers within a range of `most`.");
  m.def("code_labels", &coded_into, "y"_a.noconvert(), "low"_a, "table"_a.noconvert(),
        "codes"_a.noconvert(), "n_threads"_a = 0,
        "codes = table[y - low]; labels must have been marked.");
  m.def("signs", &signs, "codes"_a.noconvert(), "positive"_a, "n_threads"_a = 0,
        "+1 where a code is that of the class, else -1.");
}

}  // namespace cutplane::bind
