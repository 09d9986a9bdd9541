// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Population: prevalences of findings, rates of wrong and missing labels, and share of views.
#pragma once

#include <cstdint>
#include <optional>

namespace roentgen::synth {

/// Default share of AP (anteroposterior) views.
inline constexpr double kApShare = 0.4;

/// Selects the source of the prevalences.
enum class Prevalence : std::uint8_t {
  Range,  ///< from prevalence_low to prevalence_high
  Nih,    ///< prevalences in NIH ChestX-ray14, kNihPrevalence
};

/// Population from which findings and labels are drawn.
struct Population {
  Prevalence prevalence = Prevalence::Range;
  /// Lowest and, below, highest prevalence of a finding (share of images labelled positive); kFindingRank places each
  /// finding between them.
  double prevalence_low = 0.08;
  double prevalence_high = 0.20;
  /// Share of the positive labels whose finding is absent. It is also the share of the findings without a positive
  /// label.
  double label_noise = 0.08;
  /// Factor by which every prevalence is multiplied.
  double prevalence_factor = 1.0;
  /// Probability that a label is marked "uncertain" if it is positive or its finding is present. For other labels the
  /// probability is uncertain * prevalence / (1 - prevalence), so that about three uncertain labels in seven have no
  /// finding.
  double uncertain = 0.0;
  /// Probability that a negative label is left blank.
  double blank = 0.0;
  /// Share of AP (anteroposterior) views; the other views are PA (posteroanterior).
  double ap_share = kApShare;
  /// Correlation of lines and tubes with edema, -1 to 1. Their probability is (1 + shortcut) / 2 with edema and (1 -
  /// shortcut) / 2 without. nullopt: no image has lines or tubes.
  std::optional<double> shortcut = std::nullopt;
};

}  // namespace roentgen::synth
