// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `peers`: training and inference of a model here and in other programs, side by side in one run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/step.h"
#include "core/value.h"

// The one list of peers: X(what, script, modules). A script of tools/peers that takes --model, --batch, --image,
// --threads,
// --warmup, --steps and prints JSON with `peer`, its name and version, and `figures`, {way: images a second}. `what`
// says what it measures; `modules` are Python's that it imports.
#define RG_PEER_LIST(X)                                      \
  X("training", "bench_step_torch.py", "torch, torchvision") \
  X("inference", "bench_infer_torch.py", "torch, torchvision")

namespace roentgen::bench {

/// What to measure.
struct PeersOptions {
  /// Model, batch, image, threads; warm-up, and steps of a round; 3 channels and 14 labels, as the scripts have them.
  /// The rest is not used.
  StepOptions network{.warmup = 2, .steps = 5};
  /// Folder of the scripts; empty: found beside the sources that the program was built from.
  std::filesystem::path scripts;
  /// Python interpreter that runs them.
  std::string python = "python3";
  /// At least 1.
  std::int64_t rounds = 3;
};

/// Runs our training step (convolutions auto) and inference (direct, and auto), and every peer that there is, in
/// interleaved rounds. The result, a table:
///   case, model, batch, image_px, threads, warmup, n, rounds
///   table             [{what, program, way, images_per_s, ours_over_it}]: medians over the rounds; the last of the
///   ratios
///                     (our images/s) / (its images/s) within each round, ours being auto in training, direct in
///                     inference
///   missing           [text]: peers that were left out, and why
///   warnings          those same texts
///   engine, program, cpu, ...
/// ConfigError on options out of range or when there is no folder of scripts; DeviceError when a script fails or its
/// output is none; what compile() throws.
[[nodiscard]] Value run_peers(const PeersOptions& options);

}  // namespace roentgen::bench
