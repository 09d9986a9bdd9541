// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AsyncLeg: a stretch of an asynchronous run, from one meeting of the workers to the next. A round is as many gradients
// as there are workers, whoever made them.
#pragma once

#include <cstdint>

namespace roentgen::train {

class Ranks;
class ServerExchange;

/// Place of a run, as far as the next meeting depends on it.
struct MeetingPlace {
  std::int64_t step = 0;              ///< rounds made
  std::int64_t left_in_epoch = 1;     ///< rounds to the end of the epoch, at least 1
  std::int64_t checkpoint_steps = 0;  ///< rounds between checkpoints; 0: none
  std::int64_t stop_after_steps = 0;  ///< rounds after which the run stops; 0: none
};
/// Rounds to the next end of an epoch, checkpoint or stop: at least 1.
[[nodiscard]] std::int64_t rounds_to_meeting(const MeetingPlace& place);

/// End of a leg; the same on all workers.
struct LegResult {
  std::int64_t rounds = 0;     ///< whole rounds made
  double loss = 0.0;           ///< mean loss of all gradients
  bool is_stop_asked = false;  ///< a worker or a server was asked to stop
};

/// One leg of a worker. Not thread-safe. CommError as ServerExchange.
class AsyncLeg {
 public:
  /// Begin of a leg, and its rounds.
  struct Span {
    std::int64_t step = 0;    ///< rounds made before
    std::int64_t rounds = 1;  ///< rounds to make
  };
  /// Workers stop once the servers have W rounds - (W - 1) gradients. Each of the other W - 1 workers then has one
  /// under way, so a leg that is not stopped has exactly W rounds gradients.
  AsyncLeg(const Ranks& ranks, ServerExchange& servers, const Span& span);

  /// Gradients that the servers had when this worker read its weights.
  [[nodiscard]] std::int64_t gradients() const;
  /// Whole rounds of the leg at that time: they count for the learning rate.
  [[nodiscard]] std::int64_t rounds_done() const;
  /// Rounds of the leg that have at least one gradient.
  [[nodiscard]] std::int64_t rounds_begun() const;
  /// Counts the loss of an update of this worker.
  void add(double loss);
  /// This worker is to stop.
  [[nodiscard]] bool is_over() const;
  /// Waits for all workers, then reads the newest weights. Collective among workers.
  [[nodiscard]] LegResult meet();

 private:
  const Ranks& ranks_;
  ServerExchange& servers_;
  const Span span_;
  double loss_sum_ = 0.0;
  std::int64_t updates_ = 0;
};

}  // namespace roentgen::train
