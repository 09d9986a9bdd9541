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

/// Numbers that a rank sends to the others in every update.
struct RankReport {
  double loss = 0.0;
  std::int64_t images = 0;
  bool is_stop_asked = false;
  /// Seconds of its own work in the update before; 0: not known yet.
  double busy_s = 0.0;
};

/// Sums of the reports of all ranks.
struct GroupReport {
  /// Mean; not finite where one rank's is not.
  double loss = 0.0;
  std::int64_t images = 0;
  /// Whether any rank was asked to stop.
  bool is_stop_asked = false;
  /// Excess work time of the slowest rank over the mean, as a share of the mean; 0 where it is not known.
  double imbalance = 0.0;
  int slowest_rank = 0;
};

/// Averages gradients over ranks. One thread. All ranks must begin updates and send buckets in the same order, which
/// equal plans ensure. Allocates nothing after its first update. Throws CommError as CommThread.
class GradientExchange {
 public:
  /// `group` must outlive this, and `timeline`, where waits are written down; it may be null.
  explicit GradientExchange(dist::CommThread& group, Timeline* timeline = nullptr);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail), because gradients in flight will be
  /// freed.
  ~GradientExchange();

  /// An update begins: this rank's loss is known, its gradients are not yet.
  void begin(const RankReport& own);
  /// Averages a bucket, in place, once it is ready. Nothing may touch it before wait_next() has returned it.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for the reports of all ranks in begin().
  [[nodiscard]] GroupReport report();
  /// Waits for the next bucket, in the order in which they were sent.
  /// @return its number; -1: there was none left, and the update is over
  [[nodiscard]] std::int64_t wait_next();

 private:
  struct Sent {
    std::int64_t bucket = 0;
    std::int64_t ticket = 0;
  };

  dist::CommThread& group_;
  Timeline* timeline_;
  /// Loss, images, stop, and each rank's busy seconds in a place of its own. The mean of all is sent to all.
  std::vector<float> said_;
  std::int64_t report_ticket_ = 0;
  bool is_reported_ = true;
  std::vector<Sent> sent_;
  std::size_t next_ = 0;
};

}  // namespace roentgen::train
