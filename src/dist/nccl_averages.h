// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclAverages: averages gradients where they lie, in a device's memory, by NCCL on a stream of its own. Each average
// is a composite of the communicator, so that ranks that are missing are named as in its other collectives.
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
#include "dist/reduce/reducer.h"
#include "runtime/stream.h"

namespace roentgen::dist {

/// Makes this rank's end of a group of NCCL: make_nccl_calls(), or a test's.
using MakeNccl = std::function<std::unique_ptr<NcclCalls>()>;

/// Device that gradients lie on.
struct GradientDevice {
  runtime::Device& device;  ///< must outlive its use
  /// Tells devices of a host apart (engine::Engine::device_id()); empty: unknown, so that NCCL is not
  /// taken.
  std::string id{};
  /// The host's own memory.
  bool is_host = false;
  MakeNccl make_nccl = make_nccl_calls;  ///< throws CommError where there is no NCCL
};

class NcclAverages;

/// An average under way. Of the communicator's thread. One that NCCL could not end is never done; failure() says why.
class NcclAverage final : public Composite {
 public:
  /// @param owner must outlive this
  explicit NcclAverage(NcclAverages& owner);
  /// NCCL's work is queued, and the event of its end recorded.
  [[nodiscard]] bool is_queued() const { return step_ >= Step::Queued; }
  /// The device has come to it; before, it computes the gradients.
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Time of is_ready(), as polling saw it.
  [[nodiscard]] std::chrono::steady_clock::time_point ready_at() const { return ready_at_; }
  /// Words of NCCL; empty: it has not failed.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] bool advance(int tag) override;

 private:
  friend class NcclAverages;
  enum class Step : std::uint8_t { Waits, IsQueueing, Queued, Done };
  void advance();

  NcclAverages& owner_;
  Step step_ = Step::Done;
  /// Its place among all averages of the owner.
  std::int64_t number_ = 0;
  runtime::DeviceSpan<float> data_{};
  const runtime::Event* ready_ = nullptr;
  runtime::Event* done_ = nullptr;
  /// Reached with *ready_ and *done_, which callers may record anew for their next update meanwhile.
  std::unique_ptr<runtime::Event> seen_, end_;
  bool is_ready_ = false;
  std::chrono::steady_clock::time_point ready_at_{};
  std::string failure_;
};

/// Averages over one group of NCCL. One thread, that of the communicator.
class NcclAverages {
 public:
  /// Forms the group: all ranks together. CommError when that fails or takes longer than `limit`.
  NcclAverages(Communicator& group, runtime::Device& device, std::unique_ptr<NcclCalls> calls,
               std::chrono::milliseconds limit);
  NcclAverages(const NcclAverages&) = delete;
  NcclAverages& operator=(const NcclAverages&) = delete;
  /// Ends what is under way, without the other ranks, unless end() was called.
  ~NcclAverages();

  /// NcclCalls::version().
  [[nodiscard]] std::string_view name() const { return calls_->version(); }
  /// An average to give to Communicator::compose(). They are queued in the order of these calls. Allocates only while
  /// the number under way reaches a new maximum.
  /// @param data averaged in place, after `ready`
  /// @param done recorded behind it; the average may be waited for there once it is_queued()
  [[nodiscard]] NcclAverage& begin(runtime::DeviceSpan<float> data, const runtime::Event& ready, runtime::Event& done);
  /// Takes leave of the other ranks, all together, once no average is under way. CommError.
  void end(std::chrono::milliseconds limit);

 private:
  friend class NcclAverage;
  Communicator& group_;
  runtime::Device& device_;
  std::unique_ptr<NcclCalls> calls_;
  /// Averages, and a stream that waits with no work, to see when gradients are ready.
  std::unique_ptr<runtime::Stream> stream_, gate_;
  std::vector<std::unique_ptr<NcclAverage>> averages_;
  /// Averages given, and averages queued.
  std::int64_t begun_ = 0, queued_ = 0;
};

/// NCCL where the options ask for it, or leave the choice and every rank has NCCL and a device to itself; else null.
/// All ranks call it together and get the same answer. ConfigError, on all ranks, where it was asked for and cannot be,
/// naming the rank and the reason. Rank 0 logs the choice.
[[nodiscard]] std::unique_ptr<NcclAverages> make_nccl_averages(Communicator& group, const GradientDevice& where,
                                                               const ReduceOptions& options,
                                                               std::chrono::milliseconds limit);

}  // namespace roentgen::dist
