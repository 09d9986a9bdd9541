// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inventory of a data set's image files and their problems: formats, sizes, broken files, duplicates, unused gray
// range. Only Census::broken names images.
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

/// Depth of reading. Headers: the header of each file, and whole files that may be duplicates.
enum class CensusDepth : std::uint8_t { Headers, Pixels };

/// Options of take_census().
struct CensusOptions {
  CensusDepth depth = CensusDepth::Headers;  ///< how much of each file is read
  /// Threads; 0: as many as the process may use cores.
  int threads = 0;
  /// Progress callback: receives the number of images done, from one thread at a time.
  std::function<void(std::int64_t)> on_progress{};
};

/// An image that cannot be read.
struct BrokenImage {
  std::uint32_t sample = 0;  ///< index into Dataset::samples
  std::string reason;        ///< one line that names the image
};

/// Groups of equal images: equal file bytes, or equal pixels (data::pixel_hash, which skips blank images).
struct SameImages {
  /// Distinct images that come more than once, and how many images those are.
  std::int64_t groups = 0;
  std::int64_t images = 0;  ///< images in all groups together
  /// Groups with images in two of train, val and test.
  std::int64_t across_splits = 0;
  std::int64_t across_patients = 0;  ///< groups with images of two patients
};

/// Range of gray values in the files.
struct GrayRange {
  std::uint32_t lowest = 0;   ///< least gray value
  std::uint32_t highest = 0;  ///< greatest gray value
  /// Value of white: the largest of the files' containers.
  std::uint32_t white = 0;
  /// Images whose range of values is less than a quarter of their container's.
  std::int64_t below_a_quarter = 0;
  /// Whether all images of the form together use less than a quarter.
  [[nodiscard]] bool is_narrow() const { return highest - lowest < white / 4; }
};

/// Result of a census.
struct Census {
  CensusDepth depth = CensusDepth::Headers;  ///< depth of the reading
  std::int64_t images = 0;                   ///< images looked at, broken ones included
  /// Bytes of image files, or of their parts of record files.
  std::uint64_t bytes = 0;
  /// "png gray 8 bit": images of that form.
  std::map<std::string, std::int64_t> forms;
  /// (width, height) px: images of that size.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sizes;
  std::vector<BrokenImage> broken;  ///< broken images in the order of the samples
  SameImages duplicates;            ///< images that occur more than once
  /// Gray ranges by form; empty for CensusDepth::Headers.
  std::map<std::string, GrayRange> ranges;
};

/// Reads the samples' files. Broken ones are counted, never thrown; the result depends on the files alone, not on the
/// number of threads. DataError where the process may open no more files.
[[nodiscard]] Census take_census(const Dataset& dataset, const CensusOptions& options);

/// Lines for the terminal, warnings among them; ends with a newline.
[[nodiscard]] std::string to_text(const Census& census);
/// Returns the census for JSON: {depth, images, bytes, forms, sizes: [{width, height, images}], broken: {images,
/// reasons},
///   duplicates: {groups, images, across_splits, across_patients},
///   gray: {FORM: {lowest, highest, white, below_a_quarter}}, warnings}.
[[nodiscard]] Value to_value(const Census& census);

}  // namespace roentgen::data
