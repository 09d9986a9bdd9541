// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// GradientExchange: averages an update's gradients over ranks, a bucket at a time, while backward continues. Where the
// device averages itself (dist::CommThread::device_way), the host only queues the work and does not wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/stream.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
struct GradientDevice;
}  // namespace roentgen::dist

namespace roentgen::train {

/// Report of a rank to all others, sent in every update.
struct RankReport {
  double loss = 0.0;
  std::int64_t images = 0;
  bool is_stop_asked = false;
  /// Work time of the rank in the previous update, s; 0: not known yet.
  double busy_s = 0.0;
};

/// Sums of the reports of all ranks.
struct GroupReport {
  /// Mean loss of all ranks; not finite when the loss of one rank is not.
  double loss = 0.0;
  std::int64_t images = 0;
  /// Whether any rank was asked to stop.
  bool is_stop_asked = false;
  /// Excess work time of the slowest rank over the mean, as a share of the mean; 0 when unknown.
  double imbalance = 0.0;
  int slowest_rank = 0;
};

/// An averaged bucket.
struct AveragedBucket {
  std::int64_t bucket = -1;  ///< its number; -1: none
  /// The average is there after it, on the device; null: it is there.
  const runtime::Event* after = nullptr;
};

/// Averages gradients over ranks. One thread. All ranks must begin updates and send buckets in the same order, which
/// equal plans ensure. Allocates nothing after its first update. Throws CommError as CommThread.
class GradientExchange {
 public:
  /// All ranks make it together. Throws as CommThread::use_device().
  /// @param group must outlive this
  /// @param device where gradients lie
  /// @param buckets of an update
  /// @param timeline where waits are written down; may be null; must outlive this
  GradientExchange(dist::CommThread& group, const dist::GradientDevice& device, std::int64_t buckets,
                   Timeline* timeline = nullptr);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail), because gradients in flight will be
  /// freed. Else takes leave of the device, together with all ranks.
  ~GradientExchange();

  /// Whether the device averages: then tell() had better follow backward(), which should not wait for the loss.
  [[nodiscard]] bool is_on_device() const { return !done_.empty(); }
  /// An update begins.
  void begin();
  /// Sends this rank's report to the others: after begin(), once its loss is known.
  void tell(const RankReport& own);
  /// Averages a bucket, in place, once it is ready. Nothing may touch it before wait_next() has returned it.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for the reports of all ranks, after tell().
  [[nodiscard]] GroupReport report();
  /// Waits for the next bucket, in the order in which they were sent; on a device, until its average is queued.
  /// @return without one: there was none left, and the update is over
  [[nodiscard]] AveragedBucket wait_next();
  /// Waits until the device has made all averages. Throws CommError where one failed: then weights that were updated
  /// with it are void.
  void settle();

 private:
  struct Sent {
    std::int64_t bucket = 0;
    std::int64_t ticket = 0;
  };

  dist::CommThread& group_;
  Timeline* timeline_;
  /// Reduced buffer: loss, images, stop flag and one slot per rank for its busy seconds. Every rank receives the mean.
  std::vector<float> said_;
  /// Reached once a bucket's average is there; empty where the host averages.
  std::vector<std::unique_ptr<runtime::Event>> done_;
  std::int64_t buckets_;
  bool uses_device_ = false;
  std::int64_t report_ticket_ = 0;
  bool is_reported_ = true;
  std::vector<Sent> sent_;
  std::size_t next_ = 0;
};

}  // namespace roentgen::train
