// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `fusion`: what each graph pass and each fusion saves, in time and in planned memory, of training and of
// inference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Options of the case.
struct FusionOptions {
  /// Networks, by name, without auxiliary classifiers; at least one.
  std::vector<std::string> models{"inception_v3", "inception_v4", "vgg16",      "vgg19",
                                  "googlenet",    "resnet50",     "densenet121"};
  /// Batch, image, channels, labels, threads, engine, algorithms; warm-up, and steps of a round. The rest is not used.
  NetworkOptions network{.warmup = 1, .steps = 3};
  /// Rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Measures every network in interleaved rounds: whole training steps with SGD, then inference. Compares no pass
/// ("off": one kernel for each op), each pass alone, and all passes and fusions ("on"). In training it also measures
/// all but one fusion ("on,-NAME"). Passes that change nothing in a network are left out. The result, a table:
///   case, batch, image_px, channels, labels, threads, device, algorithms, warmup, n, rounds
///   passes, fusions     names, in running order
///   training            [{model, fuse, step_ms, gain, activation_bytes, of_off, entries}]: median step; gain, the
///                       median over the rounds of (median step off / this); planned peak of activations, and that over
///                       off's; kernels of a step
///   inference           the same, of a forward
///   warnings            [text]: signs that the machine was busy
///   engine, program, cpu, ...
/// Throws ConfigError on options out of range or unknown models, DataError when a loss or logit is not finite, and the
/// errors of compile().
[[nodiscard]] Value run_fusion(const FusionOptions& options);

}  // namespace roentgen::bench
