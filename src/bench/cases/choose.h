// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `choose`: compares the kernels that the engine selects without measuring with the fastest measured kernels. It
// also writes the fastest kernels to a file for train.choices.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// A network and its batch size.
struct ChooseNetwork {
  std::string model;
  std::int64_t batch = 16;
  /// Graph to use instead of the built-in model `name`; its sizes must be `batch` and those of the options.
  std::optional<graph::Graph> graph{};
};

/// Options of the case `choose`.
struct ChooseOptions {
  /// Image, channels, labels, threads, engine, fuse, algorithms and dtype. The other fields are ignored.
  NetworkOptions step{};
  std::vector<ChooseNetwork> networks{};
  /// Output file with the fastest kernel of every layer, for train.choices; empty: not written.
  std::filesystem::path file{};
};

/// Times every possible kernel for every pass of every convolution; equal layers are timed once. Needs a machine
/// without other load. Returns a table:
///   case, image_px, channels, labels, threads, device, fuse, algorithms, dtype, instruction_set, choice_revision
///   networks  [{model, batch, choices, best_ms, chosen_ms, first_ms, loss, loss_of_first, inference_loss}]: sums
///             over all passes: of the fastest candidate, of the plan's choice, and of the first candidate, which is
///             direct, or bf16 of bf16 values, on cuda the chosen one, which is the heuristic's; loss: chosen_ms /
///             best_ms - 1; inference_loss: the same over the forward passes by the choices of inference; null without
///             any forward pass measured
///   lossy     [{layer, chosen, best, loss, share}]: choices that lose more than 5%, the largest share first; share: of
///             the time that is lost in all networks
///   layers    [{layer, times, chosen, <algorithm>_ms ...}]: all that was measured, for machines; times: how often in
///             all networks
/// Throws ConfigError if an option is out of range or a model unknown, and DataError if the file cannot be written.
[[nodiscard]] Value run_choose(const ChooseOptions& options);

}  // namespace roentgen::bench
