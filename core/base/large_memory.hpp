// Memory for tables of many megabytes that are met in random places: on large pages where the
// system has them, for otherwise finding a page takes longer than reading it.
//
// Arrays that are written once and read in order have them only if they are very large: the page
// of a virtual machine may have to be fetched from the host, all of its two megabytes, where small
// pages that were in use before are at hand. A fit on 46 MB of weights took half of its time for
// that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace cutplane {

// Ask for large pages for an array that has not been touched yet.
template <class T>
void prefer_large_pages([[maybe_unused]] T* data, [[maybe_unused]] std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 1 << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(data + size) / kPage * kPage;
  // Advice: where it is not taken, all is as before.
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// An array whose numbers are not set yet, to be met in order.
template <class T>
std::unique_ptr<T[]> unset_array(std::size_t size) {
  constexpr std::size_t kVeryLarge = 64 << 20;
  auto data = std::make_unique_for_overwrite<T[]>(size);
  if (size >= kVeryLarge / sizeof(T)) prefer_large_pages(data.get(), size);
  return data;
}
// The same to be met in random places.
template <class T>
std::unique_ptr<T[]> unset_table(std::size_t size) {
  auto data = std::make_unique_for_overwrite<T[]>(size);
  prefer_large_pages(data.get(), size);
  return data;
}

// How the entries of an array are met: alone, or many that lie side by side. Then small pages will
// do, for finding one is little beside reading so much of it.
enum class Met { alone, together };

// An array of doubles, all zero: memory from the system is so already.
class LargeArray {
 public:
  explicit LargeArray(std::size_t size = 0, Met met = Met::alone)
      : size_(size), data_(static_cast<double*>(std::calloc(size, sizeof(double)))) {
    if (!data_ && size > 0) throw std::bad_alloc();
    if (met == Met::alone) prefer_large_pages(data_.get(), size);
  }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  const double* begin() const { return data_.get(); }
  const double* end() const { return data_.get() + size_; }

 private:
  struct Freed {
    void operator()(double* data) const noexcept { std::free(data); }
  };

  std::size_t size_;
  std::unique_ptr<double[], Freed> data_;
};

}  // namespace cutplane
