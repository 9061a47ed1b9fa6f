// Any bytes as svmlight text. Whatever they are, what comes out depends on the text and the options
// alone, not on how the text was cut; the arrays of a well-formed text are CSR arrays; and they
// survive being written and read again.
//
// The first five bytes are the options, the rest is the text.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/svmlight.hpp"

namespace {

using namespace cutplane;
using namespace cutplane::svmlight;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

struct Read {
  std::optional<Fault> fault;
  std::vector<std::int64_t> indices, indptr, qids;
  std::vector<double> values, labels;
  index_t n_features = 0;
  bool wide = false;
};

std::vector<std::int64_t> whole(IndexArray& array) {
  std::vector<std::int64_t> found;
  array.visit([&](auto* data) { found.assign(data, data + array.size()); });
  return found;
}

template <class Value>
Read read(std::string_view text, const Options& options, std::size_t block) {
  Reader<Value> reader(options);
  Read found;
  while (!found.fault && !text.empty()) {
    // A copy of its own for each block, so that a read beyond its end is seen.
    const std::string piece(text.substr(0, block));
    found.fault = reader.feed(piece);
    text.remove_prefix(piece.size());
  }
  if (!found.fault) found.fault = reader.finish();
  if (found.fault) return found;
  auto& examples = reader.examples();
  found.indices = whole(examples.indices);
  found.indptr = whole(examples.indptr);
  found.qids.assign(examples.qids.data(), examples.qids.data() + examples.qids.size());
  found.values.assign(examples.values.data(), examples.values.data() + examples.values.size());
  found.labels.assign(examples.labels.data(), examples.labels.data() + examples.labels.size());
  found.n_features = examples.n_features;
  found.wide = examples.indices.wide();
  require(examples.indptr.wide() == found.wide, "indices and row ends have one width");
  return found;
}

bool same_fault(const std::optional<Fault>& a, const std::optional<Fault>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->line == b->line && a->column == b->column && a->token == b->token &&
         a->wanted == b->wanted;
}

bool same(const Read& a, const Read& b) {
  return same_fault(a.fault, b.fault) && a.indices == b.indices && a.indptr == b.indptr &&
         a.qids == b.qids && a.values == b.values && a.labels == b.labels &&
         a.n_features == b.n_features;
}

void check_rows(const Read& found) {
  require(found.indptr.size() == found.labels.size() + 1, "a row has a beginning and an end");
  require(found.indptr.front() == 0, "rows begin with the first entry");
  require(found.indptr.back() == std::ssize(found.values), "rows end with the last entry");
  require(found.indices.size() == found.values.size(), "a value has an index");
  require(found.qids.empty() || found.qids.size() == found.labels.size(), "all have a qid or none");
  for (const double value : found.values) require(std::isfinite(value), "values are finite");
  for (const double label : found.labels) require(std::isfinite(label), "labels are finite");
  for (std::size_t row = 0; row < found.labels.size(); ++row) {
    require(found.indptr[row] <= found.indptr[row + 1], "rows follow each other");
    for (std::int64_t e = found.indptr[row]; e < found.indptr[row + 1]; ++e) {
      require(found.indices[e] >= 0 && found.indices[e] < found.n_features, "columns exist");
      require(e == found.indptr[row] || found.indices[e - 1] < found.indices[e],
              "columns are sorted");
    }
  }
}

template <class Value>
std::string written(const Read& found) {
  const std::vector<Value> values(found.values.begin(), found.values.end());
  std::string text;
  const Rows<Value, std::int64_t> rows{values, found.indices, found.indptr, found.labels,
                                       found.qids};
  for (const auto& piece : format_rows(rows, 1, 1)) {
    text.append(piece.data(), piece.size());
  }
  return text;
}

template <class Value>
void run(std::string_view text, Options options, std::size_t block) {
  const Read found = read<Value>(text, options, block);
  Options other = options;
  other.chunk_bytes = 1 << 18;
  require(same(found, read<Value>(text, other, text.size() + 1)), "how it is cut is no matter");
  if (found.fault) {
    require(found.fault->line >= 1 && found.fault->column >= 1, "lines and columns start at 1");
    require(!found.fault->wanted.empty(), "a fault says what would be accepted");
    return;
  }
  check_rows(found);
  // Counted from one, the last column would have an index of 19 digits, one more than files may
  // have.
  if (found.n_features == 1'000'000'000'000'000'000) return;
  Options again;
  again.n_threads = 1;
  again.base = Base::one;
  again.n_features = found.n_features;
  require(same(found, read<Value>(written<Value>(found), again, block)),
          "what is written reads back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  Options options;
  options.n_threads = 1;
  options.base = static_cast<Base>(data[0] % 3);
  if (data[1] & 1) options.n_features = data[1] >> 1;
  if (data[2] & 1) options.narrow_limit = data[2] >> 1;
  options.chunk_bytes = data[3] & 15;
  const std::size_t block = (data[4] & 63) + 1;
  const std::string_view text(reinterpret_cast<const char*>(data + 5), size - 5);
  if (data[4] & 64) {
    run<float>(text, options, block);
  } else {
    run<double>(text, options, block);
  }
  return 0;
}
