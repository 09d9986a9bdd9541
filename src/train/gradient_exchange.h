// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// GradientExchange: averages the gradients of an update over all ranks, one bucket at a time, while backward continues.
// If the device itself averages (dist::CommThread::device_way), the host only queues the work and does not wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/stream.h"
#include "train/loss_weight.h"
#include "train/slowest_rank.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
struct GradientDevice;
}  // namespace roentgen::dist

namespace roentgen::train {

/// Report that each rank sends to all others in every update.
struct RankReport {
  double loss = 0.0;
  std::int64_t images = 0;
  /// Count of this rank's batches; LossCount::batch_divisor is equal on all ranks.
  LossCount count{};
  bool is_stop_asked = false;
  /// Time in seconds that the rank worked, without waiting, in the previous update; 0 if not known yet.
  double busy_s = 0.0;
};

/// Combined reports of all ranks.
struct GroupReport {
  /// Mean loss of all ranks; not finite if the loss of any rank is not.
  double loss = 0.0;
  std::int64_t images = 0;
  LossCount count{};  ///< sum over ranks
  /// True if any rank was asked to stop.
  bool is_stop_asked = false;
  /// Rank that worked longest in the previous update.
  SlowestRank slowest;
};

/// An averaged bucket.
struct AveragedBucket {
  std::int64_t bucket = -1;  ///< number of the bucket; -1 if there is none
  /// Event of the device after which the average is available; null: it is available already.
  const runtime::Event* after = nullptr;
};

/// Averages gradients over ranks.
/// Not thread-safe. All ranks must begin updates and send buckets in the same order, which
/// equal plans ensure. Allocates nothing after its first update. Throws CommError like CommThread.
class GradientExchange {
 public:
  /// Constructed by all ranks together. Throws like CommThread::use_device().
  /// @param group thread of the communicator; must outlive this object
  /// @param device device whose memory holds the gradients
  /// @param buckets number of buckets of an update
  /// @param timeline records the waits; may be null; must outlive this object
  GradientExchange(dist::CommThread& group, const dist::GradientDevice& device, std::int64_t buckets,
                   Timeline* timeline = nullptr);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail), because gradients in flight will be
  /// freed. Otherwise stops using the device, together with all ranks.
  ~GradientExchange();

  /// True if the device averages. Then call tell() after backward(), so that backward() does not wait for the loss.
  [[nodiscard]] bool is_on_device() const { return !done_.empty(); }
  /// Averages all buckets once on the device, together with all ranks. Waits for all ranks before and afterwards. NCCL
  /// then connects to the other ranks and allocates before the first update. Call it only if is_on_device() is true.
  /// @param buckets gradients of each bucket, ready and equal on all ranks
  /// @param ready event of the device after which they are ready
  void warm_up(std::span<const runtime::DeviceSpan<float>> buckets, const runtime::Event& ready);
  /// Begins an update.
  void begin();
  /// Sends this rank's report to the others. Call it after begin(), once the loss is known.
  void tell(const RankReport& own);
  /// Starts to average a bucket in place once `ready` is reached. Do not access it before wait_next() has returned it.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for the reports of all ranks and combines them. Call it after tell().
  [[nodiscard]] GroupReport report();
  /// Waits for the next bucket in the order of send(); on a device, only until its average is queued.
  /// @return bucket -1 if no bucket is left, which ends the update
  [[nodiscard]] AveragedBucket wait_next();
  /// Waits until the device has computed all averages. If other ranks are threads of this process, waits for all ranks,
  /// which must call it together. Throws CommError if an average failed; weights updated with it are then invalid.
  void settle();

 private:
  /// Waits until every rank has called it.
  void meet();

  struct Sent {
    std::int64_t bucket = 0;
    std::int64_t ticket = 0;
  };

  dist::CommThread& group_;
  Timeline* timeline_;
  /// Buffer that is averaged over ranks: loss, images, labels that are not counted, stop flag, and work times. Each
  /// rank has one element for its work time in seconds.
  std::vector<float> said_;
  /// Event of each bucket, reached once its average is available; empty if the host averages.
  std::vector<std::unique_ptr<runtime::Event>> done_;
  std::int64_t buckets_;
  bool uses_device_ = false;
  std::int64_t report_ticket_ = 0;
  double batch_divisor_ = 0.0;  ///< LossCount::batch_divisor of the last report
  bool is_reported_ = true;
  std::vector<Sent> sent_;
  std::size_t next_ = 0;
};

}  // namespace roentgen::train
