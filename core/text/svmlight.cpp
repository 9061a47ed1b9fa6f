// Reading: a block of text is cut into chunks of whole lines, and each chunk is parsed into its own
// scratch memory. Once all are known to be well formed, their rows are appended to the result, at
// places that the counts of the chunks before decide. That happens together with the parsing of the
// next block, so that threads meet once per block: on a busy machine each meeting can cost a turn
// of the scheduler.
#include "core/text/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "core/text/decimal.hpp"

namespace cutplane::svmlight {

// What a line is held against.
struct Rules {
  bool with_qid;
  bool zero_allowed;
  index_t largest_index;  // beyond it no base can save the line
  index_t watched_index;  // acceptable only if the file turns out to start at 1; -1: none
  const char* too_large;  // what is wanted instead
};

namespace {

constexpr index_t no_limit = std::numeric_limits<index_t>::max();
constexpr int max_index_digits = 18;

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

// Parses one chunk. Throws nothing and allocates nothing: it runs in a thread.
template <class Value>
class ChunkParser {
 public:
  ChunkParser(const Rules& rules, Chunk<Value>& chunk)
      : rules_(rules), chunk_(chunk), end_(chunk.lines.data() + chunk.lines.size()) {}

  void run() {
    entry_ = chunk_.entries.data();
    row_ = chunk_.rows.data();
    for (const char* p = chunk_.lines.data(); p != nullptr && p < end_;) p = parse_line(p);
    chunk_.entries.resize(static_cast<std::size_t>(entry_ - chunk_.entries.data()));
    chunk_.rows.resize(static_cast<std::size_t>(row_ - chunk_.rows.data()));
  }

 private:
  static constexpr const char* kPair =
      "index:value, a whole number and a finite real number, such as 3:0.5";
  static constexpr const char* kFinite = std::is_same_v<Value, float>
                                             ? "a value that is finite in float32"
                                             : "a value that is finite in float64";

  // The start of the next line, or null if this one is malformed.
  const char* parse_line(const char* p) {
    line_ = p;
    p = skip_spaces(p);
    if (*p != '\n' && *p != '#') {
      first_ = entry_;
      p = parse_example(p);
      if (p == nullptr) return nullptr;
    }
    if (*p == '#') p = line_end(p, end_);
    ++chunk_.n_lines;
    return p + 1;
  }

  // The '\n' or '#' behind the example.
  const char* parse_example(const char* p) {
    const char* const label = p;
    const auto status = decimal::parse(p, end_, row_->label);
    if (status == decimal::Status::malformed || !ends_token(*p))
      return fail("a label that is a real number, such as 1, -1 or 0.5", label);
    if (status != decimal::Status::ok) return fail("a label that is finite in float64", label);
    p = skip_spaces(p);

    if (at_qid(p) != rules_.with_qid) {
      if (rules_.with_qid)
        return fail("qid:N after this label, since the first example has a qid", label);
      return fail("index:value without a qid before it, since the first example has no qid", p);
    }
    if (rules_.with_qid) {
      const char* const end = token_end(p);
      const auto result = std::from_chars(p + 4, end, row_->qid);
      if (result.ec != std::errc() || result.ptr != end)
        return fail("qid:N with a whole number N that fits in 64 bits", p);
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
      const auto status = decimal::parse(p, end_, entry_->value);
      if (status == decimal::Status::malformed || !ends_token(*p)) return fail(kPair, token);
      if (status != decimal::Status::ok) return fail(kFinite, token);
      entry_->index = index;
      ++entry_;
      sorted &= index > previous;
      previous = index;
      p = skip_spaces(p);
    }
    if (!sorted) p = sort_row(p);
    if (p != nullptr && entry_ != first_) p = check_range(p);
    if (p == nullptr) return nullptr;
    row_->end = entry_ - chunk_.entries.data();
    ++row_;
    return p;
  }

  // These return p, or null where something is wrong.
  const char* sort_row(const char* p) {
    const auto by_index = [](const auto& a, const auto& b) { return a.index < b.index; };
    const auto same_index = [](const auto& a, const auto& b) { return a.index == b.index; };
    std::sort(first_, entry_, by_index);
    if (std::adjacent_find(first_, entry_, same_index) == entry_) return p;
    return fail("each index at most once in a row", find_repeated());
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
  const char* check_range(const char* p) {
    const std::int64_t largest = entry_[-1].index;
    if (first_->index == 0) {
      if (!rules_.zero_allowed) {
        return fail("indices from 1 up, or zero_based=True or \"auto\"",
                    find_index(line_, [](auto index) { return index == 0; }));
      }
      chunk_.zero_seen = true;
    }
    if (largest > rules_.largest_index) {
      const auto beyond = [&](auto index) { return index > rules_.largest_index; };
      return fail(rules_.too_large, find_index(line_, beyond));
    }
    if (largest == rules_.watched_index && chunk_.watched.wanted == nullptr) {
      const auto is_largest = [=](auto index) { return index == largest; };
      chunk_.watched = {line_, find_index(line_, is_largest), chunk_.n_lines, rules_.too_large};
    }
    chunk_.max_index = std::max(chunk_.max_index, largest);
    return p;
  }

  // A token that is not digits and a colon: too many digits, or something else altogether.
  const char* fail_pair(const char* token) {
    const char* p = token;
    while (decimal::detail::is_digit(*p)) ++p;
    const bool too_long = p - token > max_index_digits && *p == ':';
    return fail(too_long ? "an index of at most 18 digits" : kPair, token);
  }

  const char* fail(const char* wanted, const char* token) {
    chunk_.fault = {line_, token, chunk_.n_lines, wanted};
    return nullptr;
  }

  const Rules& rules_;
  Chunk<Value>& chunk_;
  const char* const end_;
  const char* line_ = nullptr;
  Entry<Value>* first_ = nullptr;  // of the row
  Entry<Value>* entry_ = nullptr;  // the next to be written
  Row* row_ = nullptr;             // the same
};

Fault describe(const Place& place, index_t lines_before) {
  return {lines_before + place.line_number + 1, place.token - place.line + 1,
          std::string(place.token, token_end(place.token)), place.wanted};
}

// The longest of each, with the character before or behind it.
constexpr index_t index_room = 20;  // 19 digits and a colon
constexpr index_t value_room = 25;  // -2.2250738585072014e-308 and a space
constexpr index_t qid_room = 26;    // " qid:" and 20 digits, and a newline in all

template <class Number>
char* put(char* p, Number number) {
  // The caller has reserved room for the longest number, so this cannot fail.
  return std::to_chars(p, p + value_room, number).ptr;
}

}  // namespace

void IndexArray::widen() {
  if (wide()) return;
  const auto& narrow = std::get<0>(items);
  GrowingArray<std::int64_t> wider;
  wider.resize(narrow.size());
  std::copy_n(narrow.data(), narrow.size(), wider.data());
  items = std::move(wider);
}

template <class Value>
Reader<Value>::Reader(const Options& options)
    : options_(options),
      too_large_("an index that fits n_features=" +
                 std::to_string(options.n_features.value_or(0))) {
  if (options.n_features.value_or(0) > options.narrow_limit) {
    examples_.indices.widen();
    examples_.indptr.widen();
  }
  examples_.indptr.resize(1);
  examples_.indptr.visit([](auto* indptr) { indptr[0] = 0; });
}

template <class Value>
Reader<Value>::~Reader() = default;

template <class Value>
Rules Reader<Value>::rules() const {
  const index_t n_features = options_.n_features.value_or(0);
  Rules rules{with_qid_.value_or(false), options_.base != Base::one, no_limit, -1,
              too_large_.c_str()};
  if (options_.n_features) {
    rules.largest_index = options_.base == Base::zero ? n_features - 1 : n_features;
    if (options_.base == Base::automatic) rules.watched_index = n_features;
  }
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
    if (chunk.fault.wanted) return describe(chunk.fault, n_lines_);
    if (chunk.watched.wanted && !beyond_if_zero_based_)
      beyond_if_zero_based_ = describe(chunk.watched, n_lines_);
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

template <class Value, class Index>
std::vector<GrowingArray<char>> format_rows(const Rows<Value, Index>& rows, index_t first_index,
                                            int n_threads) {
  const Blocks blocks = make_blocks(std::ssize(rows.labels), 256, 256);
  std::vector<GrowingArray<char>> pieces(blocks.count);
  for (index_t b = 0; b < blocks.count; ++b) {
    const index_t first = blocks.begin(b), last = blocks.end(b);
    pieces[b].resize((rows.indptr[last] - rows.indptr[first]) * (index_room + value_room) +
                     (last - first) * (value_room + qid_room));
  }
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    char* p = pieces[b].data();
    for (index_t row = begin; row < end; ++row) {
      p = put(p, rows.labels[row]);
      if (!rows.qids.empty()) {
        std::memcpy(p, " qid:", 5);
        p = put(p + 5, rows.qids[row]);
      }
      for (Index e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
        *p++ = ' ';
        p = put(p, static_cast<std::int64_t>(rows.indices[e]) + first_index);
        *p++ = ':';
        p = put(p, rows.values[e]);
      }
      *p++ = '\n';
    }
    pieces[b].resize(static_cast<std::size_t>(p - pieces[b].data()));
  });
  return pieces;
}

using Pieces = std::vector<GrowingArray<char>>;
template Pieces format_rows(const Rows<float, std::int32_t>&, index_t, int);
template Pieces format_rows(const Rows<float, std::int64_t>&, index_t, int);
template Pieces format_rows(const Rows<double, std::int32_t>&, index_t, int);
template Pieces format_rows(const Rows<double, std::int64_t>&, index_t, int);

}  // namespace cutplane::svmlight
