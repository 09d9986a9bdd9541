// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of the commands that run a checkpoint on images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "task/device_option.h"

namespace roentgen::cli {

/// Values of --device, --batch, --threads, --workers, --algorithms and --dtype. 0 threads means all cores.
struct InferenceOptions {
  std::string device = "auto";
  std::int64_t batch = 32;
  std::int64_t threads = 0;
  std::int64_t workers = 0;
  std::string algorithms = "auto";
  std::string dtype = "f32";

  /// Help text of --algorithms and --dtype, which share a line of the help.
  static constexpr const char* kNumbersDoc = "convolution kernels: auto, direct; numbers: f32, on CUDA tf32,bf16,f16";
  /// Returns the command-line options, which set the fields of this object.
  [[nodiscard]] std::vector<Option> list() {
    return {task::device_option(device),
            {.name = "--batch", .target = &batch, .doc = "images per batch", .range = {1, 65536}},
            {.name = "--threads",
             .target = &threads,
             .doc = "threads that compute; threads that decode images; 0 = all cores",
             .range = {0, 1e6}},
            {.name = "--workers",
             .target = &workers,
             .doc = "threads that compute; threads that decode images; 0 = all cores",
             .range = {0, 1024}},
            {.name = "--algorithms", .target = &algorithms, .doc = kNumbersDoc},
            {.name = "--dtype", .target = &dtype, .doc = kNumbersDoc}};
  }
};

}  // namespace roentgen::cli
