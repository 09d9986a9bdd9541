// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a data set to record files (formats in record_form.h) or to a folder of PNG files. Record files are fewer
// files to open. If images are also resized, every epoch reads and decodes less.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/codec/intensity.h"
#include "data/source/dataset.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// How images are stored.
enum class Encoding : std::uint8_t {
  Keep,  ///< the file's bytes unchanged; in a folder of PNG files, files of other formats become PNG
  Png,   ///< pixels as lossless PNG
  Raw,   ///< raw pixels without a codec; one channel if a gray picture is stored as colour (R = G = B)
  Jpeg,  ///< pixels in 8 bits as JPEG, which changes them
};

/// Destination and form of a conversion.
struct ConvertOptions {
  std::filesystem::path folder;  ///< output folder; created if absent
  /// Output format: a name in record_form.h.
  std::string form = "tfrecord";
  Encoding encoding = Encoding::Keep;  ///< how images are stored
  /// JPEG quality for Encoding::Jpeg, 1 to 100.
  int jpeg_quality = 92;
  /// Side of the stored images, in px; 0 keeps their size. Not allowed with Keep.
  std::int64_t size_px = 0;
  /// Shorter side of the stored images, in px, with the longer side in proportion (rounded down, as by MXNet's im2rec);
  /// 0 keeps their size. Not allowed with Keep or with size_px.
  std::int64_t shorter_px = 0;
  /// How images are made square.
  Fit fit = Fit::Squash;
  Filter filter = Filter::Triangle;  ///< filter of the resize
  /// How DICOM files become gray levels. Not allowed with Keep.
  Intensity intensity = Intensity::Stored;
  JpegSize jpeg = JpegSize::Scaled;  ///< size at which JPEG files are decoded
  /// Number of record files of each split; 0 chooses it so that each holds about 128 MiB of source files. Not for PNG
  /// folders and LMDB.
  std::int64_t shards = 0;
  /// Number of threads that make and write records; at least 1.
  int workers = 1;
  /// If true, reads every record back and compares its pixels with the intended pixels (JPEG: only the size).
  bool should_verify = false;
  /// Progress callback. Workers call it one at a time.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress{};
};

/// Names of the encodings: "keep", "png", "raw", "jpeg".
[[nodiscard]] const std::vector<std::string_view>& encoding_names();
/// Parses "keep", "png", "raw", "jpeg" or "jpeg:QUALITY" into options.encoding and options.jpeg_quality. Throws
/// ConfigError that lists the choices.
void parse_encoding(std::string_view text, ConvertOptions& options);

/// Result of a conversion.
struct Converted {
  std::int64_t images = 0;  ///< number of images in the written files
  std::int64_t files = 0;   ///< number of files in the folder
  /// Number of files in the folder that an earlier run had already written.
  std::int64_t files_kept = 0;
  /// Number of images whose gray levels differ from their files' (StoredForm::has_other_gray). A warning is also
  /// printed.
  std::int64_t other_grays = 0;
  /// Number of images stored in a format that readers of the records do not decode. A warning is also printed.
  std::int64_t uncommon_files = 0;
  std::uint64_t bytes = 0;  ///< total size of the files
};

/// Writes FOLDER/SPLIT-00000-of-00010.tfrecord and so on (or .tar; or .rec with .idx and .lst; or SPLIT_lmdb/data.mdb;
/// or images/*.png, then labels.csv). Each file is
/// written atomically. Also writes convert.json, which describes their origin. A second call with the same data set and
/// options, such as after a crash, keeps the existing files. Throws ConfigError if options contradict each other or the
/// folder contains other files. Throws DataError if an image cannot be read or decoded, the disk is full, or a record
/// reads back differently.
[[nodiscard]] Converted convert(const Dataset& dataset, const ConvertOptions& options);

}  // namespace roentgen::data
