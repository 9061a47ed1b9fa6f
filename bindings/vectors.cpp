#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "core/base/labels.hpp"
#include "core/base/vectors.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Names = nb::typed<nb::list, nb::str>;

// Calls body(item) for each of a list or a tuple until it says false; false then, and for others.
template <class Body>
bool each_item(PyObject* items, const Body& body) {
  const bool is_list = PyList_CheckExact(items);
  if (!is_list && !PyTuple_CheckExact(items)) return false;
  const Py_ssize_t size = is_list ? PyList_Size(items) : PyTuple_Size(items);
  for (Py_ssize_t j = 0; j < size; ++j)
    if (!body(is_list ? PyList_GetItem(items, j) : PyTuple_GetItem(items, j))) return false;
  return true;
}

// The GIL is kept all the time: nobody may change the lists, and the strings stay where they are.
std::optional<std::tuple<Array1<std::int64_t>, Array1<std::int32_t>, Names>> number_tokens(
    nb::handle sequences, int n_threads) {
  // The names of all tokens, one after the other.
  std::vector<std::string_view> texts;
  std::vector<PyObject*> names;  // borrowed: the sequences hold them
  std::vector<std::int64_t> ends{0};
  const auto add_name = [&](PyObject* name) {
    if (!PyUnicode_CheckExact(name)) return false;
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name, &size);
    if (!text) {
      PyErr_Clear();  // half of a pair of surrogates: others can handle it
      return false;
    }
    texts.emplace_back(text, static_cast<std::size_t>(size));
    names.push_back(name);
    return true;
  };
  const auto add_token = [&](PyObject* token) {
    const bool plain = each_item(token, add_name);
    ends.push_back(std::ssize(texts));
    return plain;
  };
  if (!each_item(sequences.ptr(), [&](PyObject* each) { return each_item(each, add_token); }))
    return std::nullopt;
  NameNumbers numbered = number_names(texts, n_threads);
  Names firsts;
  for (const index_t first : numbered.firsts) firsts.append(nb::handle(names[first]));
  return std::tuple(to_numpy(std::move(ends)), to_numpy(std::move(numbered.numbers)), firsts);
}

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

using Weights = Vector<const double>;

// The one length of some vectors.
template <class A, class... Others>
index_t length(const A& a, const Others&... others) {
  if (((others.size() != a.size()) || ...))
    throw std::invalid_argument("vectors of one length are needed");
  return static_cast<index_t>(a.size());
}

template <class S>
void bind_move_along(nb::module_& m) {
  m.def(
      "move_along",
      [](const Vector<const S>& a, const Vector<S>& direction, double t, int n_threads) {
        const index_t n = length(a, direction);
        released([&] { move_along(a.data(), direction.data(), t, n, n_threads); });
      },
      "a"_a.noconvert(), "direction"_a.noconvert(), "t"_a, "n_threads"_a = 0,
      "a + t direction, written where the direction was.");
}

void mix_into(const Weights& a, const Weights& b, double t, const Vector<double>& out,
              int n_threads) {
  const index_t n = length(a, b, out);
  released([&] { mix(a.data(), b.data(), t, out.data(), n, n_threads); });
}

Array1<double> combined(const std::vector<Vector<const float>>& vectors, const Weights& weights,
                        std::size_t size, int n_threads) {
  if (vectors.size() != weights.size())
    throw std::invalid_argument("a weight for each vector is needed");
  Array1<double> out = new_array<double>(size);
  std::vector<const float*> starts;
  for (const auto& vector : vectors) {
    length(out, vector);
    starts.push_back(vector.data());
  }
  released([&] {
    combine(starts.data(), weights.data(), static_cast<index_t>(starts.size()), out.data(),
            static_cast<index_t>(size), n_threads);
  });
  return out;
}

}  // namespace

void bind_vectors(nb::module_& m) {
  m.def(
      "mix",
      [](const Weights& a, const Weights& b, double t, int n_threads) {
        length(a, b);
        Array1<double> out = new_array<double>(a.size());
        released([&] { mix(a.data(), b.data(), t, out.data(), length(a), n_threads); });
        return out;
      },
      "a"_a, "b"_a, "t"_a, "n_threads"_a = 0, "a + t (b - a).");
  m.def("mix_into", &mix_into, "a"_a, "b"_a, "t"_a, "out"_a, "n_threads"_a = 0,
        "a + t (b - a), written to out: a or b themselves, if these are done with.");
  m.def(
      "scale_and_shift",
      [](const Weights& a, double factor, double shift, const Vector<double>& out, int n_threads) {
        const index_t n = length(a, out);
        released([&] { scale_and_shift(a.data(), factor, shift, out.data(), n, n_threads); });
      },
      "a"_a, "factor"_a, "shift"_a, "out"_a, "n_threads"_a = 0,
      "factor a + shift, written to out, which may be a.");
  m.def(
      "mass",
      [](const Weights& a, int n_threads) {
        const Sides found = released([&] { return sides(a.data(), length(a), n_threads); });
        return found.positive - found.negative;
      },
      "a"_a, "n_threads"_a = 0, "The sizes of all entries, added up.");
  m.def(
      "square",
      [](const Weights& a, double factor, int n_threads) {
        return released([&] { return square(a.data(), factor, length(a), n_threads); });
      },
      "a"_a, "factor"_a = 1.0, "n_threads"_a = 0,
      "|factor a|^2, by groups of 64 whose sums lose next to nothing.");
  m.def(
      "square_of_sum",
      [](const Weights& a, const Weights& b, double factor, int n_threads) {
        const index_t n = length(a, b);
        return released([&] { return square_of_sum(a.data(), b.data(), factor, n, n_threads); });
      },
      "a"_a, "b"_a, "factor"_a, "n_threads"_a = 0, "|a + factor b|^2, likewise.");
  m.def(
      "sized",
      [](const Weights& sizes, const Weights& w, int n_threads) {
        const index_t n = length(sizes), all = length(w);
        if (n == 0 ? all != 0 : all % n != 0)
          throw std::invalid_argument("as many weights of each size are needed");
        return released(
            [&] { return all == 0 ? 0.0 : sized(sizes.data(), w.data(), n, all / n, n_threads); });
      },
      "sizes"_a, "w"_a, "n_threads"_a = 0,
      "Sizes of weights times these sizes, added up: of each as many weights in turn.");
  m.def(
      "balanced",
      [](const Weights& a, int n_threads) {
        Array1<double> out = new_array<double>(a.size());
        released([&] { balance(a.data(), out.data(), length(a), n_threads); });
        return out;
      },
      "a"_a, "n_threads"_a = 0,
      "a with the heavier of its two sides scaled down until entries sum to zero.");
  m.def(
      "nonzero",
      [](const Weights& a, int n_threads) {
        return to_numpy(released([&] { return nonzero(a.data(), length(a), n_threads); }));
      },
      "a"_a, "n_threads"_a = 0, "The positions of the entries that are not zero, ascending.");
  bind_move_along<float>(m);
  bind_move_along<double>(m);
  m.def("combine", &combined, "vectors"_a, "weights"_a, "size"_a, "n_threads"_a = 0,
        "The weighted sum of vectors of single precision, in double precision.");
  m.def(
      "inner",
      [](const Weights& a, const Weights& b, int n_threads) {
        const index_t n = length(a, b);
        return released([&] { return inner(a.data(), b.data(), n, n_threads); });
      },
      "a"_a, "b"_a, "n_threads"_a = 0, "<a, b>.");
  m.def(
      "along",
      [](const Weights& a, const Weights& b, int n_threads) {
        const index_t n = length(a, b);
        const Along sums = released([&] { return along(a.data(), b.data(), n, n_threads); });
        return std::make_pair(sums.square, sums.slope);
      },
      "a"_a, "b"_a, "n_threads"_a = 0, "|b - a|^2 and <a, b - a>.");
  m.def("marked_labels", &marked_labels, "y"_a.noconvert(), "most"_a, "n_threads"_a = 0,
        "The least label, and which of those from there on occur; None for other than whole "
        "numbers within a range of `most`.");
  m.def("code_labels", &coded_into, "y"_a.noconvert(), "low"_a, "table"_a.noconvert(),
        "codes"_a.noconvert(), "n_threads"_a = 0,
        "codes = table[y - low]; labels must have been marked.");
  m.def("signs", &signs, "codes"_a.noconvert(), "positive"_a, "n_threads"_a = 0,
        "+1 where a code is that of the class, else -1.");
  m.def("number_tokens", &number_tokens, "sequences"_a, "n_threads"_a,
        "Ends of the tokens, numbers of their names in the order first met, and the names; None "
        "unless all are lists or tuples of strings.");
}

}  // namespace cutplane::bind
