// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures how fast a folder's storage delivers images, and compares that with what training needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::data {
class EmulatedStorage;
}

namespace roentgen::doctor {

/// Settings of a measurement of storage.
struct StoreTest {
  /// Largest number of files that are read at once; at least 1.
  int most_readers = 32;
  /// Seconds for each number of readers. The last images may exceed it.
  double point_s = 1.0;
  /// Delays every access to simulate slow storage; may be null. Owned by the caller.
  data::EmulatedStorage* storage = nullptr;
  /// Called before each number of readers, for progress. May be empty.
  std::function<void(int readers)> on_point{};
};

/// Speed with one number of readers.
struct StorePoint {
  int readers = 1;
  double images_per_s = 0.0;
  double opens_per_s = 0.0;
  double bytes_per_s = 0.0;
};

/// Speed of storage.
struct StoreSpeed {
  double image_bytes = 0.0;      ///< mean size of an image in its file
  double opens_per_image = 0.0;  ///< files opened for an image: 1 for images in files of their own
  std::vector<StorePoint> points{};
  /// Returns the point with the most images per second.
  [[nodiscard]] const StorePoint& best() const;
};

/// Reads images with 1, 2, 4, ... readers at once, and finally with the most. Images are drawn evenly from the data set
/// and are read from the storage, not from the page cache, as far as the system allows that. Throws DataError if an
/// image cannot be read, and ConfigError if the data set is empty.
[[nodiscard]] StoreSpeed measure_store(const data::Dataset& dataset, const StoreTest& test);

/// Speed of the parts of an input pipeline, in images per second.
struct InputSpeed {
  double storage_per_s = 0.0;  ///< reading, without decoding
  double decode_per_s = 0.0;   ///< decoding and transforming images that are in memory
  /// Speed of the pipeline in a first pass over the data: reading and decoding overlap, so the slower one decides.
  [[nodiscard]] double predicted_per_s() const { return storage_per_s < decode_per_s ? storage_per_s : decode_per_s; }
};

/// Returns advice for a folder whose storage or decoding is too slow, as lines for a shell or instructions. Empty if
/// the input is fast enough.
/// @param needed_per_s images per second that training needs
/// @param file_system type of the file system, such as "lustre"
[[nodiscard]] std::vector<std::string> store_remedies(const InputSpeed& speed, double needed_per_s,
                                                      std::string_view file_system, bool are_files_of_one_image);

/// Returns [{readers, images_per_s, opens_per_s, mb_per_s}].
[[nodiscard]] Value to_value(const std::vector<StorePoint>& points);

}  // namespace roentgen::doctor
