#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/bind.hpp"
#include "core/strings/features.hpp"
#include "core/strings/packed.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using namespace cutplane::strings;

using Bytes = Vector<const std::uint8_t>;
using Scales = std::vector<std::optional<Vector<const double>>>;

Array1<std::uint8_t> new_bytes(index_t size) {
  return new_array<std::uint8_t>(static_cast<std::size_t>(size));
}

// (strings, begin, positions) of unknown letters
auto unknown_lists(PackOutcome&& found) {
  return std::make_tuple(to_numpy(std::move(found.strings)), to_numpy(std::move(found.begin)),
                         to_numpy(std::move(found.positions)));
}

// Without a product that could overflow: the numbers may come from a damaged file.
bool fits(const Layout& layout, std::size_t bytes) {
  const auto size = static_cast<index_t>(bytes);
  if (layout.count == 0) return size == 0;
  return layout.length <= 4 * size && size % layout.count == 0 &&
         size / layout.count == layout.columns();
}

// Other codes would make k-mers beyond the tables that passes look them up in.
bool all_letters(const Bytes& data, index_t alphabet, bool quarters) {
  std::array<bool, 256> wrong{};
  for (index_t byte = 0; byte < 256; ++byte) {
    wrong[byte] =
        quarters ? std::max({byte >> 6, (byte >> 4) & 3, (byte >> 2) & 3, byte & 3}) >= alphabet
                 : byte >= alphabet;
  }
  if (quarters && alphabet == 4) return true;
  bool any = false;
  for (std::size_t k = 0; k < data.size(); ++k) any |= wrong[data.data()[k]];
  return !any;
}

// Strings together with the arrays they lie on.
struct PyStrings {
  std::unique_ptr<Strings> strings;
  index_t alphabet;
  nb::object owners;
};

struct PyPacked : PyStrings {
  PyPacked(Bytes data, index_t count, index_t length, index_t alphabet, bool quarters,
           Vector<const std::int64_t> strings, Vector<const std::int64_t> begin,
           Vector<const std::int32_t> positions) {
    const Layout layout{count, length, quarters};
    require(count >= 0 && length >= 1 && alphabet >= 2 && (!quarters || alphabet <= 4),
            "a packed string needs a length and an alphabet of two letters or more");
    require(fits(layout, data.size()), "the bytes are not those of that many strings");
    require(all_letters(data, alphabet, quarters), "a byte of the strings is none of a letter");
    require(begin.size() == strings.size() + 1, "lists of unknown letters do not fit together");
    for (std::size_t k = 0; k < strings.size(); ++k)
      require(strings.data()[k] >= 0 && strings.data()[k] < count &&
                  (k == 0 || strings.data()[k] > strings.data()[k - 1]) && begin.data()[k] >= 0 &&
                  begin.data()[k] <= begin.data()[k + 1],
              "lists of unknown letters do not fit together");
    require(begin.data()[strings.size()] <= static_cast<std::int64_t>(positions.size()),
            "lists of unknown letters do not fit together");
    for (std::size_t k = 0; k < positions.size(); ++k)
      require(positions.data()[k] >= 0 && positions.data()[k] < length,
              "an unknown letter lies outside its string");
    this->alphabet = alphabet;
    owners = nb::make_tuple(data, strings, begin, positions);
    this->strings =
        std::make_unique<Packed>(layout, alphabet, data.data(),
                                 Unknown{span_of(strings), span_of(begin), span_of(positions)});
  }

  const Packed& packed() const { return static_cast<const Packed&>(*strings); }

  auto gather(Vector<const std::int64_t> rows, int n_threads) const {
    for (std::size_t k = 0; k < rows.size(); ++k)
      require(rows.data()[k] >= 0 && rows.data()[k] < packed().layout.count,
              "a row position is out of range");
    const auto chosen = span_of(rows);
    const Layout layout{static_cast<index_t>(rows.size()), packed().layout.length,
                        packed().layout.quarters};
    Array1<std::uint8_t> out = new_bytes(layout.bytes());
    PackOutcome found = released([&] {
      strings::gather(packed(), chosen, layout, out.data(), n_threads);
      return gather_unknown(packed(), chosen);
    });
    return std::make_tuple(out, unknown_lists(std::move(found)));
  }
};

struct PyWindows : PyStrings {
  PyWindows(Bytes codes, index_t length, index_t alphabet) {
    require(length >= 1 && length <= static_cast<index_t>(codes.size()) && alphabet >= 2,
            "a window needs a length within the string and an alphabet of two letters or more");
    for (std::size_t k = 0; k < codes.size(); ++k)
      require(codes.data()[k] < alphabet || codes.data()[k] == kUnknown,
              "a code is none of a letter");
    this->alphabet = alphabet;
    strings = std::make_unique<Windows>(codes.data(), static_cast<index_t>(codes.size()), length,
                                        alphabet);
  }
};

Array1<std::uint8_t> letters(const PyStrings& self, index_t string) {
  require(string >= 0 && string < self.strings->count(), "there is no such string");
  Array1<std::uint8_t> out = new_bytes(self.strings->length());
  self.strings->letters(string, out.data());
  return out;
}

// (data, (string, position) of the first invalid letter, unknown letters)
auto pack_strings(nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> text,
                  Bytes codes, bool quarters, int n_threads) {
  require(codes.size() == 256, "one code per byte is needed");
  const Layout layout{static_cast<index_t>(text.shape(0)), static_cast<index_t>(text.shape(1)),
                      quarters};
  Array1<std::uint8_t> out = new_bytes(layout.bytes());
  PackOutcome found =
      released([&] { return pack(text.data(), layout, codes.data(), out.data(), n_threads); });
  const auto wrong = std::make_tuple(found.wrong_string, found.wrong_position);
  return std::make_tuple(out, wrong, unknown_lists(std::move(found)));
}

struct PyTables {
  std::vector<Tables> tables;
};

struct PyFeatures {
  using PartTuple = std::tuple<bool, index_t, index_t, std::vector<double>, index_t>;

  PyFeatures(index_t alphabet, index_t length, const std::vector<PartTuple>& described)
      : alphabet(alphabet), length(length) {
    require(alphabet >= 2 && alphabet <= 254 && length >= 1 && length < 65536,
            "an alphabet has 2 to 254 letters, a string 1 to 65535");
    std::vector<Part> parts;
    for (const auto& [positional, begin, end, values, group] : described) {
      parts.push_back({positional, begin, end, values, group});
      const index_t order = parts.back().order();
      require(begin >= 0 && end <= length && order >= 1 && order <= end - begin && group >= 0,
              "a part needs a window within the string and an order that fits into it");
      require(static_cast<double>(order) * std::log2(static_cast<double>(alphabet)) <= 24.0,
              "the alphabet's size to the power of the order must be at most 2^24");
    }
    require(!parts.empty(), "features need a part");
    features = std::make_unique<Features>(alphabet, length, std::move(parts));
  }

  void check(const PyStrings& of) const {
    require(of.strings->length() == length && of.alphabet == alphabet,
            "the strings have another length or alphabet than the features");
  }

  std::vector<const double*> pointers(const Scales& scales, index_t count) const {
    require(static_cast<index_t>(scales.size()) == features->groups(),
            "one scale per group is needed");
    std::vector<const double*> result;
    for (const auto& scale : scales) {
      require(!scale || static_cast<index_t>(scale->size()) == count,
              "one scale per string is needed");
      result.push_back(scale ? scale->data() : nullptr);
    }
    return result;
  }

  PyTables collapse(Vector<const double> w, int n_threads) const {
    require(static_cast<index_t>(w.size()) == features->dimension(),
            "one weight per feature is needed");
    return released([&] { return PyTables{features->collapse(w.data(), n_threads)}; });
  }

  void scores(const PyStrings& of, const PyTables& tables, Vector<const double> w,
              const Scales& scales, Vector<double> out, int n_threads) const {
    check(of);
    const Strings& strings = *of.strings;
    require(static_cast<index_t>(w.size()) == features->dimension() &&
                static_cast<index_t>(out.size()) == strings.count() &&
                static_cast<index_t>(tables.tables.size()) == features->groups(),
            "one weight per feature and one score per string are needed");
    const auto factors = pointers(scales, strings.count());
    nb::gil_scoped_release release;
    features->scores(strings, tables.tables, factors, out.data(), n_threads);
    const std::span<const std::int64_t> odd = strings.with_unknown();
    for_blocks(make_blocks(std::ssize(odd), 256, 64), n_threads,
               [&](index_t, index_t begin, index_t end) {
                 std::vector<std::uint8_t> letters(static_cast<std::size_t>(length));
                 for (const std::int64_t i : odd.subspan(begin, end - begin)) {
                   strings.letters(i, letters.data());
                   out.data()[i] = 0.0;
                   for (index_t g = 0; g < features->groups(); ++g)
                     out.data()[i] += (factors[g] ? factors[g][i] : 1.0) *
                                      features->score_one(letters.data(), g, w.data());
                 }
               });
  }

  Array1<double> combine(const PyStrings& of, Vector<const double> coef, const Scales& scales,
                         int n_threads) const {
    check(of);
    const Strings& strings = *of.strings;
    const index_t n = strings.count();
    require(static_cast<index_t>(coef.size()) == n, "one coefficient per string is needed");
    const auto factors = pointers(scales, n);
    Array1<double> out = sums->take(static_cast<std::size_t>(features->dimension()));
    nb::gil_scoped_release release;
    std::vector<double> known;
    const double* weights = coef.data();
    if (!strings.with_unknown().empty()) {
      known.assign(weights, weights + n);
      for (const std::int64_t i : strings.with_unknown()) known[i] = 0.0;
      weights = known.data();
    }
    features->combine(strings, weights, factors, out.data(), n_threads);
    std::vector<std::uint8_t> letters(static_cast<std::size_t>(length));
    for (const std::int64_t i : strings.with_unknown()) {
      if (coef.data()[i] == 0.0) continue;
      strings.letters(i, letters.data());
      for (index_t g = 0; g < features->groups(); ++g)
        features->add_one(letters.data(), g, coef.data()[i] * (factors[g] ? factors[g][i] : 1.0),
                          out.data());
    }
    return out;
  }

  Array1<double> squared_lengths(const PyStrings& of, index_t group, int n_threads) const {
    check(of);
    require(group >= 0 && group < features->groups(), "there is no such group");
    std::vector<double> out(static_cast<std::size_t>(of.strings->count()));
    {
      nb::gil_scoped_release release;
      if (const auto* windows = dynamic_cast<const Windows*>(of.strings.get())) {
        features->squared_lengths(*windows, group, out.data(), n_threads);
      } else {
        features->squared_lengths(*of.strings, group, out.data(), n_threads);
      }
    }
    return to_numpy(std::move(out));
  }

  auto occurring(const PyStrings& of) const {
    check(of);
    require(features->groups() == 1, "features that are scaled together are needed");
    Occurring found = released([&] { return features->occurring(*of.strings); });
    const auto entries = static_cast<std::size_t>(found.begin.back());
    return std::make_tuple(to_numpy(std::move(found.begin)),
                           to_numpy(std::move(found.columns), entries),
                           to_numpy(std::move(found.values)), to_numpy(std::move(found.features)),
                           to_numpy(std::move(found.homes)), to_numpy(std::move(found.factors)));
  }

  index_t alphabet, length;
  std::unique_ptr<Features> features;
  std::shared_ptr<Buffers> sums = std::make_shared<Buffers>();
};

}  // namespace

void bind_strings(nb::module_& m) {
  m.def("pack_strings", &pack_strings, "text"_a, "codes"_a, "quarters"_a, "n_threads"_a = 0,
        "Strings of one length as packed bytes, the place of the first invalid letter, and the "
        "unknown letters.");
  nb::class_<PyStrings>(m, "Strings", "Strings of one length.")
      .def("letters", &letters, "string"_a, "The codes of one string's letters.")
      .def_prop_ro("count", [](const PyStrings& self) { return self.strings->count(); });
  nb::class_<PyWindows, PyStrings>(m, "StringWindows", "The windows of one long string.")
      .def(nb::init<Bytes, index_t, index_t>(), "codes"_a, "length"_a, "alphabet"_a);
  nb::class_<PyPacked, PyStrings>(m, "PackedStrings",
                                  "Packed strings; the bytes are used where they lie.")
      .def(nb::init<Bytes, index_t, index_t, index_t, bool, Vector<const std::int64_t>,
                    Vector<const std::int64_t>, Vector<const std::int32_t>>(),
           "data"_a, "count"_a, "length"_a, "alphabet"_a, "quarters"_a, "unknown_strings"_a,
           "unknown_begin"_a, "unknown_positions"_a)
      .def("gather", &PyPacked::gather, "rows"_a, "n_threads"_a = 0,
           "Some of the strings, packed anew.");
  nb::class_<PyTables>(m, "KmerTables", "Weights of features by position and longest k-mer.");
  nb::class_<PyFeatures>(m, "StringFeatures", "Spectrum and weighted-degree features as a map.")
      .def(nb::init<index_t, index_t, const std::vector<PyFeatures::PartTuple>&>(), "alphabet"_a,
           "length"_a, "parts"_a)
      .def_prop_ro("dimension", [](const PyFeatures& self) { return self.features->dimension(); })
      .def_prop_ro("lookups", [](const PyFeatures& self) { return self.features->lookups(); })
      .def("collapse", &PyFeatures::collapse, "w"_a, "n_threads"_a = 0)
      .def("scores", &PyFeatures::scores, "strings"_a, "tables"_a, "w"_a, "scales"_a, "out"_a,
           "n_threads"_a = 0)
      .def("combine", &PyFeatures::combine, "strings"_a, "coef"_a, "scales"_a, "n_threads"_a = 0)
      .def("occurring", &PyFeatures::occurring, "strings"_a,
           "Where entries begin, their columns, values of columns; features, their columns and "
           "factors.")
      .def("squared_lengths", &PyFeatures::squared_lengths, "strings"_a, "group"_a,
           "n_threads"_a = 0);
}

}  // namespace cutplane::bind
