// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AsyncLeg: part of an asynchronous run between two meetings, at which all workers wait for each other. With W workers,
// a round is any W gradients, also if one worker computed several of them.
#pragma once

#include <cstdint>
#include <vector>

#include "train/servers/staleness.h"

namespace roentgen::train {

class Ranks;
class ServerExchange;

/// Position of a run and its intervals, which determine the next meeting.
struct MeetingPlace {
  std::int64_t step = 0;              ///< rounds completed so far
  std::int64_t left_in_epoch = 1;     ///< rounds to the end of the epoch, at least 1
  std::int64_t checkpoint_steps = 0;  ///< rounds between checkpoints; 0: none
  std::int64_t stop_after_steps = 0;  ///< rounds after which the run stops; 0: none
};
/// Number of rounds until the next end of an epoch, checkpoint or stop, whichever is first; at least 1.
[[nodiscard]] std::int64_t rounds_to_meeting(const MeetingPlace& place);

/// Result of a leg, equal on all workers.
struct LegResult {
  std::int64_t rounds = 0;     ///< complete rounds of the leg
  double loss = 0.0;           ///< mean loss of all gradients
  bool is_stop_asked = false;  ///< true if a worker or server was asked to stop
  /// Counts of the gradients of each worker.
  std::vector<GradientCount> workers{};
};

/// One leg, as seen by one worker. Not thread-safe. Throws CommError like ServerExchange.
class AsyncLeg {
 public:
  /// Start and length of a leg.
  struct Span {
    std::int64_t step = 0;    ///< rounds completed before the leg
    std::int64_t rounds = 1;  ///< rounds of the leg
  };
  /// Starts a leg. With W workers and R rounds, a worker stops when the servers have W R - (W - 1) gradients of the
  /// leg. Each of the other W - 1 workers then has one gradient in flight, so a complete leg has exactly W R gradients.
  AsyncLeg(const Ranks& ranks, ServerExchange& servers, const Span& span);

  /// Number of gradients that the servers had received when this worker last read weights.
  [[nodiscard]] std::int64_t gradients() const;
  /// Complete rounds of the leg in gradients(); they determine the learning rate.
  [[nodiscard]] std::int64_t rounds_done() const;
  /// Rounds of the leg with at least one gradient in gradients(), from 1 to the length of the leg.
  [[nodiscard]] std::int64_t rounds_begun() const;
  /// Adds the loss of an update of this worker to the mean.
  void add(double loss);
  /// True if this worker must go to the meeting.
  [[nodiscard]] bool is_over() const;
  /// Waits for all workers, then reads the latest weights. All workers must call it.
  [[nodiscard]] LegResult meet();

 private:
  const Ranks& ranks_;
  ServerExchange& servers_;
  const Span span_;
  double loss_sum_ = 0.0;
  std::int64_t updates_ = 0;
};

}  // namespace roentgen::train
