// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a data set to record files (record_form.h has their forms) or to a folder of PNG files. Record files are
// fewer files to open. If images are resized on the way, every epoch reads and decodes less.
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

/// Stored form of an image.
enum class Encoding : std::uint8_t {
  Keep,  ///< the file as it is; in a folder of PNG files: as PNG unless it is
  Png,   ///< pixels as PNG
  Raw,   ///< raw pixels; one channel for a gray picture stored as colour (R = G = B)
  Jpeg,  ///< 8 bits of its pixels as JPEG: not the same pixels
};

/// Destination and form of a conversion.
struct ConvertOptions {
  std::filesystem::path folder;  ///< output folder; made where it is absent
  /// A name of record_form.h.
  std::string form = "tfrecord";
  Encoding encoding = Encoding::Keep;  ///< how images are stored
  /// Quality for Encoding::Jpeg, 1 to 100.
  int jpeg_quality = 92;
  /// Side of the stored images, px; 0: as they are. Not with Keep.
  std::int64_t size_px = 0;
  /// Resize to a square.
  Fit fit = Fit::Squash;
  Filter filter = Filter::Triangle;  ///< filter of the resize
  /// Conversion of DICOM files to gray levels. Not with Keep.
  Intensity intensity = Intensity::Stored;
  JpegSize jpeg = JpegSize::Scaled;  ///< size at which JPEG files are decoded
  /// Record files of each split; 0: as many as make about 128 MiB each of the files as they are. Not of PNG files.
  std::int64_t shards = 0;
  /// Record files written at a time; at least 1.
  int workers = 1;
  /// Reads every written record again and compares its pixels with those that were to be stored (JPEG: its size).
  bool should_verify = false;
  /// Progress: images done and in total. Called by any worker, by one at a time.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress{};
};

/// "keep", "png", "raw", "jpeg".
[[nodiscard]] const std::vector<std::string_view>& encoding_names();
/// Parses "keep", "png", "raw", "jpeg" or "jpeg:QUALITY" into the two fields; ConfigError naming the choices.
void parse_encoding(std::string_view text, ConvertOptions& options);

/// Result of a conversion.
struct Converted {
  std::int64_t images = 0;  ///< images in the written files
  std::int64_t files = 0;   ///< files of the folder
  /// Files among them that an earlier run had written.
  std::int64_t files_kept = 0;
  /// Images whose gray differs from their files' (StoredForm::has_other_gray); a warning reports them, too.
  std::int64_t other_grays = 0;
  std::uint64_t bytes = 0;  ///< bytes of these files
};

/// Writes FOLDER/SPLIT-00000-of-00010.tfrecord, ... (or .tar; or images/*.png and then labels.csv), each atomically,
/// and convert.json, which describes their origin. A second call with the same data set and options, such as after a
/// kill, keeps the existing files. Throws ConfigError for options that do not fit, or a folder with files of something
/// else. Throws DataError for an image that cannot be read or decoded, a full disk, or a record that reads back
/// differently.
[[nodiscard]] Converted convert(const Dataset& dataset, const ConvertOptions& options);

}  // namespace roentgen::data
