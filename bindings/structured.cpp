#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/bind.hpp"
#include "core/base/vectors.hpp"
#include "core/structured/chain.hpp"
#include "core/structured/chain_ascent.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;

// Sequences on the NumPy arrays they lie on.
struct PyChains {
  PyChains(Vector<const std::int64_t> starts, Vector<const std::int64_t> indptr,
           Vector<const std::int32_t> indices, std::optional<Vector<const double>> values,
           index_t features, index_t labels)
      : owners(nb::make_tuple(starts, indptr, indices, values)) {
    if (starts.shape(0) < 1 || indptr.shape(0) < 1 || features < 1 || labels < 1)
      throw std::invalid_argument("sequences, tokens, features and labels are needed");
    chains = {span_of(starts), span_of(indptr), span_of(indices), values ? values->data() : nullptr,
              features,        labels};
    check(values ? values->shape(0) : indices.shape(0));
  }

  void check(std::size_t values) const {
    const auto rises = [](std::span<const std::int64_t> ends, index_t last) {
      return ends.front() == 0 && ends.back() == last && std::is_sorted(ends.begin(), ends.end());
    };
    if (!rises(chains.starts, chains.tokens()) ||
        !rises(chains.indptr, std::ssize(chains.indices)) || values != chains.indices.size())
      throw std::invalid_argument("starts and indptr must rise from 0 to the end");
    for (const std::int32_t index : chains.indices)
      if (index < 0 || index >= chains.features)
        throw std::invalid_argument("a feature is out of range");
  }

  const double* checked(const Vector<const double>& w) const {
    require(static_cast<index_t>(w.shape(0)) == chains.weights(),
            "w must have a weight for every feature, transition and label");
    return w.data();
  }

  const label_t* checked(const Vector<const label_t>& labels) const {
    require(static_cast<index_t>(labels.shape(0)) == chains.tokens(),
            "one label per token is needed");
    for (const label_t label : span_of(labels))
      if (label < 0 || label >= chains.labels)
        throw std::invalid_argument("a label is out of range");
    return labels.data();
  }

  const double* checked_cost(const Vector<const double>& cost) const {
    require(static_cast<index_t>(cost.shape(0)) == chains.labels * chains.labels,
            "cost must have labels * labels entries");
    return cost.data();
  }

  const double* checked_each(const Vector<const double>& numbers) const {
    require(static_cast<index_t>(numbers.shape(0)) == chains.sequences(),
            "one number per sequence is needed");
    return numbers.data();
  }

  nb::object owners;
  Chains chains;
};

struct PyChainAscent {
  PyChainAscent(const PyChains& chains, Vector<const label_t> truth, Vector<const double> cost,
                double C, Vector<const double> factors, std::uint64_t seed)
      : owners(nb::make_tuple(nb::cast(chains), truth, cost)) {
    const label_t* labels = chains.checked(truth);
    const double* costs = chains.checked_cost(cost);
    chains.checked_each(factors);
    ascent = std::make_unique<ChainAscent>(chains.chains, labels, costs, C, span_of(factors), seed);
    weights = static_cast<std::size_t>(chains.chains.weights());
    sequences = static_cast<std::size_t>(chains.chains.sequences());
  }

  nb::object owners;
  std::unique_ptr<ChainAscent> ascent;
  std::size_t weights, sequences;
};

Array1<label_t> label(const PyChains& self, Vector<const double> w,
                      std::optional<Vector<const label_t>> truth,
                      std::optional<Vector<const double>> cost, int n_threads) {
  const double* weights = self.checked(w);
  const label_t* right = truth ? self.checked(*truth) : nullptr;
  const double* costs = truth && cost ? self.checked_cost(*cost) : nullptr;
  std::vector<label_t> out(static_cast<std::size_t>(self.chains.tokens()));
  released([&] { label_chains(self.chains, weights, right, costs, out.data(), n_threads); });
  return to_numpy(std::move(out));
}

std::tuple<Array1<label_t>, Array1<double>, Array1<double>> search(const PyChains& self,
                                                                   Vector<const double> w,
                                                                   Vector<const label_t> truth,
                                                                   Vector<const double> cost,
                                                                   int n_threads) {
  const double* weights = self.checked(w);
  const label_t* right = self.checked(truth);
  const double* costs = self.checked_cost(cost);
  const auto n = static_cast<std::size_t>(self.chains.sequences());
  std::vector<label_t> labels(static_cast<std::size_t>(self.chains.tokens()));
  std::vector<double> heights(n), losses(n);
  released([&] {
    search_chains(self.chains, weights, right, costs, labels.data(), heights.data(), losses.data(),
                  n_threads);
  });
  return {to_numpy(std::move(labels)), to_numpy(std::move(heights)), to_numpy(std::move(losses))};
}

Array1<double> difference(const PyChains& self, Vector<const label_t> labels,
                          Vector<const label_t> truth, Vector<const double> coefs) {
  const label_t* found = self.checked(labels);
  const label_t* right = self.checked(truth);
  const double* each = self.checked_each(coefs);
  std::vector<double> sum(static_cast<std::size_t>(self.chains.weights()), 0.0);
  released([&] { add_difference(self.chains, found, right, each, sum.data()); });
  return to_numpy(std::move(sum));
}

Array1<double> features(const PyChains& self, Vector<const label_t> labels) {
  const label_t* given = self.checked(labels);
  std::vector<double> sum(static_cast<std::size_t>(self.chains.weights()), 0.0);
  released([&] { add_features(self.chains, given, sum.data()); });
  return to_numpy(std::move(sum));
}

// Fresh memory is met first by all threads: finding pages takes longer than filling them.
Array1<double> weights(PyChainAscent& self, int n_threads) {
  auto copy = new_array<double>(self.weights);
  const double* w = self.ascent->weights().data();
  released([&] { mix(w, w, 1.0, copy.data(), static_cast<index_t>(self.weights), n_threads); });
  return copy;
}

std::pair<Array1<double>, double> plane(PyChainAscent& self, int n_threads) {
  auto slope = new_array<double>(self.weights);
  const double offset = released([&] { return self.ascent->plane(slope.data(), n_threads); });
  return {slope, offset};
}

void blend(PyChainAscent& self, Vector<double> mean, double share, int n_threads) {
  require(mean.shape(0) == self.weights, "a mean has as many entries as there are weights");
  released([&] { self.ascent->blend(mean.data(), share, n_threads); });
}

void renew(PyChainAscent& self, Vector<const double> heights, int n_threads) {
  require(heights.shape(0) == self.sequences, "one height per sequence is needed");
  released([&] { self.ascent->renew(heights.data(), n_threads); });
}

}  // namespace

void bind_structured(nb::module_& m) {
  nb::class_<PyChains>(m, "Chains",
                       "Sequences of tokens with sparse features under a linear chain.")
      .def(nb::init<Vector<const std::int64_t>, Vector<const std::int64_t>,
                    Vector<const std::int32_t>, std::optional<Vector<const double>>, index_t,
                    index_t>(),
           "starts"_a, "indptr"_a, "indices"_a, "values"_a.none(), "features"_a, "labels"_a)
      .def("label", &label, "w"_a, "truth"_a.none(), "cost"_a.none(), "n_threads"_a)
      .def("search", &search, "w"_a, "truth"_a, "cost"_a, "n_threads"_a)
      .def("difference", &difference, "labels"_a, "truth"_a, "coefs"_a)
      .def("features", &features, "labels"_a);
  nb::class_<PyChainAscent>(m, "ChainAscent", "Dual ascent over some sequences at a time.")
      .def(nb::init<const PyChains&, Vector<const label_t>, Vector<const double>, double,
                    Vector<const double>, std::uint64_t>(),
           "chains"_a, "truth"_a, "cost"_a, "C"_a, "factors"_a, "seed"_a)
      .def(
          "epoch", [](PyChainAscent& self, int n_threads) { self.ascent->epoch(n_threads); },
          "n_threads"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("blend", &blend, "mean"_a, "share"_a, "n_threads"_a, "mean += share (weights - mean)")
      .def("renew", &renew, "heights"_a, "n_threads"_a)
      .def("plane", &plane, "n_threads"_a)
      .def("weights", &weights, "n_threads"_a)
      .def_prop_ro("dual_value", [](PyChainAscent& self) { return self.ascent->dual_value(); })
      .def_prop_ro("gap", [](PyChainAscent& self) { return self.ascent->gap(); })
      .def_prop_ro(
          "most_labellings", [](PyChainAscent& self) { return self.ascent->most_labellings(); },
          "Labellings with a weight, of the sequence that has most of them.");
}

}  // namespace cutplane::bind
