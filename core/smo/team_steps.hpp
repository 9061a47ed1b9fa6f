// Second-order pair steps within a set by several threads: each has a part of the variables, and
// they tell one another twice a step what each has found. The steps are those of one thread, and
// one thread can go on from them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/team.hpp"
#include "core/smo/inner_solver.hpp"

namespace cutplane::smo {

inline constexpr int kMostMembers = 8;

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
  CUTPLANE_INLINE InnerResult run(double eps, std::int64_t most_steps) {
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

  CUTPLANE_INLINE ToGrow<Real> best_to_grow() const {
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
  CUTPLANE_INLINE ToGrow<Real> all_to_grow(std::uint64_t round) {
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

  CUTPLANE_INLINE ToShrink<Real> best_to_shrink(const ToGrow<Real>& up) const {
    const float* k = this->row(up.at);
    const Real *f = this->f_.data(), *room = this->room_down_.data(),
               *diagonal = this->diagonal_.data();
    const Real f_i = up.value, d_i = up.diagonal;
    const Best<Real> found = argmax<Real>(size(), [&](index_t t) CUTPLANE_INLINED {
      const Real gain = second_order_gain(f[t] - f_i, curvature(d_i, diagonal[t], k[t]));
      return ((room[t] > 0) & (f[t] > f_i)) ? gain : kNever<Real>;
    });
    ToShrink<Real> best;
    const index_t t = found.at;
    if (t < 0) return best;
    best.at = everywhere(t);
    best.value = f[t];
    best.diagonal = diagonal[t];
    best.gain = found.score;
    best.kernel = k[t];
    best.way = {this->state_.b[t], this->state_.low[t]};
    return best;
  }

  CUTPLANE_INLINE ToShrink<Real> all_to_shrink(std::uint64_t round) {
    ToShrink<Real> best;
    for (int t = 0; t < members_; ++t) {
      const ToShrink<Real>& told = board_.shrinking[t].hear(round, delays_);
      if (told.gain > best.gain) best = told;
    }
    return best;
  }

  CUTPLANE_INLINE double move(const ToGrow<Real>& up, const ToShrink<Real>& low) {
    const double violation = static_cast<double>(low.value) - static_cast<double>(up.value);
    const double eta = curvature(up.diagonal, low.diagonal, low.kernel);
    const PairStep step = pair_step(violation / eta, up.way, low.way);
    if (!(step.size > 0.0)) return 0.0;
    set_own(up.at, step.up);
    set_own(low.at, step.low);
    this->add_difference(static_cast<Real>(step.size), this->row(up.at), this->row(low.at));
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

}  // namespace cutplane::smo
