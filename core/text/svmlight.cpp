// Reading: a block of text is cut into chunks of whole lines, and each chunk is parsed into its own
// scratch memory. Once all are known to be well formed, their rows are appended to the result, at
// places that the counts of the chunks before decide. That happens together with the parsing of the
// next block, so that threads meet once per block: on a busy machine each meeting can cost a turn
// of the scheduler.
#include "core/text/svmlight.hpp"

#include <algorithm>
#include <utility>

#include "core/text/svmlight_chunk.hpp"

namespace cutplane::svmlight {

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
