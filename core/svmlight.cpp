// Reading: a block of text is cut into chunks of whole lines, and each chunk is parsed into its own
// scratch memory. Once all are known to be well formed, their rows are appended to the result, at
// places that the counts of the chunks before decide. That happens together with the parsing of the
// next block, so that threads meet once per block: on a busy machine each meeting can cost a turn
// of the scheduler.
#include "core/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/decimal.hpp"

namespace cutplane::svmlight {

namespace {

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

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_token(char c) { return is_space(c) || c == '\n' || c == '#'; }

const char* skip_spaces(const char* p) {
  while (is_space(*p)) ++p;
  return p;
}

const char* token_end(const char* p) {
  while (!ends_token(*p)) ++p;
  return p;
}

const char* line_end(const char* p, const char* limit) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(limit - p)));
}

bool at_qid(const char* p) {
  // Character by character: the newline that ends every line is not passed.
  return p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':';
}

// Whether the first example of these lines has a query id; nothing if there is no example.
std::optional<bool> first_has_qid(std::string_view lines) {
  const char* const limit = lines.data() + lines.size();
  for (const char* p = lines.data(); p < limit; p = line_end(p, limit) + 1) {
    p = skip_spaces(p);
    if (*p != '\n' && *p != '#') return at_qid(skip_spaces(token_end(p)));
  }
  return std::nullopt;
}

}  // namespace

// What a line is held against.
struct Rules {
  bool with_qid;
  bool zero_allowed;
  index_t largest_index;    // beyond it no base can save the line
  index_t watched_index;    // acceptable only if the file turns out to start at 1; -1: none
  index_t n_features;       // for messages
  const char* value_range;  // the same
};

namespace {

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

std::string wanted(Problem problem, const Rules& rules) {
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

}  // namespace

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

namespace {

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

Fault describe(Problem problem, const Place& place, index_t lines_before, const Rules& rules) {
  return {lines_before + place.line_number + 1, place.token - place.line + 1,
          std::string(place.token, token_end(place.token)), wanted(problem, rules)};
}

}  // namespace

void IndexArray::resize(std::size_t size) {
  if (wide_) {
    large_.resize(size);
  } else {
    small_.resize(size);
  }
}

void IndexArray::widen() {
  if (wide_) return;
  large_.resize(small_.size());
  std::copy_n(small_.data(), small_.size(), large_.data());
  small_ = {};
  wide_ = true;
}

void IndexArray::shrink_to_fit() {
  if (wide_) {
    large_.shrink_to_fit();
  } else {
    small_.shrink_to_fit();
  }
}

template <class Value>
Reader<Value>::Reader(const Options& options) : options_(options) {
  if (options.n_features.value_or(0) > options.narrow_limit) {
    examples_.indices.widen();
    examples_.indptr.widen();
  }
  examples_.indptr.resize(1);
  examples_.indptr.visit([](auto* indptr) { indptr[0] = 0; });
}

template <class Value>
Reader<Value>::Reader(Reader&&) noexcept = default;

template <class Value>
Reader<Value>::~Reader() = default;

template <class Value>
Rules Reader<Value>::rules() const {
  const bool bounded = options_.n_features.has_value();
  const index_t n_features = options_.n_features.value_or(0);
  Rules rules{with_qid_.value_or(false),
              options_.base != Base::one,
              no_limit,
              -1,
              n_features,
              std::is_same_v<Value, float> ? "float32" : "float64"};
  if (bounded) rules.largest_index = options_.base == Base::zero ? n_features - 1 : n_features;
  if (bounded && options_.base == Base::automatic) rules.watched_index = n_features;
  return rules;
}

template <class Value>
std::optional<Fault> Reader<Value>::feed(std::string_view block) {
  std::vector<std::string_view> pieces;
  std::string first_line;
  if (!partial_line_.empty()) {
    const auto newline = block.find('\n');
    partial_line_.append(block.substr(0, newline == block.npos ? newline : newline + 1));
    if (newline == block.npos) return std::nullopt;
    block.remove_prefix(newline + 1);
    first_line = std::move(partial_line_);
    pieces.push_back(first_line);
  }
  const auto last = block.rfind('\n');
  const std::size_t whole = last == block.npos ? 0 : last + 1;
  cut(block.substr(0, whole), pieces);
  partial_line_ = block.substr(whole);
  return pieces.empty() ? std::nullopt : parse(pieces);
}

// Pieces of about chunk_bytes, each of whole lines.
template <class Value>
void Reader<Value>::cut(std::string_view lines, std::vector<std::string_view>& pieces) const {
  const auto size = static_cast<std::size_t>(std::max<index_t>(options_.chunk_bytes, 1));
  while (lines.size() > size) {
    const std::size_t end = lines.find('\n', size - 1) + 1;
    pieces.push_back(lines.substr(0, end));
    lines.remove_prefix(end);
  }
  if (!lines.empty()) pieces.push_back(lines);
}

// Parse these pieces and append those that were parsed before.
template <class Value>
std::optional<Fault> Reader<Value>::parse(const std::vector<std::string_view>& pieces) {
  for (auto piece = pieces.begin(); !with_qid_ && piece != pieces.end(); ++piece) {
    with_qid_ = first_has_qid(*piece);
  }
  const Rules rules = this->rules();
  const auto offsets = make_room();
  spare_.resize(std::max(spare_.size(), pieces.size()));
  for (std::size_t i = 0; i < spare_.size(); ++i) {
    spare_[i].prepare(i < pieces.size() ? pieces[i] : std::string_view());
  }
  const auto n_parsed = static_cast<index_t>(parsed_.size());
  const index_t n_tasks = n_parsed + static_cast<index_t>(pieces.size());
  for_blocks({n_tasks, n_tasks}, options_.n_threads, [&](index_t i, index_t, index_t) {
    if (i < n_parsed) {
      append(parsed_[i], offsets[i]);
    } else {
      ChunkParser<Value>(rules, spare_[i - n_parsed]).run();
    }
  });
  std::swap(parsed_, spare_);
  return gather();
}

// The first fault, if any; what is known of the file so far.
template <class Value>
std::optional<Fault> Reader<Value>::gather() {
  for (const auto& chunk : parsed_) {
    if (chunk.problem != Problem::none) {
      return describe(chunk.problem, chunk.place, n_lines_, rules());
    }
    if (chunk.watched.line != nullptr && !beyond_if_zero_based_) {
      beyond_if_zero_based_ = describe(Problem::beyond_features, chunk.watched, n_lines_, rules());
    }
    n_lines_ += chunk.n_lines;
    max_index_ = std::max(max_index_, chunk.max_index);
    zero_seen_ |= chunk.zero_seen;
  }
  return std::nullopt;
}

// Grow the result by what has been parsed; where each chunk goes.
template <class Value>
std::vector<typename Reader<Value>::Offset> Reader<Value>::make_room() {
  std::vector<Offset> offsets;
  Offset next{examples_.labels.size(), examples_.values.size()};
  for (const auto& chunk : parsed_) {
    offsets.push_back(next);
    next = {next.row + chunk.rows.size(), next.entry + chunk.entries.size()};
  }

  // An index equal to the limit may make one more feature than the limit.
  const auto limit = static_cast<std::size_t>(options_.narrow_limit);
  if (next.row > limit || next.entry > limit || max_index_ >= options_.narrow_limit) {
    examples_.indices.widen();
    examples_.indptr.widen();
  }
  examples_.indptr.resize(next.row + 1);
  examples_.labels.resize(next.row);
  if (has_qid()) examples_.qids.resize(next.row);
  examples_.values.resize(next.entry);
  examples_.indices.resize(next.entry);
  return offsets;
}

template <class Value>
void Reader<Value>::append(const Chunk<Value>& chunk, Offset at) {
  const std::span rows(chunk.rows.data(), chunk.rows.size());
  const std::span entries(chunk.entries.data(), chunk.entries.size());
  const auto before = static_cast<std::int64_t>(at.entry);
  examples_.indptr.visit([&]<class Index>(Index* indptr) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      indptr[at.row + r + 1] = static_cast<Index>(before + rows[r].end);
    }
  });
  double* const labels = examples_.labels.data() + at.row;
  for (std::size_t r = 0; r < rows.size(); ++r) labels[r] = rows[r].label;
  if (has_qid()) {
    std::int64_t* const qids = examples_.qids.data() + at.row;
    for (std::size_t r = 0; r < rows.size(); ++r) qids[r] = rows[r].qid;
  }
  // Files nearly always start at 1; `finish` puts it right for those that do not.
  const std::int64_t shift = options_.base == Base::zero ? 0 : 1;
  Value* const values = examples_.values.data() + at.entry;
  examples_.indices.visit([&]<class Index>(Index* indices) {
    for (std::size_t e = 0; e < entries.size(); ++e) {
      indices[at.entry + e] = static_cast<Index>(entries[e].index - shift);
      values[e] = entries[e].value;
    }
  });
}

template <class Value>
std::optional<Fault> Reader<Value>::finish() {
  std::vector<std::string_view> last_line;
  if (!partial_line_.empty()) {
    partial_line_ += '\n';
    last_line.push_back(partial_line_);
  }
  if (auto fault = parse(last_line)) return fault;
  if (auto fault = parse({})) return fault;  // appends the last line
  parsed_.clear();
  spare_.clear();

  const bool zero_based =
      options_.base == Base::zero || (options_.base == Base::automatic && zero_seen_);
  if (zero_based && beyond_if_zero_based_) return beyond_if_zero_based_;
  examples_.n_features = options_.n_features.value_or(max_index_ + (zero_based ? 1 : 0));
  examples_.n_features = std::max<index_t>(examples_.n_features, 0);
  if (zero_based && options_.base == Base::automatic) {
    const Blocks blocks =
        make_blocks(static_cast<index_t>(examples_.indices.size()), 1 << 16, 1 << 16);
    examples_.indices.visit([&](auto* indices) {
      for_blocks(blocks, options_.n_threads, [&](index_t, index_t begin, index_t end) {
        for (index_t e = begin; e < end; ++e) ++indices[e];
      });
    });
  }

  examples_.values.shrink_to_fit();
  examples_.indices.shrink_to_fit();
  examples_.indptr.shrink_to_fit();
  examples_.labels.shrink_to_fit();
  examples_.qids.shrink_to_fit();
  return std::nullopt;
}

template class Reader<float>;
template class Reader<double>;

}  // namespace cutplane::svmlight
