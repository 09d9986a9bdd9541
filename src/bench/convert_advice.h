// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decides from measured speeds whether converting a data set pays, given how often models are trained and data change.
#pragma once

#include <cstdint>
#include <span>

#include "bench/ledger/statistics.h"
#include "core/value.h"

namespace roentgen::bench {

/// Planned use of a data set.
struct PlannedUse {
  std::int64_t trainings = 1;  ///< number of trainings in all, at least 1
  /// Number of times that the data change. The data are converted once, and again after every change.
  std::int64_t changes = 0;
  std::int64_t epochs = 50;  ///< epochs of a training, at least 1
};

/// Returns the speed of a format relative to the image files. The estimate is the geometric mean of the ratios of all
/// rounds. The interval is by Student's t test of their logarithms. With one round, it is 0 to infinity.
/// @param files speeds of the image files, above 0, by round
/// @param records speeds of the format in the same rounds
/// @param level confidence, such as 0.95
[[nodiscard]] Interval gain_of(std::span<const double> files, std::span<const double> records, double level);

/// Costs of a format, as measured.
struct FormatCost {
  double convert_s = 0.0;     ///< time of one conversion
  double files_pass_s = 0.0;  ///< time of reading all image files once
  Interval gain{};            ///< gain_of() the format
};

/// A smallest and a largest value; infinity if there is none.
struct Bounds {
  double low = 0.0;
  double high = 0.0;
};

/// Time that reading takes over the planned use.
struct PlannedTime {
  double files_s = 0.0;  ///< reading the image files
  /// Conversions, and reading the format: estimate, and the ends of the gain's interval.
  Interval records_s{};
  /// Number of epochs of reading after which the format has saved the time of all conversions.
  Bounds epochs{};
  /// Smallest number of trainings with which the format saves time, for the planned epochs and changes.
  Bounds trainings{};
};
/// Computes both times. Training is assumed to wait for input all the time, so the difference is an upper bound.
[[nodiscard]] PlannedTime planned_time(const FormatCost& cost, const PlannedUse& use);

/// Adds to each row of formats after the first, for warm and cold reads, entries that compare it with the first row:
///   warm_of_files           estimate of gain_of()
///   warm_break_even_epochs  epochs [low, high] after which one conversion has paid; null in place of an infinite end,
///                           and instead of both if the interval of gain_of() contains 1
///   intervals               {warm: [low, high], cold: [low, high]} of gain_of(); null for one round
/// With 95% confidence, the intervals of all formats that convert_advice() compares for one size contain the true gains
/// (Bonferroni).
/// @param rows rows {size, convert_s, samples: {warm_images_per_s, cold_images_per_s}}, the image files first; samples
///             are by round
void add_gains(std::int64_t images, Value& rows);

/// Returns an array of advice for each size of the images, with a warm and a cold page cache:
///   {pages: "warm" or "cold", size, verdict, form, gain, gain_interval, files_s, records_s, trainings, epochs, text}
/// The verdict is "convert" or "keep files" if it holds for all gains of the interval, and "uncertain" if it does not.
/// If the interval contains 1, it is "no gain shown". `form` is the format that takes the least time, of those with a
/// gain that is shown. If no format takes less than the files, it is the one that needs the fewest trainings.
/// `trainings` and `epochs` are the bounds of PlannedTime, null if no gain is shown. Formats that change the pixels of
/// images at their original size are left out.
/// @param rows rows of add_gains() with {form, same_batches}
[[nodiscard]] Value convert_advice(std::int64_t images, const Value& rows, const PlannedUse& use);

}  // namespace roentgen::bench
