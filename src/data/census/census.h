// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inventory of a data set's image files: formats, sizes, broken files, duplicates and unused gray range. Only
// Census::broken contains image names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roentgen {
class Value;
}

namespace roentgen::data {

struct Dataset;

/// How much of each file is read. Headers: the header of each file, but all bytes of files that may be duplicates.
/// Pixels: every image is also decoded.
enum class CensusDepth : std::uint8_t { Headers, Pixels };

/// Options of take_census().
struct CensusOptions {
  CensusDepth depth = CensusDepth::Headers;  ///< how much of each file is read
  /// Number of threads; 0: one per core that the process may use.
  int threads = 0;
  /// Progress callback, called by one thread at a time with the number of images done.
  std::function<void(std::int64_t)> on_progress{};
};

/// An image that cannot be read.
struct BrokenImage {
  std::uint32_t sample = 0;  ///< index into Dataset::samples
  std::string reason;        ///< one-line error that names the image
};

/// Counts of equal images. Images are equal if their file bytes or their pixels are (data::pixel_hash, which skips
/// blank images).
struct SameImages {
  /// Number of groups of equal images: distinct images that occur more than once.
  std::int64_t groups = 0;
  std::int64_t images = 0;  ///< number of images in all groups together
  /// Groups of equal images that lie in more than one of train, val and test.
  std::int64_t across_splits = 0;
  std::int64_t across_patients = 0;  ///< groups of equal images that belong to more than one patient
};

/// Range of gray values that images of one format and bit depth use.
struct GrayRange {
  std::uint32_t lowest = 0;   ///< smallest gray value
  std::uint32_t highest = 0;  ///< largest gray value
  /// Gray value of white: the largest value that these files can store, such as 255 or 65535.
  std::uint32_t white = 0;
  /// Number of images that alone use less than a quarter of the gray values that their file can store.
  std::int64_t below_a_quarter = 0;
  /// True if all these images together use less than a quarter of the values from 0 to `white`.
  [[nodiscard]] bool is_narrow() const { return highest - lowest < white / 4; }
};

/// Result of a census.
struct Census {
  CensusDepth depth = CensusDepth::Headers;  ///< how much of each file was read
  std::int64_t images = 0;                   ///< number of images examined, including broken ones
  /// Total size of the image files. For images in record files, only the images' own bytes count.
  std::uint64_t bytes = 0;
  /// Number of images of each form; a form is a text such as "png gray 8 bit".
  std::map<std::string, std::int64_t> forms;
  /// Number of images of each size; the key is (width, height) in px.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sizes;
  std::vector<BrokenImage> broken;  ///< images that cannot be read, in the order of the samples
  SameImages duplicates;            ///< counts of equal images
  /// Gray ranges by form; empty for CensusDepth::Headers.
  std::map<std::string, GrayRange> ranges;
};

/// Reads the files of all samples. Broken images are counted and throw nothing. The result does not depend on the
/// number of threads. Throws DataError if the process may open no more files.
[[nodiscard]] Census take_census(const Dataset& dataset, const CensusOptions& options);

/// Report for the terminal, warnings included. Ends with a newline.
[[nodiscard]] std::string to_text(const Census& census);
/// Returns the census as a table for JSON:
///   {depth, images, bytes, forms, sizes: [{width, height, images}], broken: {images, reasons},
///   duplicates: {groups, images, across_splits, across_patients},
///   gray: {FORM: {lowest, highest, white, below_a_quarter}}, warnings}.
[[nodiscard]] Value to_value(const Census& census);

}  // namespace roentgen::data
