// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// GradientExchange: averages an update's gradients over ranks, a bucket at a time, while backward continues.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/stream.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
}

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

/// Averages gradients over ranks. One thread. All ranks must begin updates and send buckets in the same order, which
/// equal plans ensure. Allocates nothing after its first update. Throws CommError as CommThread.
class GradientExchange {
 public:
  /// `group` must outlive this. `timeline` records the waits and may be null.
  explicit GradientExchange(dist::CommThread& group, Timeline* timeline = nullptr);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail), because gradients in flight will be
  /// freed.
  ~GradientExchange();

  /// Begins an update, once this rank's loss is known and before its gradients are.
  void begin(const RankReport& own);
  /// Starts the average of a bucket, in place. The caller must not touch the bucket before wait_next() has returned it.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for the reports of all ranks in begin().
  [[nodiscard]] GroupReport report();
  /// Waits for the next bucket, in the order in which they were sent.
  /// @return its number; -1: all buckets have been returned, and the update ends
  [[nodiscard]] std::int64_t wait_next();

 private:
  struct Sent {
    std::int64_t bucket = 0;
    std::int64_t ticket = 0;
  };

  dist::CommThread& group_;
  Timeline* timeline_;
  /// Reduced buffer: loss, images, stop flag and one slot per rank for its busy seconds. Every rank receives the mean.
  std::vector<float> said_;
  std::int64_t report_ticket_ = 0;
  bool is_reported_ = true;
  std::vector<Sent> sent_;
  std::size_t next_ = 0;
};

}  // namespace roentgen::train
