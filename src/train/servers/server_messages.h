// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Messages between workers and parameter servers. A worker sends a Request. After a Push it sends its gradients, one
// message per bucket of the shard, in bucket order. The server answers Push and Read with a Reply and the weights of
// the shard's buckets, and State with the optimizer state. It does not answer End. All numbers are doubles, which are
// exact for integers up to 2^53.
#pragma once

#include <cstddef>
#include <span>

#include "dist/communicator.h"

namespace roentgen::train {

/// Message tags, equal for all servers.
inline constexpr int kRequestTag = 0;
inline constexpr int kGradientTag = 1;  ///< gradients of a bucket
inline constexpr int kReplyTag = 2;     ///< Reply
inline constexpr int kWeightsTag = 3;   ///< weights or optimizer state of a bucket
inline constexpr int kGreetingTag = 4;  ///< description of the run, and initial weights

/// Phases that timeout errors name, followed by the index of the server that a worker waits for: "weights of server 0".
inline constexpr const char* kPushPhase = "gradients for server";
inline constexpr const char* kStatePhase = "optimizer state of server";
inline constexpr const char* kPullPhase = "weights of server";

/// Type of a request: send gradients, read weights, read optimizer state, or end.
enum class Ask : int { Push, Read, State, End };

/// Header of each request of a worker.
struct Request {
  double ask = 0.0;             ///< value of Ask
  double lr = 0.0;              ///< learning rate of the update
  double step = 0.0;            ///< synchronous: number of updates before this one
  double scale = 1.0;           ///< factor by which the gradients are multiplied
  double batch_divisor = 1.0;   ///< LossCount::batch_divisor of the gradients
  double update_divisor = 1.0;  ///< LossCount::update_divisor of the gradients
  double images = 0.0;          ///< number of images of the gradients
  double is_finite = 1.0;       ///< 0 if the loss is not finite; then weights are not updated
  double is_stop_asked = 0.0;   ///< 1 if all workers must stop
  double until = 0.0;           ///< async: number of gradients after which workers meet
  double busy_s = 0.0;          ///< seconds that the worker worked in its previous update, without waiting; 0: unknown
};

/// Header of a reply: counts of the server since the start of the run or its resumption.
struct Reply {
  double gradients = 0.0;      ///< received gradients of all workers, including dropped gradients
  double applied = 0.0;        ///< gradients that changed the weights: the version of the shard
  double dropped = 0.0;        ///< gradients that were too old
  double staleness = 0.0;      ///< versions between reading the weights and applying the last gradient
  double staleness_sum = 0.0;  ///< sum of the staleness of all applied gradients
  double staleness_max = 0.0;  ///< largest staleness of an applied gradient
  double images = 0.0;         ///< images of all received gradients
  double is_stop_asked = 0.0;  ///< 1 if all workers must stop
  double norm = -1.0;          ///< synchronous with clip_norm: norm of the whole gradient; else negative
  double slowest = -1.0;       ///< async: worker with the longest Request::busy_s; -1: unknown
  double imbalance = 0.0;      ///< async: its busy_s above the mean of all workers, as a fraction of the mean
};

/// Memory of a message as bytes.
template <typename Message>
[[nodiscard]] std::span<std::byte> bytes_of(Message& message) {
  return std::as_writable_bytes(std::span(&message, 1));
}

}  // namespace roentgen::train
