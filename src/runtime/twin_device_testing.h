// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TwinDevice: imitates a GPU on the host, for tests. The host cannot read or write its addresses, so code that confuses
// device and host memory crashes at once. Its streams run work in their own threads, so code that forgets to wait reads
// wrong data.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/aligned_buffer.h"
#include "runtime/copy_room.h"
#include "runtime/stream.h"

namespace roentgen::runtime {

/// Host memory that holds the contents of a TwinDevice's addresses. Thread-safe.
class TwinMemory final : public DeviceCopies {
 public:
  /// Reserves addresses that the host cannot read or write. Throws DeviceError if address space is lacking.
  [[nodiscard]] std::byte* add(std::size_t bytes) {
    const std::size_t room = std::max<std::size_t>(bytes, 1);
    void* const address = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      throw DeviceError(error_text("runtime.twin", "device buffer", std::to_string(bytes) + " bytes", "none left"));
    }
    const std::scoped_lock lock(mutex_);
    auto* const begin = static_cast<std::byte*>(address);
    numbers_.emplace(begin, std::vector<std::byte>(bytes));
    return begin;
  }
  /// Frees the addresses after all streams have finished their queued work, as cudaFree does.
  void remove(std::byte* begin) {
    wait_for_streams();
    const std::scoped_lock lock(mutex_);
    const auto found = numbers_.find(begin);
    ::munmap(begin, std::max<std::size_t>(found->second.size(), 1));
    numbers_.erase(found);
  }
  /// Returns the host memory that holds the contents of a range of addresses, for kernels.
  [[nodiscard]] std::span<std::byte> behind(const std::byte* begin, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    auto found = numbers_.upper_bound(const_cast<std::byte*>(begin));
    RG_ASSERT(found != numbers_.begin());
    --found;
    const auto at = static_cast<std::size_t>(begin - found->first);
    RG_ASSERT(at + bytes <= found->second.size());
    return std::span(found->second).subspan(at, bytes);
  }
  /// Returns the host memory that holds the elements of a span.
  template <typename T>
  [[nodiscard]] std::span<T> behind(const DeviceSpan<T>& span) {
    RG_ASSERT(span.copies == this);
    const auto bytes = behind(reinterpret_cast<const std::byte*>(span.address), span.count * sizeof(T));
    return {reinterpret_cast<T*>(bytes.data()), span.count};
  }
  void read(const std::byte* from, std::span<std::byte> to) override {
    if (!to.empty()) std::memcpy(to.data(), behind(from, to.size()).data(), to.size());
  }
  void write(std::span<const std::byte> from, std::byte* to) override {
    if (!from.empty()) std::memcpy(behind(to, from.size()).data(), from.data(), from.size());
  }

  /// Counts unfinished work of all streams: `change` is +1 when work is queued and -1 when it is done.
  void count(int change) {
    const std::scoped_lock lock(mutex_);
    queued_ += change;
    changed_.notify_all();
  }

 private:
  void wait_for_streams() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::byte*, std::vector<std::byte>> numbers_;
  int queued_ = 0;
};

/// Event of a TwinStream. wait() waits for the most recent record().
class TwinEvent final : public Event {
 public:
  [[nodiscard]] bool is_reached() const override {
    const std::scoped_lock lock(state_->mutex);
    if (state_->error) std::rethrow_exception(state_->error);
    return state_->reached == state_->recorded;
  }
  void wait() const override { wait_for(recorded()); }

 private:
  friend class TwinStream;
  /// State of the event. Queued work shares it, so that it outlives the event.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t recorded = 0;
    std::int64_t reached = 0;  ///< number of the last record() that was reached
    std::exception_ptr error;
  };
  [[nodiscard]] std::int64_t recorded() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->recorded;
  }
  void wait_for(std::int64_t record) const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->reached >= record; });
    if (state_->error) std::rethrow_exception(state_->error);
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Stream that runs its work in a thread, in order. After work threw an exception, no later work runs, and waiting
/// functions throw it.
class TwinStream final : public Stream {
 public:
  explicit TwinStream(std::shared_ptr<TwinMemory> memory) : memory_(std::move(memory)), thread_([this] { serve(); }) {}
  ~TwinStream() override {
    {
      const std::scoped_lock lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
  }
  /// Queues a function as a kernel.
  void run(std::function<void()> kernel) {
    queue([kernel = std::move(kernel)](const std::exception_ptr& error) {
      if (!error) kernel();
    });
  }
  void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) override {
    require_room(to.size_bytes(), at, from.size());
    run([this, from, address = to.address() + at] { memory_->write(from, address); });
  }
  void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override {
    require_room(from.size_bytes(), at, to.size());
    run([this, to, address = from.address() + at] { memory_->read(address, to); });
  }
  void record(Event& event) override {
    const auto state = dynamic_cast<TwinEvent&>(event).state_;
    std::int64_t number = 0;
    {
      const std::scoped_lock lock(state->mutex);
      number = ++state->recorded;
    }
    queue([state, number](const std::exception_ptr& error) {
      const std::scoped_lock lock(state->mutex);
      state->reached = std::max(state->reached, number);
      state->error = error;
      state->changed.notify_all();
    });
  }
  void wait_for(const Event& event) override {
    const auto& twin = dynamic_cast<const TwinEvent&>(event);
    run([waited = twin, record = twin.recorded()] { waited.wait_for(record); });
  }
  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_.empty() && !is_busy_; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Function that the stream's thread runs; it receives the error of earlier work, or null.
  using Work = std::function<void(const std::exception_ptr& error)>;

  void queue(Work work) {
    memory_->count(1);
    {
      const std::scoped_lock lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_ending_ || !work_.empty(); });
      if (work_.empty()) return;
      Work work = std::move(work_.front());
      work_.pop_front();
      is_busy_ = true;
      std::exception_ptr error = error_;
      lock.unlock();
      try {
        work(error);
      } catch (...) {
        error = std::current_exception();
      }
      work = nullptr;
      memory_->count(-1);
      lock.lock();
      error_ = error;
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  const std::shared_ptr<TwinMemory> memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> work_;
  bool is_busy_ = false;
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::jthread thread_;
};

/// A device whose memory the host cannot access and whose work runs later in threads.
class TwinDevice final : public Device {
 public:
  [[nodiscard]] std::string_view name() const override { return "twin"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) override {
    return std::make_unique<Buffer>(memory_, bytes);
  }
  [[nodiscard]] std::unique_ptr<PinnedBuffer> make_pinned_buffer(std::size_t bytes) override {
    return std::make_unique<Pinned>(bytes);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return make_twin_stream(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return std::make_unique<TwinEvent>(); }
  [[nodiscard]] std::size_t free_bytes() const override { return free_bytes_; }
  /// Sets the result of free_bytes().
  void set_free_bytes(std::size_t bytes) { free_bytes_ = bytes; }

  /// Makes a stream that can also run kernels.
  [[nodiscard]] std::unique_ptr<TwinStream> make_twin_stream() { return std::make_unique<TwinStream>(memory_); }
  /// Host memory that holds the contents of the device's addresses.
  [[nodiscard]] TwinMemory& memory() { return *memory_; }

 private:
  class Buffer final : public DeviceBuffer {
   public:
    Buffer(std::shared_ptr<TwinMemory> memory, std::size_t bytes)
        : memory_(std::move(memory)), address_(memory_->add(bytes)), size_(bytes) {}
    ~Buffer() override { memory_->remove(address_); }
    [[nodiscard]] std::byte* address() const override { return address_; }
    [[nodiscard]] std::size_t size_bytes() const override { return size_; }
    [[nodiscard]] DeviceCopies* copies() const override { return memory_.get(); }

   private:
    std::shared_ptr<TwinMemory> memory_;
    std::byte* address_;
    std::size_t size_;
  };
  class Pinned final : public PinnedBuffer {
   public:
    explicit Pinned(std::size_t bytes) : memory_(bytes), size_(bytes) {}
    [[nodiscard]] std::span<std::byte> bytes() const override { return {memory_.data(), size_}; }

   private:
    AlignedBuffer memory_;
    std::size_t size_;
  };

  std::shared_ptr<TwinMemory> memory_ = std::make_shared<TwinMemory>();
  std::size_t free_bytes_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace roentgen::runtime
