#include "core/multiclass/circulation.hpp"

#include <algorithm>
#include <cmath>

namespace cutplane {
namespace {

// A flow as a graph whose surpluses are taken away path by path.
class Balance {
 public:
  Balance(const double* flows, index_t classes)
      : classes_(classes), left_(flows, flows + classes * classes), surplus_(classes, 0.0) {
    double all = 0;
    for (index_t from = 0; from < classes; ++from)
      for (index_t to = 0; to < classes; ++to) {
        const double flow = left_[from * classes + to];
        surplus_[to] += flow;
        surplus_[from] -= flow;
        all += flow;
      }
    rounding_ = 1e-17 * all;
  }

  // Breadth first from every class with too little inflow: by the decomposition of flows, each of
  // them starts a path to one with too much.
  bool reduce() {
    std::vector<index_t> before(classes_, -1), queue;
    for (index_t c = 0; c < classes_; ++c)
      if (surplus_[c] < -rounding_) before[c] = c, queue.push_back(c);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const index_t from = queue[head];
      for (index_t to = 0; to < classes_; ++to) {
        if (before[to] >= 0 || left_[from * classes_ + to] <= 0.0) continue;
        before[to] = from;
        if (surplus_[to] > rounding_) {
          take_path(before, to);
          return true;
        }
        queue.push_back(to);
      }
    }
    return false;
  }

  double left(index_t edge) const { return left_[edge]; }

 private:
  void take_path(const std::vector<index_t>& before, index_t end) {
    double amount = surplus_[end];
    index_t start = end;
    for (; before[start] != start; start = before[start])
      amount = std::min(amount, left_[before[start] * classes_ + start]);
    amount = std::min(amount, -surplus_[start]);
    for (index_t at = end; before[at] != at; at = before[at]) {
      double& flow = left_[before[at] * classes_ + at];
      flow = flow > amount ? flow - amount : 0.0;
    }
    surplus_[end] -= amount;
    surplus_[start] += amount;
  }

  index_t classes_;
  std::vector<double> left_;
  std::vector<double> surplus_;  // inflow - outflow
  double rounding_;
};

}  // namespace

std::vector<double> circulation(const double* flows, index_t classes) {
  Balance balance(flows, classes);
  while (balance.reduce()) {
  }
  std::vector<double> keep(classes * classes, 1.0);
  for (index_t edge = 0; edge < classes * classes; ++edge)
    if (flows[edge] > 0.0) keep[edge] = balance.left(edge) / flows[edge];
  return keep;
}

}  // namespace cutplane
