// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Figure: the value of a metric, or the reason why it is undefined.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

namespace roentgen::eval {

/// Reason why a figure is undefined: lower case, without a full stop, to follow "undefined: ".
inline constexpr std::string_view kOneClass = "only one class is present";
inline constexpr std::string_view kNoImages =
    "no image with known truth";                                     ///< reason if the true label of no image is known
inline constexpr std::string_view kNoLabel = "no label is defined";  ///< reason why a mean over labels is undefined
/// Reason why precision is undefined.
inline constexpr std::string_view kNothingCalled = "no image is called positive at the threshold";
/// Reason why the negative predictive value is undefined.
inline constexpr std::string_view kAllCalled = "every image is called positive at the threshold";
/// Reason why a figure that needs a threshold is undefined.
inline constexpr std::string_view kNoThreshold = "no threshold: validation has only one class";
/// Reason why calibration is undefined.
inline constexpr std::string_view kNoProbabilities = "scores outside 0 to 1 are no probabilities";

/// Result of a metric: a value, or the reason why it is undefined.
struct Figure {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN if undefined
  /// Reason, one of the constants above; empty if the value is defined.
  std::string_view reason = {};

  [[nodiscard]] bool is_defined() const { return !std::isnan(value); }  ///< true if there is a value
};

/// Makes a Figure without a value.
[[nodiscard]] inline Figure undefined(std::string_view reason) { return {.reason = reason}; }

}  // namespace roentgen::eval
