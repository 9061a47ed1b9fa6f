// Free intercepts: the rounded risk as a function of them, and planes that do not depend on them.
#include "core/matrix/block_sums.hpp"
#include "core/multiclass/lines.hpp"

namespace cutplane {
namespace multiclass {

// sums: value, gradient, second derivative of the rounded risk in the intercepts.
void intercepts_block(const MulticlassSample& sample, const double* s, const double* b, double h,
                      index_t begin, index_t end, double* sums) {
  const double width = 0.5 * h;
  const index_t classes = sample.classes;
  double* gradient = sums + 1;
  double* hessian = gradient + classes;
  std::vector<double> shifted(classes), z(classes), near;
  std::vector<index_t> meeting;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    for (index_t y = 0; y < classes; ++y) shifted[y] = s[i * classes + y] + b[y];
    double top;
    const index_t at = e.highest_class(shifted.data(), top);
    e.lines(shifted.data(), z.data());
    const Projection on = project(z.data(), classes, top, width, near);
    if (on.count == 1) {
      sums[0] += e.weight * top;
      if (at == e.k) continue;
      gradient[at] += e.weight * e.scale(at);
      gradient[e.k] -= e.weight * e.scale(at);
      continue;
    }
    meeting.clear();
    double height = 0, square = 0;
    for (index_t y = 0; y < classes; ++y) {
      if (z[y] <= on.threshold) continue;
      const double p = (z[y] - on.threshold) / width;
      height += p * z[y];
      square += p * p;
      gradient[y] += e.weight * p * e.scale(y);
      gradient[e.k] -= e.weight * p * e.scale(y);
      meeting.push_back(y);
    }
    sums[0] += e.weight * (height + 0.5 * width * (1.0 - square));
    // Each pair of the classes that meet adds the square of the difference of their lines.
    const double share = e.weight / (width * static_cast<double>(on.count));
    for (std::size_t one = 0; one < meeting.size(); ++one)
      for (std::size_t two = 0; two < one; ++two) {
        const index_t y[3] = {meeting[one], meeting[two], e.k};
        const double f[3] = {e.scale(y[0]), -e.scale(y[1]), e.scale(y[1]) - e.scale(y[0])};
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) hessian[y[a] * classes + y[c]] += share * f[a] * f[c];
      }
  }
}

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

}  // namespace multiclass

using namespace multiclass;

double multiclass_intercepts(const MulticlassSample& sample, const double* s, const double* b,
                             double h, double* gradient, double* hessian, int n_threads) {
  const index_t size = 1 + sample.classes + sample.classes * sample.classes;
  const Blocks blocks = example_blocks(sample);
  PartialSums partial(blocks.count, size);
  for_blocks(blocks, sweep_threads(sample, n_threads),
             [&](index_t block, index_t begin, index_t end) {
               intercepts_block(sample, s, b, h, begin, end, partial.cleared(block));
             });
  std::vector<double> total(size, 0.0);
  partial.add_to(total.data(), blocks.count, n_threads);
  std::copy_n(total.data() + 1, sample.classes, gradient);
  std::copy_n(total.data() + 1 + sample.classes, sample.classes * sample.classes, hessian);
  return total[0];
}

void multiclass_flows(const MulticlassSample& sample, const double* coef, double* out) {
  std::fill(out, out + sample.classes * sample.classes, 0.0);
  for (index_t i = 0; i < sample.n; ++i) {
    const index_t k = sample.y[i];
    for (index_t y = 0; y < sample.classes; ++y)
      if (y != k) out[k * sample.classes + y] += coef[i * sample.classes + y];
  }
}

double multiclass_scale_flows(const MulticlassSample& sample, const double* keep, double* coef,
                              int n_threads) {
  return sum_examples<1>(sample, n_threads, [&](index_t begin, index_t end) {
    double offset = 0;
    for (index_t i = begin; i < end; ++i) {
      const index_t k = sample.y[i], row = k * sample.classes;
      double* mine = coef + i * sample.classes;
      const double* factor = sample.factor + k * sample.factor_stride;
      double own = 0;
      for (index_t y = 0; y < sample.classes; ++y) {
        if (y == k || mine[y] == 0.0) continue;
        mine[y] *= keep[row + y];
        own += mine[y];
        offset += mine[y] / factor[y] * sample.cost[row + y];
      }
      mine[k] = -own;
    }
    return Sums<1>{offset};
  })[0];
}

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
