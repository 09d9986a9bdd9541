// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Population: prevalences of findings, rates of wrong and missing labels, and views.
#pragma once

#include <cstdint>
#include <optional>

namespace roentgen::synth {

/// Default share of AP views.
inline constexpr double kApShare = 0.4;

/// Source of the prevalences.
enum class Prevalence : std::uint8_t {
  Range,  ///< prevalence_low to prevalence_high
  Nih,    ///< NIH ChestX-ray14's own, kNihPrevalence
};

/// Population from which findings and labels are drawn.
struct Population {
  Prevalence prevalence = Prevalence::Range;
  /// Range of the findings' prevalences (share of images labelled positive); kFindingRank places each finding in it.
  double prevalence_low = 0.08;
  double prevalence_high = 0.20;
  /// Share of positive labels without the finding, and share of findings without a positive label.
  double label_noise = 0.08;
  /// Factor on every prevalence.
  double prevalence_factor = 1.0;
  /// Chance of the mark "uncertain" for a label that is positive or whose finding is present. For the others it is
  /// uncertain * prevalence / (1 - prevalence), so that about three uncertain labels in seven have no finding.
  double uncertain = 0.0;
  /// Chance that a negative label is left blank.
  double blank = 0.0;
  /// Share of AP views; the others are PA.
  double ap_share = kApShare;
  /// Correlation of lines and tubes with edema, -1 to 1. Their chance is (1 + shortcut) / 2 with edema and (1 -
  /// shortcut) / 2 without. nullopt: no image has any.
  std::optional<double> shortcut = std::nullopt;
};

}  // namespace roentgen::synth
