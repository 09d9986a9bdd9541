// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CommThread: the thread that communicates with other ranks, so that gradients are sent while backward continues. It
// owns the communicator and makes every call to it (MPI_THREAD_FUNNELED is enough). It starts collectives in the order
// given and polls all that are in flight, yielding its core between polls. It never blocks in a collective: a blocking
// call takes half a core from computing, and cannot have a timeout. While none is in flight, it blocks until the
// device has the next gradients ready.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/thread_annotations.h"
#include "core/timeline.h"
#include "dist/communicator.h"
#include "dist/nccl_averages.h"
#include "dist/reduce/reducer.h"
#include "runtime/stream.h"

namespace roentgen::dist {

/// Communication thread of this rank. Thread-safe, but all ranks must request the same collectives in the same order,
/// so one thread per rank should make the requests. After an average has failed, every call throws the reason.
class CommThread {
 public:
  using Make = std::function<std::unique_ptr<Communicator>()>;
  /// Watches the release of a device after a failure, because aborting NCCL can hang. Called before the release; the
  /// returned object is destroyed after it.
  using Watch = std::function<std::shared_ptr<void>(const std::exception_ptr& failure)>;
  /// Creates the communicator by calling `make` on the new thread; rethrows its exceptions.
  /// @param limit timeout of each collective, from its start; CommError then names the missing ranks
  /// @param reduce algorithm and wire format of all_reduce_mean()
  /// @param watch called on the new thread; empty: none
  CommThread(const Make& make, std::chrono::milliseconds limit, const ReduceOptions& reduce = {}, Watch watch = {});
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;
  /// Ends without waiting for pending collectives. During an exception, it abandons the other ranks without notice.
  /// Waits while a device still computes the gradients of the next request.
  ~CommThread();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// First rank of this part of the job, counted in the whole job; 0 before divide().
  [[nodiscard]] int first_rank() const { return first_rank_; }
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  /// True if other ranks are threads of this process.
  [[nodiscard]] bool shares_process() const { return shares_process_; }
  /// Names of the hosts, by rank.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  /// Names of the averaging algorithm and the wire format.
  [[nodiscard]] const std::string& way() const { return way_; }
  /// True if all_reduce_mean() gives the same bits in buckets of any size (Reducer::is_free_of_bucket_size()). Averages
  /// of queue_mean() never promise this, because NCCL chooses the order of sums by size.
  [[nodiscard]] bool is_free_of_bucket_size() const { return is_free_of_bucket_size_; }
  /// Timeout of a collective.
  [[nodiscard]] std::chrono::milliseconds limit() const { return limit_; }

  /// Requests the average of gradients over all ranks, in place, and returns a ticket for wait(). Starts when `ready`
  /// is reached. Gradients must not be accessed, and the event must live, until wait() returns. Device memory is copied
  /// through the host. Allocates only while the number of pending requests reaches a new maximum.
  [[nodiscard]] std::int64_t all_reduce_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                             Phase phase);
  /// Sets the device of the gradients. Averages on it by NCCL if make_nccl_averages() allows that, else copies
  /// gradients through pinned memory. All ranks call it together. Throws as make_nccl_averages() does.
  void use_device(const GradientDevice& device);
  /// Ends the use of the device, together with all ranks, unless a failure happened. The device is not accessed
  /// afterwards. Never throws, because it must not hide an earlier failure.
  void leave_device() noexcept;
  /// Library that averages on the device, such as "NCCL 2.28.9"; empty if gradients are copied through the host.
  [[nodiscard]] const std::string& device_way() const { return device_way_; }
  /// True if ReduceOptions requested NCCL, even with a single rank.
  [[nodiscard]] bool is_nccl_asked() const { return is_nccl_asked_; }
  /// Queues an average of gradients on the device; requires a non-empty device_way(). The average starts after `ready`
  /// and then records `done`. wait() returns when it is queued, so that streams wait for `done` instead of the host.
  /// Later calls report its errors. The gradients must live until settle() returns.
  /// @param is_last true for the last gradients of an update
  [[nodiscard]] std::int64_t queue_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                        runtime::Event& done, bool is_last, Phase phase);
  /// Waits until all averages of queue_mean() are computed. Throws CommError if one failed; results computed from its
  /// gradients are then invalid.
  void settle();
  /// Requests the sum of doubles over all ranks, for example in device memory; otherwise like all_reduce_mean().
  [[nodiscard]] std::int64_t all_reduce_sum(runtime::DeviceSpan<double> figures, const runtime::Event& ready,
                                            Phase phase);
  /// Requests the average of host floats, like all_reduce_mean(), but always in float32 by the default algorithm.
  [[nodiscard]] std::int64_t average_figures(std::span<float> figures, Phase phase);
  /// Sends `data` to another rank of the job when `ready` is reached; otherwise like all_reduce_mean().
  [[nodiscard]] std::int64_t send(runtime::DeviceSpan<float> data, const runtime::Event& ready, Address to,
                                  Phase phase);
  /// Sends bytes in host memory to another rank.
  [[nodiscard]] std::int64_t send(std::span<const std::byte> data, Address to, Phase phase);
  /// Receives a message of another rank; `data` must not be accessed before wait() returns.
  /// @param more added to limit(), for replies of a rank that itself waits for other ranks
  [[nodiscard]] std::int64_t receive(runtime::DeviceSpan<float> data, Address from, Phase phase,
                                     std::chrono::milliseconds more = {});
  /// Receives bytes into host memory.
  [[nodiscard]] std::int64_t receive(std::span<std::byte> data, Address from, Phase phase,
                                     std::chrono::milliseconds more = {});
  /// Divides the ranks of the job into two parts (Communicator::divide()). Call it before other threads use this
  /// object. Afterwards size() and hosts() refer to the part, and all_reduce_mean() must not be called.
  void divide(int last);
  /// Waits until the request with this ticket is done. Throws CommError if this or an earlier request failed.
  void wait(std::int64_t ticket);
  /// Runs `work` on the communication thread, after the start of all earlier requests, and waits for it. Used for
  /// collectives at the start and between epochs. Rethrows the error of `work`. If waiting for other ranks failed,
  /// every later call throws, too.
  void call(const std::function<void(Communicator&)>& work);

  /// Marks this rank as failed and abandons the other ranks without notice; later calls throw. When it returns, memory
  /// given to all_reduce_mean() is not accessed any more. Waits for the device as the destructor does. Returns true if
  /// this rank was the first of the job to fail. May be called again.
  [[nodiscard]] bool fail() noexcept;

  /// Records later requests as spans of `timeline`, while it is recording; null ends this.
  void trace(Timeline* timeline);

  /// Seconds of communication so far that computation did not hide. If device_way() is empty: time that callers spent
  /// in wait(). Else: time from the last gradients of an update until their average, added when the average is done.
  [[nodiscard]] double exposed_s() const;

 private:
  /// Kind of a request: a collective, or one end of a message.
  enum class Kind : std::uint8_t { Collective, Send, Receive };
  struct Request {
    std::span<float> data;
    /// Values to sum; empty: `data` is averaged.
    std::span<double> sums{};
    /// Copies `data` and `sums` to and from a device; null if they are in host memory.
    runtime::DeviceCopies* copies = nullptr;
    /// Event that is reached when the values are ready.
    const runtime::Event* ready = &runtime::reached_event();
    Phase phase{};
    /// True: average with the algorithm and wire format of ReduceOptions.
    bool is_gradients = false;
    /// Events before and after an average by NCCL; null if NCCL is not used.
    const runtime::Event* after = nullptr;
    runtime::Event* done = nullptr;
    bool is_last = false;
    Kind kind = Kind::Collective;
    /// Bytes of a message.
    std::span<std::byte> bytes{};
    Address other{};
    /// Time added to limit_.
    std::chrono::milliseconds more{};
    /// Function to call instead of a collective; null: none.
    const std::function<void(Communicator&)>* work = nullptr;
    /// Timeline that records the request; null if it is not traced.
    Timeline* timeline = nullptr;
    std::int64_t given_ns = 0;
  };
  struct Flight {
    std::int64_t ticket = 0;
    Pending pending;
    /// Average by NCCL, else null. `is_told` is true after its caller learned that it is queued.
    NcclAverage* average = nullptr;
    bool is_last = false;
    bool is_told = false;
    /// Host copy of device values: its first `staged_bytes`. The result is copied back to `device`.
    std::unique_ptr<runtime::PinnedBuffer> staged{};
    std::size_t staged_bytes = 0;
    std::byte* device = nullptr;
    runtime::DeviceCopies* copies = nullptr;
    std::chrono::steady_clock::time_point begin;
    std::chrono::milliseconds limit{};
    Timeline* timeline = nullptr;
    Span span{};
  };

  void run(const Make& make);
  void serve(Communicator& group, Reducer& reducer);
  /// Removes and returns the first request, which must exist.
  [[nodiscard]] Request take_first();
  void start(Communicator& group, Reducer& reducer, Request request, std::int64_t ticket);
  /// Memory that a request sums, averages, sends or receives.
  [[nodiscard]] static std::span<std::byte> bytes_of(const Request& request);
  /// Copies device memory of a request to the host; the request then refers to the copy.
  void stage(Request& request, Flight& flight);
  [[nodiscard]] std::unique_ptr<runtime::PinnedBuffer> pinned(std::size_t bytes);
  [[nodiscard]] static Pending begin(Communicator& group, Reducer& reducer, const Request& request);
  /// Lets other threads compute: yields if this thread must poll collectives or queue an average, else sleeps for
  /// kDevicePollTime.
  void pause();
  void release_device();
  /// Calls release_device() under watch_. For handlers of exceptions.
  void release_after_failure();
  void poll_all();
  /// Checks an unfinished average by NCCL for failures, and reports when it is queued.
  void watch(Flight& flight);
  /// Handles the end of a collective: copies the result back, records it, wakes callers and removes it.
  void end(std::size_t flight);
  [[nodiscard]] std::int64_t give(const Request& request);
  void finish(std::int64_t ticket);

  const std::chrono::milliseconds limit_;
  const ReduceOptions reduce_;
  const std::string way_;
  const Watch watch_;
  const bool is_nccl_asked_;
  /// Result of device_way(); accessed only while the callers' thread waits, or by that thread.
  std::string device_way_;
  const int exceptions_ = std::uncaught_exceptions();
  int rank_ = 0;
  int size_ = 1;
  int first_rank_ = 0;
  int local_rank_ = 0;
  int local_size_ = 1;
  bool shares_process_ = false;
  std::vector<std::string> hosts_;
  bool is_free_of_bucket_size_ = false;

  mutable Mutex mutex_;
  std::condition_variable_any has_work_;
  std::condition_variable_any is_done_;
  std::vector<Request> requests_ RG_GUARDED_BY(mutex_);
  std::int64_t given_ RG_GUARDED_BY(mutex_) = 0;
  /// Requests with lower tickets are done, and also the tickets in `early_`.
  std::int64_t done_ RG_GUARDED_BY(mutex_) = 0;
  std::vector<std::int64_t> early_ RG_GUARDED_BY(mutex_);
  bool is_made_ RG_GUARDED_BY(mutex_) = false;
  bool is_stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_abandoning_ RG_GUARDED_BY(mutex_) = false;
  bool is_failing_ RG_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
  bool is_first_to_fail_ RG_GUARDED_BY(mutex_) = true;
  double exposed_s_ RG_GUARDED_BY(mutex_) = 0.0;
  /// Number of unfinished averages of queue_mean().
  std::int64_t on_device_ RG_GUARDED_BY(mutex_) = 0;
  Timeline* timeline_ RG_GUARDED_BY(mutex_) = nullptr;

  /// Members from here on are used only by the communication thread.
  std::vector<Flight> flights_;
  /// Free buffers for Flight::staged.
  std::vector<std::unique_ptr<runtime::PinnedBuffer>> spare_;
  /// Devices that allocate these pinned buffers: the device of use_device(), or else the host.
  runtime::Device* device_ = nullptr;
  std::unique_ptr<runtime::Device> host_ = runtime::make_cpu_device();
  std::unique_ptr<NcclAverages> nccl_;
  std::int64_t started_ = 0;

  std::jthread thread_;
};

}  // namespace roentgen::dist
