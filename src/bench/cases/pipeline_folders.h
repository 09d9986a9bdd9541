// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `pipeline` with --compare-data: speed of the same images in several folders, such as one on each storage system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/input.h"
#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::bench {

/// A copy of the images.
struct ImageFolder {
  std::string name;       ///< folder as the user gave it
  data::Dataset dataset;  ///< its images
};

/// Measures the folders in interleaved rounds of options.steps batches, after options.warmup. Unless options.is_cold,
/// every file is read once before. Returns a table:
///   case, pipeline, the input's settings, warmup, n, rounds, emulated
///   folders      [{folder, file_system, images_per_s, low, high, of_first, read_ms, decode_ms, read_bytes, checksum}]:
///                images_per_s is the median of the rounds, low and high their extremes; of_first: median of the ratios
///                to the first folder within each round; file_system: type of the file system, or null
///   program, cpu, ...
/// Throws DataError that names a folder whose images have other names, or other pixels in the first batch of a round,
/// than the first folder. Throws ConfigError as plan_input() does.
[[nodiscard]] Value compare_folders(const std::vector<ImageFolder>& folders, const InputOptions& options,
                                    std::int64_t rounds);

}  // namespace roentgen::bench
