#include "core/base/vectors.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "bindings/bind.hpp"
#include "core/base/sums.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Weights = Vector<const double>;

template <class Other>
void require_alike(const Weights& a, const Other& b) {
  if (a.size() != b.size()) throw std::invalid_argument("vectors of one length are needed");
}

void mix_into(Weights a, Weights b, double t, Vector<double> out, int n_threads) {
  require_alike(a, b);
  require_alike(a, out);
  nb::gil_scoped_release release;
  mix(a.data(), b.data(), t, out.data(), static_cast<index_t>(a.size()), n_threads);
}

template <class S>
void moved_along(Vector<const S> a, Vector<S> direction, double t, int n_threads) {
  if (a.size() != direction.size()) throw std::invalid_argument("vectors of one length are needed");
  nb::gil_scoped_release release;
  move_along(a.data(), direction.data(), t, static_cast<index_t>(a.size()), n_threads);
}

template <class S>
void bind_move_along(nb::module_& m) {
  m.def("move_along", &moved_along<S>, "a"_a.noconvert(), "direction"_a.noconvert(), "t"_a,
        "n_threads"_a = 0, "a + t direction, written where the direction was.");
}

Array1<double> mixed(Weights a, Weights b, double t, int n_threads) {
  require_alike(a, b);
  Array1<double> out = new_array<double>(a.size());
  nb::gil_scoped_release release;
  mix(a.data(), b.data(), t, out.data(), static_cast<index_t>(a.size()), n_threads);
  return out;
}

void scaled_and_shifted(Weights a, double factor, double shift, Vector<double> out, int n_threads) {
  require_alike(a, out);
  nb::gil_scoped_release release;
  scale_and_shift(a.data(), factor, shift, out.data(), static_cast<index_t>(a.size()), n_threads);
}

Array1<std::int64_t> positions(Weights a, int n_threads) {
  std::vector<std::int64_t> found;
  {
    nb::gil_scoped_release release;
    found = nonzero(a.data(), static_cast<index_t>(a.size()), n_threads);
  }
  return to_numpy(std::move(found));
}

Array1<double> combined(const std::vector<Vector<const float>>& vectors, Weights weights,
                        std::size_t size, int n_threads) {
  if (vectors.size() != weights.size())
    throw std::invalid_argument("a weight for each vector is needed");
  std::vector<const float*> starts;
  for (const auto& vector : vectors) {
    if (vector.size() != size) throw std::invalid_argument("vectors of one length are needed");
    starts.push_back(vector.data());
  }
  Array1<double> out = new_array<double>(size);
  nb::gil_scoped_release release;
  combine(starts.data(), weights.data(), static_cast<index_t>(starts.size()), out.data(),
          static_cast<index_t>(size), n_threads);
  return out;
}

double mass(Weights a, int n_threads) {
  nb::gil_scoped_release release;
  const Sides found = sides(a.data(), static_cast<index_t>(a.size()), n_threads);
  return found.positive - found.negative;
}

double square_of(Weights a, double factor, int n_threads) {
  nb::gil_scoped_release release;
  return square(a.data(), factor, static_cast<index_t>(a.size()), n_threads);
}

double square_of_both(Weights a, Weights b, double factor, int n_threads) {
  require_alike(a, b);
  nb::gil_scoped_release release;
  return square_of_sum(a.data(), b.data(), factor, static_cast<index_t>(a.size()), n_threads);
}

double sized_weights(Weights sizes, Weights w, int n_threads) {
  const auto n = static_cast<index_t>(sizes.size()), all = static_cast<index_t>(w.size());
  if (n == 0 ? all != 0 : all % n != 0)
    throw std::invalid_argument("as many weights of each size are needed");
  nb::gil_scoped_release release;
  return all == 0 ? 0.0 : sized(sizes.data(), w.data(), n, all / n, n_threads);
}

Array1<double> balanced(Weights a, int n_threads) {
  Array1<double> out = new_array<double>(a.size());
  nb::gil_scoped_release release;
  balance(a.data(), out.data(), static_cast<index_t>(a.size()), n_threads);
  return out;
}

}  // namespace

void bind_vectors(nb::module_& m) {
  m.def("mix", &mixed, "a"_a, "b"_a, "t"_a, "n_threads"_a = 0, "a + t (b - a).");
  m.def("mix_into", &mix_into, "a"_a, "b"_a, "t"_a, "out"_a, "n_threads"_a = 0,
        "a + t (b - a), written to out: a or b themselves, if these are done with.");
  m.def("scale_and_shift", &scaled_and_shifted, "a"_a, "factor"_a, "shift"_a, "out"_a,
        "n_threads"_a = 0, "factor a + shift, written to out, which may be a.");
  m.def("mass", &mass, "a"_a, "n_threads"_a = 0, "The sizes of all entries, added up.");
  m.def("square", &square_of, "a"_a, "factor"_a = 1.0, "n_threads"_a = 0,
        "|factor a|^2, by groups of 64 whose sums lose next to nothing.");
  m.def("square_of_sum", &square_of_both, "a"_a, "b"_a, "factor"_a, "n_threads"_a = 0,
        "|a + factor b|^2, likewise.");
  m.def("sized", &sized_weights, "sizes"_a, "w"_a, "n_threads"_a = 0,
        "Sizes of weights times these sizes, added up: of each as many weights in turn.");
  m.def("balanced", &balanced, "a"_a, "n_threads"_a = 0,
        "a with the heavier of its two sides scaled down until entries sum to zero.");
  m.def("nonzero", &positions, "a"_a, "n_threads"_a = 0,
        "The positions of the entries that are not zero, ascending.");
  bind_move_along<float>(m);
  bind_move_along<double>(m);
  m.def("combine", &combined, "vectors"_a, "weights"_a, "size"_a, "n_threads"_a = 0,
        "The weighted sum of vectors of single precision, in double precision.");
  m.def(
      "inner",
      [](Weights a, Weights b, int n_threads) {
        require_alike(a, b);
        nb::gil_scoped_release release;
        return inner(a.data(), b.data(), static_cast<index_t>(a.size()), n_threads);
      },
      "a"_a, "b"_a, "n_threads"_a = 0, "<a, b>.");
  m.def(
      "along",
      [](Weights a, Weights b, int n_threads) {
        require_alike(a, b);
        nb::gil_scoped_release release;
        const Along sums = along(a.data(), b.data(), static_cast<index_t>(a.size()), n_threads);
        return std::make_pair(sums.square, sums.slope);
      },
      "a"_a, "b"_a, "n_threads"_a = 0, "|b - a|^2 and <a, b - a>.");
}

}  // namespace cutplane::bind
