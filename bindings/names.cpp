#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "bindings/bind.hpp"
#include "core/text/name_numbers.hpp"

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

}  // namespace

void bind_names(nb::module_& m) {
  m.def("number_tokens", &number_tokens, "sequences"_a, "n_threads"_a,
        "Ends of the tokens, numbers of their names in the order first met, and the names; None "
        "unless all are lists or tuples of strings.");
}

}  // namespace cutplane::bind
