// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `peers`: training and inference of a model here and in other programs, side by side in one run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/step.h"
#include "core/value.h"

namespace roentgen::bench {

/// What to measure.
struct PeersOptions {
  /// Model, batch, image, threads; warm-up, and steps of a round; 3 channels and 14 labels, as the scripts have them.
  /// The rest is not used.
  StepOptions network{.warmup = 2, .steps = 5};
  /// Of peer_names(); empty: all.
  std::vector<std::string> peers;
  /// Folder of the scripts; empty: found beside the sources that the program was built from.
  std::filesystem::path scripts;
  /// Python interpreter that runs them.
  std::string python = "python3";
  /// The one that runs TensorFlow's, which seldom shares an environment with others; empty: `python`.
  std::string tensorflow_python;
  /// At least 1.
  std::int64_t rounds = 3;
};

/// torch, torch-compile, tensorflow: other programs, each measured by one or more scripts of tools/peers.
[[nodiscard]] std::vector<std::string_view> peer_names();

/// Runs our training step (convolutions auto) and inference (direct, and auto), and every asked peer that there is, in
/// interleaved rounds. The result, a table:
///   case, model, batch, image_px, threads, warmup, n, rounds
///   table             [{what, peer, program, way, images_per_s, ours_over_it}]: medians over the rounds; the last of
///                     the ratios (our images/s) / (its images/s) within each round, ours being auto in training,
///                     direct in inference; `peer` is one of peer_names(), of ours "-"
///   ratios            [{what, peer, program, ours_over_it, least, most}]: the same against the peer's fastest way of
///                     each round: median, least and largest over the rounds
///   floor_ratio       of our training step, median over the rounds; null as in run_step()
///   missing           [text]: peers that were left out, why, and what to install
///   warnings          those same texts
///   engine, program, cpu, ...
/// ConfigError on options out of range, an unknown peer, or when there is no folder of scripts; DeviceError when a
/// script fails or its output is none; what compile() throws.
[[nodiscard]] Value run_peers(const PeersOptions& options);

}  // namespace roentgen::bench
