// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `formats`: compares reading image files with reading every record format that `convert` can write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/convert_advice.h"
#include "bench/input.h"
#include "core/value.h"
#include "data/convert/convert.h"

namespace roentgen::bench {

/// Options of the case `formats`.
struct FormatsOptions {
  /// Input settings. `steps` is the largest number of measured batches, and most_s must be above 0. is_cold is ignored,
  /// because reads with an empty (cold) and a filled (warm) page cache are both measured.
  InputOptions input{.most_s = 1.0};
  /// Side to which images are resized before they are stored, px; at least 1.
  std::int64_t stored_px = 256;
  /// Folder in which a WorkFolder holds the temporary record files.
  std::filesystem::path work;
  /// Number of rounds, at least 1. With fewer than 5, the intervals of the gains are very wide.
  std::int64_t rounds = 5;
  /// Planned trainings and changes of the data, for the advice.
  PlannedUse use{};
};

/// A record format to be measured.
struct RecordCase {
  /// Name of the format, such as "tfrecord keep".
  std::string name;
  data::ConvertOptions options;
  /// True if a file holds several images.
  bool has_shards = true;
};
/// Returns all formats that can hold `dataset`, with unchanged images and with images of `stored_px` px. The format
/// with one file per image exists only with resized images.
[[nodiscard]] std::vector<RecordCase> record_cases(std::int64_t stored_px, const data::Dataset& dataset);

/// Converts `dataset` into every format, in a folder below options.work. Then measures each format in interleaved
/// rounds (rounds.h), with a warm and a cold page cache. A measurement runs warmup batches, then steps until its time
/// limit. Returns a table:
///   case, pipeline, the input's settings (without cold), warmup, rounds, cell_s, stored_px, emulated
///   formats           [{form, size, warm_images_per_s, cold_images_per_s, warm_of_files, cold_of_files,
///   bytes_per_image,
///                     convert_s, warm_break_even_epochs, cold_break_even_epochs, same_batches, samples, intervals}]:
///                     the files first; size "original" or "256 px"; same_batches: true if the first batch has the
///                     same bytes as from the files; samples: speeds by round; others: see add_gains()
///   use               {trainings, changes, epochs}
///   advice            result of convert_advice()
///   program, cpu, ...
/// Throws DataError if a lossless format gives different batches than the files. Lossless formats store the files
/// unchanged, or the pixels of PNG files. Other errors are those of run_pipeline(), RecordFolder and WorkFolder.
[[nodiscard]] Value run_formats(const data::Dataset& dataset, const FormatsOptions& options);

}  // namespace roentgen::bench
