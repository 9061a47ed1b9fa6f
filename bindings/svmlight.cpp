#include "core/text/svmlight.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "bindings/bind.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using svmlight::Fault;
using svmlight::GrowingArray;
using svmlight::IndexArray;
using svmlight::Options;
using svmlight::Reader;

template <class T>
nb::object taken(GrowingArray<T>& values) {
  auto owned = std::make_unique<GrowingArray<T>>(std::move(values));
  T* data = owned->data();
  const std::size_t size = owned->size();
  return nb::cast(Array1<T>(data, {size}, capsule_of(std::move(owned))));
}

nb::object taken(IndexArray& values) {
  return std::visit([](auto& items) { return taken(items); }, values.items);
}

svmlight::Base parse_base(const std::string& name) {
  if (name == "auto") return svmlight::Base::automatic;
  if (name == "zero") return svmlight::Base::zero;
  if (name == "one") return svmlight::Base::one;
  throw std::invalid_argument("base must be auto, zero or one, not " + name);
}

// Runs body() without the GIL. None, or (line, column, token, wanted).
template <class Body>
nb::object fault_of(Body&& body) {
  std::optional<Fault> fault;
  {
    nb::gil_scoped_release release;
    fault = body();
  }
  if (!fault) return nb::none();
  return nb::make_tuple(fault->line, fault->column,
                        nb::bytes(fault->token.data(), fault->token.size()), fault->wanted);
}

constexpr auto fault_signature_note =
    "Returns None, or (line, column, token, wanted) for the first malformed line.";

template <class Value>
void bind_reader(nb::module_& m, const char* name) {
  using R = Reader<Value>;
  nb::class_<R>(m, name, "Builds CSR arrays from blocks of svmlight text.")
      .def(
          "__init__",
          [](R* self, const std::string& base, std::optional<index_t> n_features, int n_threads,
             index_t chunk_bytes, index_t narrow_limit) {
            new (self)
                R(Options{parse_base(base), n_features, n_threads, chunk_bytes, narrow_limit});
          },
          "base"_a, "n_features"_a.none(), "n_threads"_a, "chunk_bytes"_a = Options{}.chunk_bytes,
          "narrow_limit"_a = Options{}.narrow_limit)
      .def(
          "feed",
          [](R& self, Vector<const std::uint8_t> block) {
            const auto* text = reinterpret_cast<const char*>(block.data());
            return fault_of([&] { return self.feed({text, block.size()}); });
          },
          "block"_a, fault_signature_note)
      .def(
          "finish", [](R& self) { return fault_of([&] { return self.finish(); }); },
          fault_signature_note)
      .def(
          "take",
          [](R& self) {
            auto& examples = self.examples();
            nb::object qid = self.has_qid() ? taken(examples.qids) : nb::none();
            return nb::make_tuple(taken(examples.values), taken(examples.indices),
                                  taken(examples.indptr), taken(examples.labels), qid,
                                  examples.n_features);
          },
          nb::sig("def take(self) -> tuple[typing.Any, ...]"),
          "Once, after finish: (values, indices, indptr, labels, qid or None, n_features).");
}

template <class Value, class Index>
nb::typed<nb::list, nb::bytes> format_rows(Vector<const Value> values, Vector<const Index> indices,
                                           Vector<const Index> indptr, Vector<const double> labels,
                                           std::optional<Vector<const std::int64_t>> qid,
                                           index_t first_index, int n_threads) {
  const auto span = [](const auto& array) { return std::span(array.data(), array.size()); };
  if (indptr.size() != labels.size() + 1 || values.size() != indices.size() ||
      (qid && qid->size() != labels.size()))
    throw std::invalid_argument("format_rows: array lengths do not belong together");
  svmlight::Rows<Value, Index> rows{span(values), span(indices), span(indptr), span(labels), {}};
  if (qid) rows.qids = span(*qid);
  std::vector<GrowingArray<char>> pieces;
  {
    nb::gil_scoped_release release;
    pieces = svmlight::format_rows(rows, first_index, n_threads);
  }
  nb::typed<nb::list, nb::bytes> texts;
  for (auto& piece : pieces) texts.append(nb::bytes(piece.data(), piece.size()));
  return texts;
}

template <class Value, class Index>
void bind_format_rows(nb::module_& m) {
  m.def("svmlight_format_rows", &format_rows<Value, Index>, "values"_a, "indices"_a, "indptr"_a,
        "labels"_a, "qid"_a.none(), "first_index"_a, "n_threads"_a,
        "Rows as svmlight text, in pieces; indptr holds offsets into the whole values.");
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  bind_reader<float>(m, "SvmlightReader32");
  bind_reader<double>(m, "SvmlightReader64");
  bind_format_rows<float, std::int32_t>(m);
  bind_format_rows<float, std::int64_t>(m);
  bind_format_rows<double, std::int32_t>(m);
  bind_format_rows<double, std::int64_t>(m);
}

}  // namespace cutplane::bind
