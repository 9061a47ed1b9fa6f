#include "core/ascent/balance.hpp"

#include <algorithm>
#include <cmath>

namespace cutplane {
namespace {

// Variables that meet their bounds leave the others a rest of the imbalance: so often these share
// it anew.
constexpr int kRounds = 8;

// A free variable as a coefficient: where it is, how far it may go, and how readily it moves.
struct Free {
  index_t example;
  double sign, coef, low, high, ready;
};

std::vector<Free> free_ones(const Ascent& state) {
  std::vector<Free> found;
  for (index_t e = 0; e < std::ssize(state.alpha); ++e) {
    const auto term = state.loss.at(e);
    const double alpha = state.alpha[e], per = state.per_curvature[e];
    const DualRoom room = term.room(alpha);
    if (!(room.low < alpha && alpha < room.high) || per == 0.0) continue;
    const double low = term.sign * room.low, high = term.sign * room.high;
    found.push_back({e, term.sign, term.sign * alpha, std::min(low, high), std::max(low, high),
                     per / (1.0 + per * term.bend(alpha))});
  }
  return found;
}

}  // namespace

std::vector<double> balanced_by_free(const Ascent& state) {
  std::vector<double> alpha(state.alpha);
  double lean = state.penalised ? -state.intercept() / (state.constant * state.constant) : 0.0;
  for (index_t e = 0; e < std::ssize(alpha); ++e) lean += state.loss.sign(e) * alpha[e];
  if (lean == 0.0) return alpha;
  std::vector<Free> free = free_ones(state);
  for (int round = 0; round < kRounds && !free.empty() && lean != 0.0; ++round) {
    double ready = 0, moved = 0;
    for (const Free& one : free) ready += one.ready;
    const double each = -lean / ready;
    for (Free& one : free) {
      const double next = std::clamp(one.coef + each * one.ready, one.low, one.high);
      moved += next - one.coef;
      one.coef = next;
      alpha[one.example] = one.sign * next;
    }
    std::erase_if(free,
                  [](const Free& one) { return one.coef <= one.low || one.coef >= one.high; });
    lean += moved;
  }
  return alpha;
}

}  // namespace cutplane
