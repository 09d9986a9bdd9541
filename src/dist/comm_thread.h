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

/// Thread-safe, but all ranks must request the same collectives in the same order, so one thread per rank should make
/// the requests. After an average has failed, every call throws the reason.
class CommThread {
 public:
  using Make = std::function<std::unique_ptr<Communicator>()>;
  /// Makes the communicator on the thread; throws what that throws.
  /// @param limit of any collective, from its start: beyond it CommError names the ranks that are missing
  /// @param reduce how all_reduce_mean() does it
  CommThread(const Make& make, std::chrono::milliseconds limit, const ReduceOptions& reduce = {});
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;
  /// Ends without waiting for pending collectives. During an exception it leaves without notice to the others.
  /// Waits while a device still works on the gradients that are next.
  ~CommThread();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Number in the job of the part's first rank; 0 before divide().
  [[nodiscard]] int first_rank() const { return first_rank_; }
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  /// Names of the hosts, by rank.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  /// Names of the averaging algorithm and the wire format.
  [[nodiscard]] const std::string& way() const { return way_; }
  /// True if all_reduce_mean() gives the same bits in buckets of any size (Reducer::is_free_of_bucket_size()). Averages
  /// of queue_mean() never promise this, because NCCL chooses the order of sums by size.
  [[nodiscard]] bool is_free_of_bucket_size() const { return is_free_of_bucket_size_; }
  /// Timeout of a collective.
  [[nodiscard]] std::chrono::milliseconds limit() const { return limit_; }

  /// Averages gradients over all ranks, in place, once they are ready. Nothing may touch them before wait() has
  /// returned; until then the event must live. Memory of another device is copied through the host. Allocates only
  /// while the number in flight reaches a new maximum.
  [[nodiscard]] std::int64_t all_reduce_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                             Phase phase);
  /// Gradients lie on this device from now on: forms a group of NCCL where make_nccl_averages() does, and copies others
  /// through pinned memory. All ranks call it together. Throws as make_nccl_averages().
  void use_device(const GradientDevice& device);
  /// Takes leave of the device, together with all ranks, unless something has failed: afterwards nothing here touches
  /// it. Throws nothing, since it must not hide a failure.
  void leave_device() noexcept;
  /// Name of what averages on the device, "NCCL 2.28.9"; empty: gradients of a device are copied through the host.
  [[nodiscard]] const std::string& device_way() const { return device_way_; }
  /// NCCL was asked for by ReduceOptions, also for one rank.
  [[nodiscard]] bool is_nccl_asked() const { return is_nccl_asked_; }
  /// Queues an average of gradients on the device, with a device_way() alone. It starts after `ready`; `done` is
  /// recorded behind it. wait() returns once it is queued: then streams may wait for `done`, and the host need not.
  /// Errors come with later calls. The gradients must live until settle() has returned.
  /// @param is_last no more gradients follow in this update
  [[nodiscard]] std::int64_t queue_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                        runtime::Event& done, bool is_last, Phase phase);
  /// Waits until the device has made all averages of queue_mean(). Throws CommError where one failed: what was computed
  /// of its gradients is void.
  void settle();
  /// Sums figures of a device; otherwise as all_reduce_mean() of gradients.
  [[nodiscard]] std::int64_t all_reduce_sum(runtime::DeviceSpan<double> figures, const runtime::Event& ready,
                                            Phase phase);
  /// Averages figures of the host, as all_reduce_mean() of gradients, but in float32 whatever ReduceOptions say.
  [[nodiscard]] std::int64_t average_figures(std::span<float> figures, Phase phase);
  /// Sends `data` to another rank of the job once it is ready; otherwise as all_reduce_mean().
  [[nodiscard]] std::int64_t send(runtime::DeviceSpan<float> data, const runtime::Event& ready, Address to,
                                  Phase phase);
  /// Sends bytes of the host.
  [[nodiscard]] std::int64_t send(std::span<const std::byte> data, Address to, Phase phase);
  /// Receives what another rank sends; nothing may touch `data` before wait() has returned.
  /// @param more is added to limit(): for answers of a rank that waits for others itself
  [[nodiscard]] std::int64_t receive(runtime::DeviceSpan<float> data, Address from, Phase phase,
                                     std::chrono::milliseconds more = {});
  /// Receives bytes of the host.
  [[nodiscard]] std::int64_t receive(std::span<std::byte> data, Address from, Phase phase,
                                     std::chrono::milliseconds more = {});
  /// Divides the job's ranks (Communicator::divide()). Call it before another thread uses this. From then on size() and
  /// hosts() are the part's. Gradients cannot be averaged by all_reduce_mean() any more.
  void divide(int last);
  /// Waits until that one is done. Throws CommError, of this one or an earlier one.
  void wait(std::int64_t ticket);
  /// Runs `work` on the thread and waits for it: collectives at the start and between epochs. Collectives requested
  /// earlier are started earlier. Throws the error of `work` only to this caller. If waiting for other ranks failed,
  /// every later call throws, too.
  void call(const std::function<void(Communicator&)>& work);

  /// Marks this rank as failed: the others are left without notice, and nothing more can be done here. After it
  /// returns, nothing touches the memory of all_reduce_mean() any more. Waits for the device as the destructor does.
  /// May be called again.
  [[nodiscard]] bool fail() noexcept;

  /// Records averages that are requested from now on as spans of `timeline`, while it records. Null: none.
  void trace(Timeline* timeline);

  /// Seconds of communication so far that computing did not hide. Without a device_way(): what callers spent in wait().
  /// With one: from the time at which the last gradients of an update were ready until their average was; known once it
  /// is.
  [[nodiscard]] double exposed_s() const;

 private:
  /// Kind of a request: a collective, or one end of a message.
  enum class Kind : std::uint8_t { Collective, Send, Receive };
  struct Request {
    std::span<float> data;
    /// Values to sum; empty: `data` is averaged.
    std::span<double> sums{};
    /// Copies for `data` and `sums` of another device; null: they are the host's.
    runtime::DeviceCopies* copies = nullptr;
    /// Event that is reached once the values are ready.
    const runtime::Event* ready = &runtime::reached_event();
    Phase phase{};
    /// Runs the average as ReduceOptions say.
    bool is_gradients = false;
    /// Average by NCCL: its beginning and its end. Null: not by NCCL.
    const runtime::Event* after = nullptr;
    runtime::Event* done = nullptr;
    bool is_last = false;
    Kind kind = Kind::Collective;
    /// Bytes of a message, whatever their type.
    std::span<std::byte> bytes{};
    Address other{};
    /// Time beyond limit_.
    std::chrono::milliseconds more{};
    /// Function to call instead of a collective; null: none.
    const std::function<void(Communicator&)>* work = nullptr;
    /// Null: not traced.
    Timeline* timeline = nullptr;
    std::int64_t given_ns = 0;
  };
  struct Flight {
    std::int64_t ticket = 0;
    Pending pending;
    /// Null: not by NCCL. `is_told`: that it is queued.
    NcclAverage* average = nullptr;
    bool is_last = false;
    bool is_told = false;
    /// Host's copy of what lies on another device, which gets it back; its first `staged_bytes`.
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
  /// Removes the first request, which must exist, and returns it.
  [[nodiscard]] Request take_first();
  void start(Communicator& group, Reducer& reducer, Request request, std::int64_t ticket);
  /// Memory that a request sums, averages, sends or receives.
  [[nodiscard]] static std::span<std::byte> bytes_of(const Request& request);
  /// Copies another device's memory to the host; the request then refers to that copy.
  void stage(Request& request, Flight& flight);
  [[nodiscard]] std::unique_ptr<runtime::PinnedBuffer> pinned(std::size_t bytes);
  [[nodiscard]] static Pending begin(Communicator& group, Reducer& reducer, const Request& request);
  /// Lets other threads compute: yields while collectives need to be polled, else sleeps a little.
  void pause();
  void release_device();
  void poll_all();
  /// Looks at an average of NCCL that is not done.
  void watch(Flight& flight);
  /// Does what follows the end of a collective, and removes it.
  void end(std::size_t flight);
  [[nodiscard]] std::int64_t give(const Request& request);
  void finish(std::int64_t ticket);

  const std::chrono::milliseconds limit_;
  const ReduceOptions reduce_;
  const std::string way_;
  const bool is_nccl_asked_;
  /// Result of device_way(): used by the callers' thread alone, written while it waits.
  std::string device_way_;
  const int exceptions_ = std::uncaught_exceptions();
  int rank_ = 0;
  int size_ = 1;
  int first_rank_ = 0;
  int local_rank_ = 0;
  int local_size_ = 1;
  std::vector<std::string> hosts_;
  bool is_free_of_bucket_size_ = false;

  mutable Mutex mutex_;
  std::condition_variable_any has_work_;
  std::condition_variable_any is_done_;
  std::vector<Request> requests_ RG_GUARDED_BY(mutex_);
  std::int64_t given_ RG_GUARDED_BY(mutex_) = 0;
  /// Tickets below it are done; those in `early_` as well.
  std::int64_t done_ RG_GUARDED_BY(mutex_) = 0;
  std::vector<std::int64_t> early_ RG_GUARDED_BY(mutex_);
  bool is_made_ RG_GUARDED_BY(mutex_) = false;
  bool is_stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_abandoning_ RG_GUARDED_BY(mutex_) = false;
  bool is_failing_ RG_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
  bool is_first_to_fail_ RG_GUARDED_BY(mutex_) = true;
  double exposed_s_ RG_GUARDED_BY(mutex_) = 0.0;
  /// Averages of queue_mean() that are not done.
  std::int64_t on_device_ RG_GUARDED_BY(mutex_) = 0;
  Timeline* timeline_ RG_GUARDED_BY(mutex_) = nullptr;

  /// Members used by the thread only.
  std::vector<Flight> flights_;
  /// Memory of Flight::staged that is free.
  std::vector<std::unique_ptr<runtime::PinnedBuffer>> spare_;
  /// Makers of that memory: the device of use_device(), else the host.
  runtime::Device* device_ = nullptr;
  std::unique_ptr<runtime::Device> host_ = runtime::make_cpu_device();
  std::unique_ptr<NcclAverages> nccl_;
  std::int64_t started_ = 0;

  std::jthread thread_;
};

}  // namespace roentgen::dist
