// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `formats`: compares image files with every form in which `convert` can store them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/input.h"
#include "core/value.h"
#include "data/convert/convert.h"

namespace roentgen::bench {

/// Options of the case.
struct FormatsOptions {
  /// Input settings. `steps` is the most that are measured, and the time limit is above 0. is_cold is ignored: both are
  /// measured.
  InputOptions input{.most_s = 1.0};
  /// Side of images that are resized before they are stored, px; at least 1.
  std::int64_t stored_px = 256;
  /// Folder for the record files, which are removed in the end.
  std::filesystem::path work;
  /// Rounds, at least 1.
  std::int64_t rounds = 3;
};

/// A form to be measured.
struct RecordCase {
  /// "tfrecord keep".
  std::string name;
  data::ConvertOptions options;
  /// whether a file holds several images
  bool has_shards = true;
};
/// All forms that convert writes: images as they are, then of `stored_px` px. The form of one file an image only has
/// the latter.
[[nodiscard]] std::vector<RecordCase> record_cases(std::int64_t stored_px);

/// Number of epochs that pay for the conversion; nullopt where records are no faster.
/// @param images_per_s of the files, and of the records
[[nodiscard]] std::optional<double> break_even_epochs(double convert_s, std::int64_t images, double files_images_per_s,
                                                      double records_images_per_s);

/// Converts `dataset` into every form below options.work, one after the other. Then measures in interleaved rounds,
/// warm and cold; a cell runs warmup batches, then steps until its time is over. The result, a table:
///   case, pipeline, the input's settings (without cold), warmup, rounds, cell_s, stored_px, emulated
///   formats           [{form, size, warm_images_per_s, cold_images_per_s, warm_of_files, cold_of_files,
///   bytes_per_image,
///                     convert_s, warm_break_even_epochs, cold_break_even_epochs, same_batches}]: the files first; size
///                     "original" or "256 px"; of_files: median of the ratios within each round; same_batches: is the
///                     first batch the same bytes as from the files?
///   program, cpu, ...
/// Throws DataError when a form that keeps all pixels gives other batches than the files. Forms that keep all pixels
/// are those that store files, or the pixels of PNG files. Other errors are those of run_pipeline() and RecordFolder.
[[nodiscard]] Value run_formats(const data::Dataset& dataset, const FormatsOptions& options);

}  // namespace roentgen::bench
