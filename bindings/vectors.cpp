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
}

}  // namespace cutplane::bind
