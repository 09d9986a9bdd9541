// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `fusion`: measures how much time and planned memory each graph pass and each fusion saves, in training and in
// inference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Options of the case `fusion`.
struct FusionOptions {
  /// Names of models, which are built without auxiliary classifiers; at least one.
  std::vector<std::string> models{"inception_v3", "inception_v4", "vgg16",      "vgg19",
                                  "googlenet",    "resnet50",     "densenet121"};
  /// Batch, image, channels, labels, threads, engine and algorithms, and the numbers of warm-up and measured steps of a
  /// round. The other fields are ignored.
  NetworkOptions network{.warmup = 1, .steps = 3};
  /// Number of rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Measures every network in interleaved rounds (rounds.h): whole training steps with SGD, then inference. Compares no
/// pass ("off": one kernel for each op), each pass alone, and all passes and fusions ("on"). In training it also
/// measures all but one fusion ("on,-NAME"). Passes that change nothing in a network are left out. Returns a table:
///   case, batch, image_px, channels, labels, threads, device, algorithms, warmup, n, rounds
///   passes, fusions     names, in running order
///   training            [{model, fuse, step_ms, gain, activation_bytes, of_off, entries}]: median step; gain, the
///                       median over the rounds of (median step off / this); planned peak of activations, and its
///                       ratio to that of "off"; number of kernels in a step
///   inference           the same, for a forward pass
///   warnings            [text]: signs that the machine was busy
///   engine, program, cpu, ...
/// Throws ConfigError on options out of range or unknown models, DataError when a loss or logit is not finite, and the
/// errors of compile().
[[nodiscard]] Value run_fusion(const FusionOptions& options);

}  // namespace roentgen::bench
