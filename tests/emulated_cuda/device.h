// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A device for runtime/stream.h that emulates CUDA's queues. Work does not run when it is queued, but when the host
// waits, in an order that streams and events allow. So a missing wait causes an error in one of the schedules on every
// run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/stream.h"
#include "tests/emulated_cuda/block.h"

namespace roentgen::emulated {

/// Order of work that is ready to run when the host waits.
enum class Schedule {
  Submitted,    ///< in the order of submission
  LatestFirst,  ///< the work that was submitted last
  OnlyNeeded,   ///< as Submitted, but only work that the host waits for
  Random,       ///< random, by the seed
};
inline constexpr Schedule kSchedules[] = {Schedule::Submitted, Schedule::LatestFirst, Schedule::OnlyNeeded,
                                          Schedule::Random};

/// Options of an emulated device.
struct DeviceOptions {
  Schedule schedule = Schedule::Submitted;
  Order order = Order::Forward;  ///< order of blocks and threads
  std::uint64_t seed = 1;        ///< for Schedule::Random and Order::Random
  std::size_t free_bytes = std::numeric_limits<std::size_t>::max();
};

/// A piece of work, and the indices of the nodes that must be done before it.
struct Node {
  std::string name;
  /// Returns true if the work is done. Work that waits for another process may return false and is then tried again.
  std::function<bool()> work;
  std::vector<std::size_t> after;
  bool is_done = false;
};

/// Captured work with the arguments at the time of capture.
struct Graph {
  std::vector<Node> nodes;
  bool is_complete = false;  ///< the capture is over
};

class EmulatedDevice;
class Memory;

/// Emulated stream. For use by one thread.
class EmulatedStream final : public runtime::Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : device_(device) {}
  ~EmulatedStream() override;
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  using runtime::Stream::download;
  using runtime::Stream::upload;
  /// Reads pinned memory when the copy runs. Reads other memory immediately, after all earlier work.
  void upload(std::span<const std::byte> from, runtime::DeviceBuffer& to, std::size_t at) override;
  void download(const runtime::DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override;
  void record(runtime::Event& event) override;
  void wait_for(const runtime::Event& event) override;
  /// Waits for all work. Throws DeviceError that names the first failed work, also on every later call.
  void synchronize() override;

  /// Queues a kernel.
  void launch(std::string_view name, const Dim3& blocks, const Dim3& threads, std::function<void()> body);
  /// Queues work that depends on something outside of the device. `work` is called until it returns true.
  void attempt(std::string name, std::function<bool()> work);
  /// Begins a capture: later work of this stream, and of streams that wait for its events, is captured instead of
  /// queued.
  void begin_capture();
  /// Ends the capture and returns its work. Throws DeviceError if another stream joined the capture, but this stream
  /// has not waited for it.
  [[nodiscard]] std::shared_ptr<const Graph> end_capture();
  /// Queues all work of a graph.
  void replay(std::shared_ptr<const Graph> graph);

 private:
  /// Position of the stream in the device's queue or in a graph.
  struct Tail {
    std::size_t end = 0;             // one past the index of the last node; 0: none
    std::vector<std::size_t> waits;  // indices of nodes that must be done first
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

/// Emulated device. Several threads may queue, poll and wait; one of them at a time runs queued work. Streams, events
/// and buffers must be destroyed before the device.
class EmulatedDevice final : public runtime::Device {
 public:
  explicit EmulatedDevice(DeviceOptions options = {}) : options_(options) {}
  /// Aborts if work failed and no wait has reported the error.
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
  /// Runs work until node `index` is done, and more if the schedule requires it. Yields to other threads while no work
  /// is ready.
  void run_until(std::size_t index);
  /// Runs all queued work, because freeing device memory waits for all work. The next wait reports errors.
  void run_before_free();
  /// Stores the error that the next wait throws, unless another error is already stored.
  void keep_error(std::string error);
  /// Stores an error if a kernel has written past a device buffer.
  void check_buffers();
  /// Runs one piece of work that is ready, if there is any. For hosts that poll.
  void run_one();
  [[nodiscard]] bool is_done(std::size_t index) const;
  /// Number of buffers made so far, on the device and pinned.
  [[nodiscard]] std::int64_t buffers_made() const { return buffers_made_; }
  /// Number of calls of Stream::synchronize() so far.
  [[nodiscard]] std::int64_t synchronizations() const { return synchronizations_; }
  /// Names of all kernels launched so far, also in captures.
  [[nodiscard]] const std::set<std::string>& launched() const { return launched_; }
  /// Number of pieces of work that are queued and not done.
  [[nodiscard]] std::int64_t open_work() const;

 private:
  friend class EmulatedStream;
  friend class EmulatedEvent;
  friend class EmulatedPinnedBuffer;
  friend class EmulatedDeviceBuffer;
  // Of these, callers hold the mutex.
  void require_no_capture(std::string_view what) const;
  /// True if the calling thread is capturing. As in CUDA's thread-local mode, other threads may wait during a capture.
  [[nodiscard]] bool is_capturing_here() const;
  /// Runs the wanted nodes. Returns true if all are done; false if some wait for something outside of the device.
  bool run_nodes(std::vector<Node>& nodes, const std::vector<char>& is_wanted);
  /// Runs the node. Returns true if it is done.
  bool run_node(Node& node);
  [[nodiscard]] bool try_until(std::size_t index);
  void look_at_buffers();
  mutable std::mutex mutex_;
  DeviceOptions options_;
  std::vector<Node> nodes_;
  std::size_t first_open_ = 0;  // nodes before it are done
  std::vector<std::span<const std::byte>> pinned_;
  std::vector<const Memory*> buffers_;
  std::set<std::string> launched_;
  std::atomic<std::int64_t> buffers_made_ = 0, synchronizations_ = 0;
  int captures_ = 0;  // under way
  std::thread::id capturer_;
  void throw_error();
  std::string error_;
  bool is_told_ = false;  // of the error
};

/// Returns the emulated stream behind the interface. Throws DeviceError if it is a stream of another kind of device.
[[nodiscard]] EmulatedStream& as_emulated(runtime::Stream& stream);

}  // namespace roentgen::emulated
