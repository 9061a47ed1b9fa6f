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

// The least label and which of those from there on occur; none where labels are no whole numbers
// within a range of that size.
template <class T>
std::optional<Marked> marked_labels(Vector<const T> y, index_t most, int n_threads) {
  constexpr double kExact = 9007199254740992.0;  // whole numbers up to here are doubles
  const auto n = static_cast<index_t>(y.size());
  LabelRange range;
  {
    nb::gil_scoped_release release;
    range = label_range(y.data(), n, n_threads);
  }
  // Also false for NaN, and where there are no labels.
  if (!(range.whole && range.low > -kExact && range.high < kExact &&
        range.high - range.low < static_cast<double>(most)))
    return std::nullopt;
  const auto low = static_cast<std::int64_t>(range.low);
  const auto size = static_cast<index_t>(range.high - range.low) + 1;
  Array1<std::uint8_t> seen = new_array<std::uint8_t>(static_cast<std::size_t>(size));
  nb::gil_scoped_release release;
  std::fill_n(seen.data(), size, std::uint8_t{0});
  mark_labels(y.data(), n, low, seen.data(), size, n_threads);
  return Marked(low, std::move(seen));
}

template <class T, class Code>
void coded_into(Vector<const T> y, std::int64_t low, Vector<const Code> table, Vector<Code> codes,
                int n_threads) {
  if (codes.size() != y.size()) throw std::invalid_argument("a code for each label is needed");
  nb::gil_scoped_release release;
  code_labels(y.data(), static_cast<index_t>(y.size()), low, table.data(), codes.data(), n_threads);
}

template <class T, class... Codes>
void bind_labels_of(nb::module_& m) {
  m.def("marked_labels", &marked_labels<T>, "y"_a.noconvert(), "most"_a, "n_threads"_a = 0,
        "The least label, and which of those from there on occur; None for other than whole "
        "numbers within a range of `most`.");
  (m.def("code_labels", &coded_into<T, Codes>, "y"_a.noconvert(), "low"_a, "table"_a.noconvert(),
         "codes"_a.noconvert(), "n_threads"_a = 0,
         "codes = table[y - low]; labels must have been marked."),
   ...);
}

template <class Code>
Array1<std::int8_t> signs(Vector<const Code> codes, int positive, int n_threads) {
  Array1<std::int8_t> found = new_array<std::int8_t>(codes.size());
  nb::gil_scoped_release release;
  sign_codes(codes.data(), static_cast<index_t>(codes.size()), static_cast<Code>(positive),
             found.data(), n_threads);
  return found;
}

template <class... Codes>
void bind_codes(nb::module_& m) {
  bind_labels_of<std::int8_t, Codes...>(m);
  bind_labels_of<std::uint8_t, Codes...>(m);
  bind_labels_of<std::int32_t, Codes...>(m);
  bind_labels_of<std::int64_t, Codes...>(m);
  bind_labels_of<float, Codes...>(m);
  bind_labels_of<double, Codes...>(m);
  (m.def("signs", &signs<Codes>, "codes"_a.noconvert(), "positive"_a, "n_threads"_a = 0,
         "+1 where a code is that of the class, else -1."),
   ...);
}

}  // namespace

void bind_labels(nb::module_& m) { bind_codes<std::int8_t, std::int16_t, std::int32_t>(m); }

}  // namespace cutplane::bind
