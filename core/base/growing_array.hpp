// An array that grows without being initialised, and without being copied where the system can
// help: realloc moves the pages of a large block instead of its bytes, and memory that was reserved
// but never written takes no room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace cutplane {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

  // Empty, with room for `capacity` items. The old ones are let go before, not copied, and a little
  // more than asked for is taken: the next use is likely to need about as much.
  void restart(std::size_t capacity) {
    size_ = 0;
    if (capacity <= capacity_) return;
    memory_.reset();
    capacity_ = 0;
    reallocate(capacity + capacity / 8);
  }

  // New items hold whatever the memory held.
  void resize(std::size_t size) {
    if (size > capacity_) reallocate(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }

  void shrink_to_fit() { reallocate(size_); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };

  void reallocate(std::size_t capacity) {
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    // realloc of zero bytes may free, so at least one item is kept.
    void* moved = std::realloc(memory_.get(), std::max<std::size_t>(capacity, 1) * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    memory_.release();
    memory_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }

  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace cutplane
