#include "core/smo/inner_solver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>

namespace cutplane::smo {
namespace {

// Where a variable is, and where its way ends.
struct Way {
  double b, bound;
};

// How far a pair can go, and where it is then; no size where rounding allows no step.
struct PairStep {
  double size, up, low;
};

PairStep pair_step(double wanted, const Way& up, const Way& low) {
  const double room_up = up.bound - up.b, room_low = low.b - low.bound;
  PairStep step{std::min({wanted, room_up, room_low}), 0.0, 0.0};
  step.up = step.size >= room_up ? up.bound : up.b + step.size;
  step.low = step.size >= room_low ? low.bound : low.b - step.size;
  if (step.up == up.b && step.low == low.b) step.size = 0.0;
  return step;
}

template <class Real>
class InnerVariables {
 public:
  InnerVariables(InnerState& state, const float* kernel, index_t stride)
      : state_(state), kernel_(kernel), stride_(stride) {
    const index_t n = state.size();
    for (auto* array : {&f_, &room_up_, &room_down_, &diagonal_, &label_}) array->resize(n);
    for (index_t t = 0; t < n; ++t) {
      label_[t] = static_cast<Real>(state.y[t]);
      f_[t] = static_cast<Real>(state.f[t]);
      diagonal_[t] = static_cast<Real>(state.diagonal[t]);
      set(t, state.b[t]);
    }
  }

  const float* row(index_t t) const { return kernel_ + t * stride_; }
  bool grouped() const { return state_.grouped; }
  // Whether what is scanned may be off by a part of eps that matters.
  bool noisy(double eps) const { return state_.noise > kNoiseShare * kNoiseShare * eps * eps; }
  Candidates<Real> candidates(int group) const {
    return {state_.size(),    f_.data(),     room_up_.data(),         room_down_.data(),
            diagonal_.data(), label_.data(), static_cast<Real>(group)};
  }

  // False where rounding allows no step.
  bool move(const Pair& pair) {
    const index_t i = pair.up, j = pair.low;
    const double eta = curvature(diagonal_[i], diagonal_[j], row(i)[j]);
    const double step = step_pair(i, j, pair.violation / eta);
    if (!(step > 0.0)) return false;
    note_rounding(step);
    add_difference(state_.size(), static_cast<Real>(step), row(i), row(j), f_.data());
    return true;
  }

 protected:
  // Move a pair by `wanted`, or as far as the box allows; the step taken, 0 where rounding allows
  // none.
  double step_pair(index_t i, index_t j, double wanted) {
    const PairStep step =
        pair_step(wanted, {state_.b[i], state_.high[i]}, {state_.b[j], state_.low[j]});
    set(i, step.up);
    set(j, step.low);
    return step.size;
  }

  // Each step rounds f, and what it adds to f; errors of many steps add up as their squares do.
  void note_rounding(double step) {
    constexpr double unit = std::numeric_limits<Real>::epsilon() / 2;
    state_.noise += unit * unit * (state_.largest * state_.largest + step * step);
  }

  void set(index_t t, double value) {
    state_.b[t] = value;
    room_up_[t] = room(state_.high[t] - value);
    room_down_[t] = room(value - state_.low[t]);
  }

  // What is left of the way to a bound, however small, is not nothing.
  static Real room(double value) {
    const Real rounded = static_cast<Real>(value);
    return value > 0.0 && rounded == Real{0} ? std::numeric_limits<Real>::min() : rounded;
  }

  static constexpr double kNoiseShare = 0.25;

  InnerState& state_;
  const float* kernel_;
  index_t stride_;
  std::vector<Real> f_, room_up_, room_down_, diagonal_, label_;
};

// Conjugate SMO (Torres-Barran, Alaiz and Dorronsoro 2021).
//
// A step goes along the pair's own direction d plus a multiple of the last one p, chosen so that
// the two are conjugate: what the last step gained stays gained. The pair is the one of greatest
// gain along that direction. Where the box ends a step the directions begin anew.
template <class Real>
class ConjugateSolver : public InnerVariables<Real> {
 public:
  ConjugateSolver(InnerState& state, const float* kernel, index_t stride)
      : InnerVariables<Real>(state, kernel, stride), slope_(state.size(), Real{0}) {}

  Candidates<Real> candidates(int group) const {
    Candidates<Real> all = InnerVariables<Real>::candidates(group);
    all.slope = slope_.data();
    all.inverse = count_ > 0 ? static_cast<Real>(1.0 / bend_) : Real{0};
    return all;
  }

  CUTPLANE_MULTIVERSION bool move(const Pair& pair) {
    const index_t i = pair.up, j = pair.low;
    const double eta = curvature(this->diagonal_[i], this->diagonal_[j], this->row(i)[j]);
    if (count_ > 0 && conjugate_step(pair, eta)) return true;
    count_ = 0;
    const double wanted = pair.violation / eta;
    const double step = this->step_pair(i, j, wanted);
    if (!(step > 0.0)) return false;
    add_slope(i, j, Real{0}, static_cast<Real>(step));
    if (step < wanted) return true;
    count_ = 2;
    place_[0] = i, place_[1] = j;
    share_[0] = 1.0, share_[1] = -1.0;
    bend_ = eta;
    return true;
  }

 private:
  static constexpr int kMost = 32;  // variables of a direction

  CUTPLANE_INLINE bool conjugate_step(const Pair& pair, double eta) {
    const index_t i = pair.up, j = pair.low;
    const double along = static_cast<double>(slope_[i]) - static_cast<double>(slope_[j]);
    const double bend = eta - along * along / bend_, of_last = -along / bend_;
    if (!(bend > kLeastShare * eta)) return false;
    for (int m = 0; m < count_; ++m) share_[m] *= of_last;
    add_share(i, 1.0);
    add_share(j, -1.0);
    const double wanted = pair.violation / bend;
    const auto [step, blocked] = within_the_box(wanted);
    if (!(step > 0.0)) return false;
    bool moved = false;
    for (int m = 0; m < count_; ++m) moved |= advance(m, step, m == blocked);
    if (!moved) return false;
    add_slope(i, j, static_cast<Real>(of_last), static_cast<Real>(step));
    bend_ = bend;
    if (blocked >= 0 || count_ > kMost - 2) count_ = 0;
    return true;
  }

  void add_share(index_t t, double value) {
    const auto end = place_.begin() + count_;
    const auto at = std::find(place_.begin(), end, t);
    if (at == end) {
      place_[count_] = t;
      share_[count_++] = value;
    } else {
      share_[at - place_.begin()] += value;
    }
  }

  // How far the direction can be followed, at most as far as wanted, and which of its variables
  // ends that, or -1.
  std::pair<double, int> within_the_box(double wanted) const {
    const InnerState& s = this->state_;
    std::pair<double, int> found{wanted, -1};
    for (int m = 0; m < count_; ++m) {
      const index_t t = place_[m];
      const double there = s.b[t] + found.first * share_[m];
      const double bound = share_[m] > 0.0 ? s.high[t] : s.low[t];
      if (share_[m] > 0.0 ? there > bound : there < bound)
        found = {(bound - s.b[t]) / share_[m], m};
    }
    return found;
  }

  // Whether a variable has moved.
  bool advance(int m, double step, bool to_bound) {
    const InnerState& s = this->state_;
    const index_t t = place_[m];
    const double old = s.b[t], bound = share_[m] > 0.0 ? s.high[t] : s.low[t];
    const double there = old + step * share_[m];
    this->set(t, to_bound ? bound : std::clamp(there, s.low[t], s.high[t]));
    return s.b[t] != old;
  }

  // The slopes along the new direction, and f after a step along it.
  CUTPLANE_INLINE void add_slope(index_t i, index_t j, Real of_last, Real step) {
    const float *k_up = this->row(i), *k_low = this->row(j);
    this->note_rounding(step);
    Real *f = this->f_.data(), *slope = slope_.data();
    const index_t n = this->state_.size();
    for (index_t t = 0; t < n; ++t) {
      slope[t] = of_last * slope[t] + (static_cast<Real>(k_up[t]) - static_cast<Real>(k_low[t]));
      f[t] += step * slope[t];
    }
  }

  std::vector<Real> slope_;  // K p
  std::array<index_t, kMost> place_{};
  std::array<double, kMost> share_{};
  int count_ = 0;      // variables of p, 0 for none
  double bend_ = 0.0;  // p'K p
};

// Second-order pair steps by several threads: each has a part of the variables, and they tell one
// another twice a step what each has found. The steps are those of one thread, and one thread can
// go on from them.

constexpr int kMostMembers = 8;
// Variables that are worth a thread: to tell one another what they find takes threads as long as
// to scan some hundred.
constexpr index_t kLeastPart = std::max<index_t>(512 / kFineness, 16);

// Who can grow and has the least f of a part, and the greatest f of those that can shrink.
template <class Real>
struct ToGrow {
  std::int32_t at = -1;
  bool tired = false;  // of waiting
  Real value = 0, diagonal = 0, low_value = kNever<Real>;
  Way way{};
};

// Of a part, the partner of greatest gain.
template <class Real>
struct ToShrink {
  std::int32_t at = -1;
  Real value = 0, diagonal = 0, gain = kNever<Real>;
  float kernel = 0;
  Way way{};
};

// What a thread tells, and in which round. Two of them share no lines of the cache, nor a pair of
// lines that are fetched together.
template <class What>
struct alignas(128) Message {
  std::atomic<std::uint64_t> round{0};
  What told;

  void tell(std::uint64_t now, const What& what) {
    told = what;
    round.store(now, std::memory_order_release);
  }
  // To be read before the next is told: before the one who asks has told the others that he has.
  const What& hear(std::uint64_t now, Delays& delays) const {
    delays.add(wait_for(round, now));
    return told;
  }
};

template <class Real>
struct Board {
  std::array<Message<ToGrow<Real>>, kMostMembers> growing;
  std::array<Message<ToShrink<Real>>, kMostMembers> shrinking;
};

// One of the threads; its variables are a state of their own.
template <class Real>
class Member : private InnerVariables<Real> {
 public:
  Member(Board<Real>& board, int me, int members, InnerState& own, const float* kernel,
         index_t stride, index_t begin)
      : InnerVariables<Real>(own, kernel + begin, stride),
        board_(board),
        me_(me),
        members_(members),
        begin_(begin) {}

  // Where one of the team is tired, all end at the same step.
  InnerResult run(double eps, std::int64_t most_steps) {
    InnerResult result;
    while (true) {
      const std::uint64_t round = result.steps + 1;
      board_.growing[me_].tell(round, best_to_grow());
      const ToGrow<Real> up = all_to_grow(round);
      const double violation =
          up.at < 0 ? 0.0 : static_cast<double>(up.low_value) - static_cast<double>(up.value);
      result.violation = std::max(violation, 0.0);
      if (!(violation > eps) || result.steps >= most_steps) return result;
      board_.shrinking[me_].tell(round, best_to_shrink(up));
      const ToShrink<Real> low = all_to_shrink(round);
      if (low.at < 0) return result;
      if ((tired_ = up.tired)) {
        std::copy(this->f_.begin(), this->f_.end(), this->state_.f.begin());
        return result;
      }
      const double step = move(up, low);
      if (!(step > 0.0)) return result;
      ++result.steps;
      this->note_rounding(step);
      if ((result.noisy = this->noisy(eps))) return result;
    }
  }

  bool tired() const { return tired_; }
  double delay() const { return delays_.seconds(); }

 private:
  index_t size() const { return this->state_.size(); }
  std::int32_t everywhere(index_t t) const { return static_cast<std::int32_t>(begin_ + t); }

  ToGrow<Real> best_to_grow() const {
    const Extremes found = find_extremes(this->candidates(0));
    ToGrow<Real> best;
    best.tired = delays_.too_long();
    if (found.low >= 0) best.low_value = this->f_[found.low];
    const index_t t = found.up;
    if (t < 0) return best;
    best.at = everywhere(t);
    best.value = this->f_[t];
    best.diagonal = this->diagonal_[t];
    best.way = {this->state_.b[t], this->state_.high[t]};
    return best;
  }

  // Of equals the first, here and below.
  ToGrow<Real> all_to_grow(std::uint64_t round) {
    ToGrow<Real> best;
    Real low_value = kNever<Real>;
    bool tired = false;
    for (int t = 0; t < members_; ++t) {
      const ToGrow<Real>& told = board_.growing[t].hear(round, delays_);
      low_value = std::max(low_value, told.low_value);
      tired |= told.tired;
      if (told.at >= 0 && (best.at < 0 || told.value < best.value)) best = told;
    }
    best.low_value = low_value;
    best.tired = tired;
    return best;
  }

  ToShrink<Real> best_to_shrink(const ToGrow<Real>& up) const {
    const float* k = this->row(up.at);
    const Best<Real> found =
        find_partner(Rule::second_order, {k, up.value, up.diagonal}, this->candidates(0));
    ToShrink<Real> best;
    const index_t t = found.at;
    if (t < 0) return best;
    best.at = everywhere(t);
    best.value = this->f_[t];
    best.diagonal = this->diagonal_[t];
    best.gain = found.score;
    best.kernel = k[t];
    best.way = {this->state_.b[t], this->state_.low[t]};
    return best;
  }

  ToShrink<Real> all_to_shrink(std::uint64_t round) {
    ToShrink<Real> best;
    for (int t = 0; t < members_; ++t) {
      const ToShrink<Real>& told = board_.shrinking[t].hear(round, delays_);
      if (told.gain > best.gain) best = told;
    }
    return best;
  }

  double move(const ToGrow<Real>& up, const ToShrink<Real>& low) {
    const double violation = static_cast<double>(low.value) - static_cast<double>(up.value);
    const double eta = curvature(up.diagonal, low.diagonal, low.kernel);
    const PairStep step = pair_step(violation / eta, up.way, low.way);
    if (!(step.size > 0.0)) return 0.0;
    set_own(up.at, step.up);
    set_own(low.at, step.low);
    add_difference(size(), static_cast<Real>(step.size), this->row(up.at), this->row(low.at),
                   this->f_.data());
    return step.size;
  }

  void set_own(index_t t, double value) {
    if (t >= begin_ && t < begin_ + size()) this->set(t - begin_, value);
  }

  Board<Real>& board_;
  int me_, members_;
  index_t begin_;
  Delays delays_;
  bool tired_ = false;
};

// Pair steps by one thread.
template <class Real, class Inner>
InnerResult run_alone(Inner& inner, Rule rule, double eps, std::int64_t most_steps) {
  InnerResult result;
  Pair last[2];
  while (true) {
    const Pair best = best_pair(
        rule, inner.grouped(), [&](int label) { return inner.candidates(label); }, last,
        [&](index_t t) { return inner.row(t); }, result.violation);
    if (result.violation <= eps || best.up < 0 || result.steps >= most_steps) return result;
    if (!inner.move(best)) return result;
    ++result.steps;
    if ((result.noisy = inner.noisy(eps))) return result;
  }
}

template <class Real>
InnerResult solve_alone(const InnerProblem& p, Rule rule, double eps, std::int64_t most_steps) {
  if (rule == Rule::conjugate) {
    ConjugateSolver<Real> inner(p.state, p.kernel, p.stride);
    return run_alone<Real>(inner, rule, eps, most_steps);
  }
  InnerVariables<Real> inner(p.state, p.kernel, p.stride);
  return run_alone<Real>(inner, rule, eps, most_steps);
}

}  // namespace

template <class Real>
InnerResult solve_inner(const InnerProblem& p, Rule rule, double eps, std::int64_t most_steps) {
  const index_t most = std::min(resolve_threads(p.n_threads), kMostMembers);
  const Blocks parts{p.state.size(), std::min(p.state.size() / kLeastPart, most)};
  const int members = static_cast<int>(parts.count);
  InnerResult together;
  if (rule == Rule::second_order && members > 1 && !p.state.grouped && !p.rest.lasts()) {
    struct Part {
      InnerState state;
      bool tired = false;
      double delay = 0.0;
    } part[kMostMembers];
    Board<Real> board;
    const bool ran = run_team(members, [&](int me) {
      const index_t begin = parts.begin(me);
      InnerState own = p.state.part(begin, parts.end(me));
      Member<Real> member(board, me, members, own, p.kernel, p.stride, begin);
      const InnerResult found = member.run(eps, most_steps);
      part[me] = {std::move(own), member.tired(), member.delay()};
      if (me == 0) together = found;
    });
    double delay = 0.0;
    for (int me = 0; me < members; ++me) {
      p.state.put(parts.begin(me), part[me].state);
      delay = std::max(delay, part[me].delay);
    }
    if (ran && !part[0].tired) return together;
    p.rest.begin(delay);
  }
  InnerResult alone = solve_alone<Real>(p, rule, eps, most_steps - together.steps);
  alone.steps += together.steps;
  return alone;
}

template InnerResult solve_inner<float>(const InnerProblem&, Rule, double, std::int64_t);
template InnerResult solve_inner<double>(const InnerProblem&, Rule, double, std::int64_t);

}  // namespace cutplane::smo
