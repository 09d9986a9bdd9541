// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A device of runtime/stream.h that emulates CUDA's queues: work runs not where it is queued but when the host waits,
// in an order that streams and events allow. So a missing wait shows in some order, on every run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/stream.h"
#include "tests/emulated_cuda/block.h"

namespace roentgen::emulated {

/// Which of the work that is free to run comes first when the host waits.
enum class Schedule {
  Submitted,    ///< in the order of submission
  LatestFirst,  ///< the last that was submitted
  OnlyNeeded,   ///< as Submitted, but nothing that the host does not wait for
  Random,       ///< any
};
inline constexpr Schedule kSchedules[] = {Schedule::Submitted, Schedule::LatestFirst, Schedule::OnlyNeeded,
                                          Schedule::Random};

/// Choices of an emulated device.
struct DeviceOptions {
  Schedule schedule = Schedule::Submitted;
  Order order = Order::Forward;  ///< of blocks and threads
  std::uint64_t seed = 1;        ///< for Schedule::Random and Order::Random
  std::size_t free_bytes = std::numeric_limits<std::size_t>::max();
};

/// A piece of work and what it comes after, by index.
struct Node {
  std::string name;
  /// Returns whether it is done; work that waits for another process may have to be tried again.
  std::function<bool()> work;
  std::vector<std::size_t> after;
  bool is_done = false;
};

/// Captured work, with the arguments of the time of capture.
struct Graph {
  std::vector<Node> nodes;
  bool is_complete = false;  ///< the capture is over
};

class EmulatedDevice;
class Memory;

/// A queue. One thread.
class EmulatedStream final : public runtime::Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : device_(device) {}
  ~EmulatedStream() override;
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  using runtime::Stream::download;
  using runtime::Stream::upload;
  /// Pinned memory is read when the copy runs. Other memory is read now, after what was queued before.
  void upload(std::span<const std::byte> from, runtime::DeviceBuffer& to, std::size_t at) override;
  void download(const runtime::DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override;
  void record(runtime::Event& event) override;
  void wait_for(const runtime::Event& event) override;
  /// DeviceError naming the first work that failed, on this call and on every later one.
  void synchronize() override;

  /// Queues a kernel.
  void launch(std::string_view name, const Dim3& blocks, const Dim3& threads, std::function<void()> body);
  /// Queues work that waits for something outside of the device: `work` is called until it returns true.
  void attempt(std::string name, std::function<bool()> work);
  /// From now on work of this stream, and of streams that wait for its events, is captured instead of queued.
  void begin_capture();
  /// The captured work. DeviceError when another stream was forked from this one and did not join it.
  [[nodiscard]] std::shared_ptr<const Graph> end_capture();
  /// Queues all work of a graph.
  void replay(std::shared_ptr<const Graph> graph);

 private:
  /// Place of the stream in the device's queue or in a graph.
  struct Tail {
    std::size_t end = 0;             // one past the index of the last node; 0: none
    std::vector<std::size_t> waits;  // indices that the next node comes after
  };
  [[nodiscard]] bool is_capturing() const { return capture_ != nullptr && !capture_->is_complete; }
  [[nodiscard]] Tail& tail() { return is_capturing() ? captured_ : queued_; }
  // Of these, callers hold the device's mutex.
  void submit(std::string name, std::function<bool()> work);
  void submit_waits(std::string name);
  void copy(std::string name, std::span<const std::byte> host, std::function<void()> work);
  EmulatedDevice& device_;
  std::shared_ptr<Graph> capture_;
  Tail queued_, captured_;
};

/// The device. Several threads may queue, poll and wait; queued work is done by one of them at a time. Streams, events
/// and buffers must be gone before it.
class EmulatedDevice final : public runtime::Device {
 public:
  explicit EmulatedDevice(DeviceOptions options = {}) : options_(options) {}
  /// Aborts when work failed and no wait told of it.
  ~EmulatedDevice() override;
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;
  [[nodiscard]] std::string_view name() const override { return "cuda-emulated"; }
  [[nodiscard]] std::unique_ptr<runtime::DeviceBuffer> make_device_buffer(std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<runtime::PinnedBuffer> make_pinned_buffer(std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<runtime::Stream> make_stream() override;
  [[nodiscard]] std::unique_ptr<runtime::Event> make_event() override;
  [[nodiscard]] std::size_t free_bytes() const override { return options_.free_bytes; }

  [[nodiscard]] const DeviceOptions& options() const { return options_; }
  /// Runs work until node `index` is done, and more as the schedule has it. Yields to other threads while nothing can
  /// go on.
  void run_until(std::size_t index);
  /// Runs all that is queued, as freeing memory of a device waits for it. Errors are those of the next wait.
  void run_before_free();
  /// The error that the next wait throws, unless there is one.
  void keep_error(std::string error);
  /// Keeps an error when something was written past a device buffer.
  void check_buffers();
  /// Runs one piece of work that is free to run, if there is any. For hosts that poll.
  void run_one();
  [[nodiscard]] bool is_done(std::size_t index) const;

 private:
  friend class EmulatedStream;
  friend class EmulatedEvent;
  friend class EmulatedPinnedBuffer;
  friend class EmulatedDeviceBuffer;
  // Of these, callers hold the mutex.
  void require_no_capture(std::string_view what) const;
  /// Whether the calling thread captures: as in CUDA's thread-local mode, others may wait meanwhile.
  [[nodiscard]] bool is_capturing_here() const;
  /// Whether all of the wanted are done; false: the rest waits for something outside of the device.
  bool run_nodes(std::vector<Node>& nodes, const std::vector<char>& is_wanted);
  /// Whether the node is done now.
  bool run_node(Node& node);
  [[nodiscard]] bool try_until(std::size_t index);
  void look_at_buffers();
  mutable std::mutex mutex_;
  DeviceOptions options_;
  std::vector<Node> nodes_;
  std::size_t first_open_ = 0;  // nodes before it are done
  std::vector<std::span<const std::byte>> pinned_;
  std::vector<const Memory*> buffers_;
  int captures_ = 0;  // under way
  std::thread::id capturer_;
  void throw_error();
  std::string error_;
  bool is_told_ = false;  // of the error
};

/// The emulated stream behind the interface; DeviceError when it is another device's.
[[nodiscard]] EmulatedStream& as_emulated(runtime::Stream& stream);

}  // namespace roentgen::emulated
