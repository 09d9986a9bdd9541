// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Figure: a number or the reason why there is none. A value that cannot be computed is never 0.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

namespace roentgen::eval {

/// Reasons for an undefined value: lower case, without a full stop, to follow "undefined: ".
inline constexpr std::string_view kOneClass = "only one class is present";
inline constexpr std::string_view kNoImages = "no image with known truth";  ///< truth is unknown of all images
inline constexpr std::string_view kNoLabel = "no label is defined";         ///< reason for a mean
/// Reason for precision.
inline constexpr std::string_view kNothingCalled = "no image is called positive at the threshold";
/// Reason for the negative predictive value.
inline constexpr std::string_view kAllCalled = "every image is called positive at the threshold";
/// Reason for a figure at a threshold.
inline constexpr std::string_view kNoThreshold = "no threshold: validation has only one class";
/// Reason for calibration.
inline constexpr std::string_view kNoProbabilities = "scores outside 0 to 1 are no probabilities";

/// A value or, where it is NaN, the reason.
struct Figure {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: undefined
  /// One of the constants above; empty when the value is defined.
  std::string_view reason = {};

  [[nodiscard]] bool is_defined() const { return !std::isnan(value); }  ///< is there a value?
};

/// A figure that cannot be computed.
[[nodiscard]] inline Figure undefined(std::string_view reason) { return {.reason = reason}; }

}  // namespace roentgen::eval
