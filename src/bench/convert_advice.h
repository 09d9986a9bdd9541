// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decides from measured times whether converting a data set pays, given how often models are trained and data change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/value.h"

namespace roentgen::bench {

/// Planned use of a data set.
struct PlannedUse {
  std::int64_t trainings = 1;  ///< number of trainings in all, at least 1
  /// Number of times that the data change. The data are converted once, and again after every change.
  std::int64_t changes = 0;
  std::int64_t epochs = 50;  ///< epochs of a training, at least 1
};

/// Measured speed of a format.
struct FormatSpeed {
  double convert_s = 0.0;           ///< time of one conversion
  double files_images_per_s = 0.0;  ///< speed of the image files
  double images_per_s = 0.0;        ///< speed of the format
};

/// Time that reading takes over the planned use.
struct PlannedTime {
  double files_s = 0.0;    ///< reading the image files
  double records_s = 0.0;  ///< conversions, and reading the format
  /// Smallest number of trainings with which the format saves time, for the planned epochs and changes. Nullopt if the
  /// format reads no faster than the files.
  std::optional<std::int64_t> least_trainings{};
};
/// Computes both times. Training is assumed to wait for input all the time, so the difference is an upper bound.
[[nodiscard]] PlannedTime planned_time(std::int64_t images, const FormatSpeed& speed, const PlannedUse& use);

/// Returns an array of advice for each size of the images, with a warm and a cold page cache:
///   {pages: "warm" or "cold", size, verdict: "convert" or "keep files", form, files_s, records_s, least_trainings,
///   text}
/// `form` takes the least time. If no format takes less than the files, it pays from the fewest trainings on.
/// Formats that change the pixels of images at their original size are left out.
/// @param rows table `formats` of run_formats(), the files first
[[nodiscard]] Value convert_advice(std::int64_t images, const Value& rows, const PlannedUse& use);

}  // namespace roentgen::bench
