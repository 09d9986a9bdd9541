// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/async_leg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "train/ranks.h"
#include "train/servers/server_exchange.h"

namespace roentgen::train {

std::int64_t rounds_to_meeting(const MeetingPlace& place) {
  std::int64_t rounds = place.left_in_epoch;
  const std::int64_t every = place.checkpoint_steps;
  if (every > 0) rounds = std::min(rounds, every - place.step % every);
  if (place.stop_after_steps > place.step) rounds = std::min(rounds, place.stop_after_steps - place.step);
  return rounds;
}

AsyncLeg::AsyncLeg(const Ranks& ranks, ServerExchange& servers, const Span& span)
    : ranks_(ranks), servers_(servers), span_(span) {
  servers_.set_until((span.step + span.rounds - 1) * ranks.size() + 1);
}

std::int64_t AsyncLeg::gradients() const { return std::llround(servers_.reply().gradients); }

std::int64_t AsyncLeg::rounds_done() const { return gradients() / ranks_.size() - span_.step; }

std::int64_t AsyncLeg::rounds_begun() const {
  const std::int64_t workers = ranks_.size();
  return std::clamp<std::int64_t>((gradients() + workers - 1) / workers - span_.step, 1, span_.rounds);
}

void AsyncLeg::add(double loss) {
  loss_sum_ += loss;
  ++updates_;
}

bool AsyncLeg::is_over() const { return servers_.is_at_meeting(); }

LegResult AsyncLeg::meet() {
  const GradientCount& own_count = servers_.own_gradients();
  const std::array own{loss_sum_, static_cast<double>(updates_), servers_.reply().is_stop_asked,
                       static_cast<double>(own_count.applied), static_cast<double>(own_count.dropped)};
  double loss = 0.0;
  double updates = 0.0;
  LegResult result;
  for (const auto& theirs : ranks_.gather_values<double>(own, {.name = "meeting of workers"})) {
    loss += theirs[0];
    updates += theirs[1];
    result.is_stop_asked |= theirs[2] > 0.0;
    result.workers.push_back({.applied = std::llround(theirs[3]), .dropped = std::llround(theirs[4])});
  }
  servers_.read_weights();
  result.rounds = gradients() / ranks_.size() - span_.step;
  result.loss = loss / updates;
  return result;
}

}  // namespace roentgen::train
