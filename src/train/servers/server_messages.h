// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Messages between workers and parameter servers. A worker sends a Request; after a Push follow its gradients, a
// message for each bucket of the shard, in their order. The server answers a Push or Read with a Reply and the weights
// of those buckets. It answers a State with the optimizer's state, and an End not at all. All numbers are doubles:
// whole ones are exact up to 2^53.
#pragma once

#include <cstddef>
#include <span>

#include "dist/communicator.h"

namespace roentgen::train {

/// Tags of messages, whatever the server.
inline constexpr int kRequestTag = 0;
inline constexpr int kGradientTag = 1;  ///< gradients of a bucket
inline constexpr int kReplyTag = 2;     ///< a Reply
inline constexpr int kWeightsTag = 3;   ///< weights or optimizer state of a bucket
inline constexpr int kGreetingTag = 4;  ///< description of the run, and first weights

/// Phases of waits for the other side, as timeouts name them.
inline constexpr const char* kPushPhase = "gradients for a server";
inline constexpr const char* kPullPhase = "weights of a server";

/// Request of a worker.
enum class Ask : int { Push, Read, State, End };

/// Head of all that a worker sends.
struct Request {
  double ask = 0.0;            ///< an Ask
  double lr = 0.0;             ///< learning rate of the update
  double step = 0.0;           ///< ps: updates made before this one
  double scale = 1.0;          ///< factor of the gradients
  double images = 0.0;         ///< images that they are of
  double is_finite = 1.0;      ///< 0: the loss is not, and nothing may be updated
  double is_stop_asked = 0.0;  ///< 1: all are to stop
  double until = 0.0;          ///< async: gradients after which workers meet
};

/// Head of an answer.
struct Reply {
  double gradients = 0.0;      ///< gradients of all workers that the server has taken, dropped ones too
  double applied = 0.0;        ///< those that changed the weights: the shard's version
  double dropped = 0.0;        ///< those that were too old
  double staleness = 0.0;      ///< versions between the read and the apply of the gradient that is answered
  double staleness_sum = 0.0;  ///< sum over all applied gradients
  double staleness_max = 0.0;  ///< largest one of an applied gradient
  double images = 0.0;         ///< images of all gradients taken
  double is_stop_asked = 0.0;  ///< 1: all are to stop
  double norm = -1.0;          ///< ps, with clip_norm: norm of the whole gradient; else negative
};

/// Bytes of a message.
template <typename Message>
[[nodiscard]] std::span<std::byte> bytes_of(Message& message) {
  return std::as_writable_bytes(std::span(&message, 1));
}

}  // namespace roentgen::train
