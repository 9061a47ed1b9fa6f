// A chunk of whole lines, parsed into scratch memory of its own, and what can be wrong with a line.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/growing_array.hpp"
#include "core/text/decimal.hpp"
#include "core/text/svmlight.hpp"

namespace cutplane::svmlight {

constexpr index_t no_limit = std::numeric_limits<index_t>::max();
constexpr int max_index_digits = 18;

enum class Problem {
  none,
  label,
  label_range,
  pair,
  value_range,
  index_range,
  qid,
  qid_missing,
  qid_unexpected,
  zero_index,
  duplicate,
  beyond_features,
};

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_token(char c) { return is_space(c) || c == '\n' || c == '#'; }

inline const char* skip_spaces(const char* p) {
  while (is_space(*p)) ++p;
  return p;
}

inline const char* token_end(const char* p) {
  while (!ends_token(*p)) ++p;
  return p;
}

inline const char* line_end(const char* p, const char* limit) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(limit - p)));
}

inline bool at_qid(const char* p) {
  // Character by character: the newline that ends every line is not passed.
  return p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':';
}

// Whether the first example of these lines has a query id; nothing if there is no example.
inline std::optional<bool> first_has_qid(std::string_view lines) {
  const char* const limit = lines.data() + lines.size();
  for (const char* p = lines.data(); p < limit; p = line_end(p, limit) + 1) {
    p = skip_spaces(p);
    if (*p != '\n' && *p != '#') return at_qid(skip_spaces(token_end(p)));
  }
  return std::nullopt;
}

// What a line is held against.
struct Rules {
  bool with_qid;
  bool zero_allowed;
  index_t largest_index;    // beyond it no base can save the line
  index_t watched_index;    // acceptable only if the file turns out to start at 1; -1: none
  index_t n_features;       // for messages
  const char* value_range;  // the same
};

template <class Value>
struct Entry {
  std::int64_t index;
  Value value;
};

struct Row {
  double label;
  std::int64_t qid;
  std::int64_t end;  // of its entries in the chunk
};

struct Place {
  const char* line = nullptr;
  const char* token = nullptr;
  index_t line_number = 0;  // within the chunk, from 0
};

inline std::string wanted(Problem problem, const Rules& rules) {
  switch (problem) {
    case Problem::none:
      break;
    case Problem::label:
      return "a label that is a real number, such as 1, -1 or 0.5";
    case Problem::label_range:
      return "a label that is finite in float64";
    case Problem::pair:
      return "index:value, a whole number and a finite real number, such as 3:0.5";
    case Problem::value_range:
      return std::string("a value that is finite in ") + rules.value_range;
    case Problem::index_range:
      return "an index of at most " + std::to_string(max_index_digits) + " digits";
    case Problem::qid:
      return "qid:N with a whole number N that fits in 64 bits";
    case Problem::qid_missing:
      return "qid:N after this label, since the first example has a qid";
    case Problem::qid_unexpected:
      return "index:value without a qid before it, since the first example has no qid";
    case Problem::zero_index:
      return "indices from 1 up, or zero_based=True or \"auto\"";
    case Problem::duplicate:
      return "each index at most once in a row";
    case Problem::beyond_features:
      return "an index that fits n_features=" + std::to_string(rules.n_features);
  }
  return {};
}

// The first token of a well-formed line whose index satisfies the predicate.
template <class Predicate>
const char* find_index(const char* line, Predicate&& predicate) {
  const char* p = skip_spaces(token_end(skip_spaces(line)));
  if (at_qid(p)) p = skip_spaces(token_end(p));
  for (; *p != '\n' && *p != '#'; p = skip_spaces(token_end(p))) {
    std::int64_t index = 0;
    std::from_chars(p, token_end(p), index);
    if (predicate(index)) break;
  }
  return p;
}

template <class Value>
struct Chunk {
  const char* begin = nullptr;
  const char* end = nullptr;
  GrowingArray<Entry<Value>> entries;
  GrowingArray<Row> rows;
  index_t n_lines = 0;
  index_t max_index = -1;
  bool zero_seen = false;
  Place watched;
  Problem problem = Problem::none;
  Place place;  // of the problem

  // All the memory a parse can need: an entry takes at least the four bytes " 1:1", a row "1\n".
  void prepare(std::string_view lines) {
    begin = lines.data();
    end = begin + lines.size();
    entries.restart(lines.size() / 4 + 1);
    rows.restart(lines.size() / 2 + 1);
    n_lines = 0;
    max_index = -1;
    zero_seen = false;
    watched = {};
    problem = Problem::none;
  }
};

// Parses one chunk. Throws nothing and allocates nothing: it runs in a thread.
template <class Value>
class ChunkParser {
 public:
  ChunkParser(const Rules& rules, Chunk<Value>& chunk) : rules_(rules), chunk_(chunk) {}

  void run() {
    entry_ = chunk_.entries.data();
    row_ = chunk_.rows.data();
    for (const char* p = chunk_.begin; p != nullptr && p < chunk_.end;) p = parse_line(p);
    chunk_.entries.resize(static_cast<std::size_t>(entry_ - chunk_.entries.data()));
    chunk_.rows.resize(static_cast<std::size_t>(row_ - chunk_.rows.data()));
  }

 private:
  // The start of the next line, or null if this one is malformed.
  const char* parse_line(const char* p) {
    line_ = p;
    p = skip_spaces(p);
    if (*p != '\n' && *p != '#') {
      first_ = entry_;
      p = parse_example(p);
      if (p == nullptr) return nullptr;
    }
    if (*p == '#') p = line_end(p, chunk_.end);
    ++chunk_.n_lines;
    return p + 1;
  }

  // The '\n' or '#' behind the example.
  const char* parse_example(const char* p) {
    const char* const label = p;
    const auto status = decimal::parse(p, chunk_.end, row_->label);
    if (status == decimal::Status::malformed || !ends_token(*p)) return fail(Problem::label, label);
    if (status != decimal::Status::ok) return fail(Problem::label_range, label);
    p = skip_spaces(p);

    if (at_qid(p) != rules_.with_qid) {
      return rules_.with_qid ? fail(Problem::qid_missing, label) : fail(Problem::qid_unexpected, p);
    }
    if (rules_.with_qid) {
      const char* const end = token_end(p);
      const auto result = std::from_chars(p + 4, end, row_->qid);
      if (result.ec != std::errc() || result.ptr != end) return fail(Problem::qid, p);
      p = skip_spaces(end);
    }

    bool sorted = true;
    std::int64_t previous = -1;
    while (*p != '\n' && *p != '#') {
      const char* const token = p;
      std::uint64_t digits = 0;
      decimal::detail::read_short_run(p, digits);
      if (*p != ':' || p == token || p - token > max_index_digits) return fail_pair(token);
      const auto index = static_cast<std::int64_t>(digits);
      ++p;
      const auto status = decimal::parse(p, chunk_.end, entry_->value);
      if (status == decimal::Status::malformed || !ends_token(*p)) {
        return fail(Problem::pair, token);
      }
      if (status != decimal::Status::ok) return fail(Problem::value_range, token);
      entry_->index = index;
      ++entry_;
      sorted &= index > previous;
      previous = index;
      p = skip_spaces(p);
    }
    if (!sorted && !sort_row()) return nullptr;
    if (entry_ != first_ && !check_range()) return nullptr;
    row_->end = entry_ - chunk_.entries.data();
    ++row_;
    return p;
  }

  bool sort_row() {
    const auto by_index = [](const auto& a, const auto& b) { return a.index < b.index; };
    const auto same_index = [](const auto& a, const auto& b) { return a.index == b.index; };
    std::sort(first_, entry_, by_index);
    if (std::adjacent_find(first_, entry_, same_index) == entry_) return true;
    fail(Problem::duplicate, find_repeated());
    return false;
  }

  // The first token whose index stands in the row already. The values are of no more use, so they
  // mark the indices seen: no memory is needed, and a long bad line costs little more than a good
  // one.
  const char* find_repeated() {
    const auto before = [](const auto& entry, std::int64_t index) { return entry.index < index; };
    for (auto* entry = first_; entry != entry_; ++entry) entry->value = 0;
    return find_index(line_, [&](std::int64_t index) {
      auto* const seen = std::lower_bound(first_, entry_, index, before);
      return std::exchange(seen->value, Value{1}) != 0;
    });
  }

  // The row is sorted: its first and last index tell all.
  bool check_range() {
    const std::int64_t largest = entry_[-1].index;
    if (first_->index == 0) {
      if (!rules_.zero_allowed) {
        fail(Problem::zero_index, find_index(line_, [](auto index) { return index == 0; }));
        return false;
      }
      chunk_.zero_seen = true;
    }
    if (largest > rules_.largest_index) {
      const auto beyond = [&](auto index) { return index > rules_.largest_index; };
      fail(Problem::beyond_features, find_index(line_, beyond));
      return false;
    }
    if (largest == rules_.watched_index && chunk_.watched.line == nullptr) {
      const auto is_largest = [=](auto index) { return index == largest; };
      chunk_.watched = {line_, find_index(line_, is_largest), chunk_.n_lines};
    }
    chunk_.max_index = std::max(chunk_.max_index, largest);
    return true;
  }

  // A token that is not digits and a colon: too many digits, or something else altogether.
  const char* fail_pair(const char* token) {
    const char* p = token;
    while (decimal::detail::is_digit(*p)) ++p;
    const bool too_long = p - token > max_index_digits && *p == ':';
    return fail(too_long ? Problem::index_range : Problem::pair, token);
  }

  const char* fail(Problem problem, const char* token) {
    chunk_.problem = problem;
    chunk_.place = {line_, token, chunk_.n_lines};
    return nullptr;
  }

  const Rules& rules_;
  Chunk<Value>& chunk_;
  const char* line_ = nullptr;
  Entry<Value>* first_ = nullptr;  // of the row
  Entry<Value>* entry_ = nullptr;  // the next to be written
  Row* row_ = nullptr;             // the same
};

inline Fault describe(Problem problem, const Place& place, index_t lines_before,
                      const Rules& rules) {
  return {lines_before + place.line_number + 1, place.token - place.line + 1,
          std::string(place.token, token_end(place.token)), wanted(problem, rules)};
}

}  // namespace cutplane::svmlight
