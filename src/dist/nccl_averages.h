// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclAverages: averages gradients in GPU memory by NCCL, on a separate stream. Each average is a Composite of the
// communicator, so errors name missing ranks as for other collectives.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/communicator.h"
#include "dist/nccl_calls.h"
#include "dist/nccl_exchange.h"
#include "dist/reduce/reducer.h"
#include "runtime/stream.h"
#include "runtime/wire_kernels.h"

namespace roentgen::dist {

/// Function that makes this rank's NcclCalls: make_nccl_calls(), or a replacement in tests.
using MakeNccl = std::function<std::unique_ptr<NcclCalls>()>;

/// Value of the environment variable NCCL_HOSTID; empty if it is not set.
[[nodiscard]] std::string nccl_host_id();

/// Device whose memory holds the gradients.
struct GradientDevice {
  runtime::Device& device;  ///< must outlive the averages
  /// Identifies the device among those of its host (engine::Engine::device_id()). Ranks on one card do not use NCCL,
  /// not even if each has its own instance of a partitioned (MIG) card. Empty: unknown, so that NCCL is not used.
  std::string id{};
  /// Name that NCCL uses instead of the host's. Two ranks on one card can use NCCL if their names differ, which serves
  /// tests only. Empty: the communicator's name of the host.
  std::string host_id = nccl_host_id();
  /// True if gradients lie in the host's memory.
  bool is_host = false;
  MakeNccl make_nccl = make_nccl_calls;  ///< throws CommError if there is no NCCL
  /// Kernels for messages of 16 bits; null: NCCL averages only in f32.
  const runtime::WireKernels* kernels = nullptr;
  /// Number of values of the largest bucket; needed only for messages of 16 bits.
  std::size_t most_values = 0;
};

class NcclAverages;

/// An average in progress. Used only by the communicator's thread. If NCCL fails, the average never becomes done, and
/// failure() has the reason.
class NcclAverage final : public Composite {
 public:
  /// @param owner object that makes the averages; must outlive this one
  explicit NcclAverage(NcclAverages& owner);
  /// True once NCCL's work is queued and its end event is recorded.
  [[nodiscard]] bool is_queued() const { return step_ >= Step::Queued; }
  /// True once the device has computed the gradients and can start the average.
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Time at which polling first saw is_ready().
  [[nodiscard]] std::chrono::steady_clock::time_point ready_at() const { return ready_at_; }
  /// Error text of NCCL; empty if it has not failed.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] bool advance(int tag) override;

 private:
  friend class NcclAverages;
  /// IsExchanging: NCCL queues the first messages of an NcclExchange. IsQueueing: NCCL queues the last ones.
  enum class Step : std::uint8_t { Waits, IsExchanging, IsQueueing, Queued, Done };
  void advance();

  NcclAverages& owner_;
  Step step_ = Step::Done;
  /// Number of this average among all of its owner, in order.
  std::int64_t number_ = 0;
  runtime::DeviceSpan<float> data_{};
  const runtime::Event* ready_ = nullptr;
  runtime::Event* done_ = nullptr;
  /// Events that are reached together with *ready_ and *done_. Callers may record those again meanwhile for their next
  /// update.
  std::unique_ptr<runtime::Event> seen_, end_;
  bool is_ready_ = false;
  std::chrono::steady_clock::time_point ready_at_{};
  std::string failure_;
};

/// Parts of NcclAverages, which takes ownership of them.
struct NcclParts {
  std::unique_ptr<NcclCalls> calls;
  std::unique_ptr<NcclExchange> exchange{};  ///< averages in messages of 16 bits; null: NCCL averages in f32
};

/// Averages gradients over one NCCL group. Used only by the communicator's thread.
class NcclAverages {
 public:
  /// Creates the streams. Call join() before begin().
  NcclAverages(Communicator& group, runtime::Device& device, NcclParts parts);
  NcclAverages(const NcclAverages&) = delete;
  NcclAverages& operator=(const NcclAverages&) = delete;
  /// Aborts averages in progress, without the other ranks, unless end() was called.
  ~NcclAverages();

  /// Forms the NCCL group; all ranks call it together. Returns after all ranks have joined. Throws CommError if that
  /// fails or takes longer than `limit`.
  void join(std::chrono::milliseconds limit);
  /// Name and version of NCCL, see NcclCalls::version().
  [[nodiscard]] std::string_view name() const { return calls_->version(); }
  /// Type of the values that ranks send: F32, Bf16 or F16.
  [[nodiscard]] DType wire() const { return exchange_ == nullptr ? DType::F32 : exchange_->wire(); }
  /// Returns a new average to pass to Communicator::compose(). Averages are queued in the order of these calls.
  /// Allocates only when more averages are in progress than ever before.
  /// @param data gradients, averaged in place after `ready` is reached
  /// @param done event recorded after the average; wait for it only once is_queued() is true
  [[nodiscard]] NcclAverage& begin(runtime::DeviceSpan<float> data, const runtime::Event& ready, runtime::Event& done);
  /// Ends the NCCL group; all ranks call it together when no average is in progress. Throws CommError.
  void end(std::chrono::milliseconds limit);

 private:
  friend class NcclAverage;
  Communicator& group_;
  runtime::Device& device_;
  std::unique_ptr<NcclCalls> calls_;
  /// Buffer and kernels of messages of 16 bits; null: f32. Freed after the streams that use it.
  std::unique_ptr<NcclExchange> exchange_;
  /// Stream of the averages, and a stream that only waits, to detect when gradients are ready.
  std::unique_ptr<runtime::Stream> stream_, gate_;
  std::vector<std::unique_ptr<NcclAverage>> averages_;
  /// Numbers of averages that begin() returned, that are queued, ready and done. Averages pass these states in the
  /// order of their numbers, so the device is asked about one average per state only.
  std::int64_t begun_ = 0, queued_ = 0, ready_ = 0, done_ = 0;
};

/// Free device memory that NCCL of several ranks needs, in bytes. Users report 0.5 to 1.6 GiB (issues 864 and 964 of
/// NVIDIA/nccl); not measured by us.
inline constexpr std::size_t kNcclBytes = std::size_t{1536} << 20U;

/// Makes NCCL averages if the options ask for NCCL. Also if they leave the choice and every rank has NCCL and its own
/// device; otherwise returns null. All ranks call it together and get the same answer; rank 0 logs it. If the options
/// ask for NCCL and it cannot be used, all ranks throw ConfigError with the rank and the reason. If a GPU has less than
/// kNcclBytes of free memory, all ranks throw DeviceError. Call NcclAverages::join() next.
[[nodiscard]] std::unique_ptr<NcclAverages> make_nccl_averages(Communicator& group, const GradientDevice& where,
                                                               const ReduceOptions& options,
                                                               std::chrono::milliseconds limit);

}  // namespace roentgen::dist
