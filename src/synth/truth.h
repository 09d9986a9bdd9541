// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Truth and labels of a study: the severity of each finding, and a noisy label drawn from it.
#pragma once

#include "synth/chest.h"
#include "synth/finding.h"
#include "synth/population.h"

namespace roentgen::synth {

/// Entry of a finding in a label table. The value is the field's text; Blank is an empty field.
enum class Mark : std::int8_t { Uncertain = -1, Negative = 0, Positive = 1, Blank = 2 };

/// Severity and label of each finding in one study.
struct Truth {
  /// Severity of each finding: 0 if absent, else in [kLeastSeverity, 1].
  PerFinding<double> severity{};
  PerFinding<bool> label{};
  /// Entry of each finding in the label table: the label, Uncertain or Blank.
  PerFinding<Mark> mark{};
  /// True if lines, tubes and electrodes are on or in the patient.
  bool has_tubes = false;
};

/// Contents of a study: everything that rendering needs except its key.
struct Scene {
  PerFinding<double> severity{};
  bool has_tubes = false;
  double ap_share = kApShare;
};

/// Smallest severity of a present finding.
inline constexpr double kLeastSeverity = 0.15;

/// Returns the target prevalence of each finding.
[[nodiscard]] PerFinding<double> prevalences(const Population& population);

/// Returns the probability of a positive label. For severity 0 it is label_noise * prevalence / (1 - prevalence).
/// Otherwise it is (1 - label_noise) / (1 + exp(-(severity - 0.3) / 0.05)), so mild findings are often labelled
/// negative.
[[nodiscard]] double label_odds(double severity, double prevalence, double label_noise);

/// Returns the probability that a finding is present for which positive labels have the given prevalence.
[[nodiscard]] double presence(double prevalence, double label_noise);

/// Draws the truth of one study at random. Pure function.
[[nodiscard]] Truth draw_truth(const StudyKey& key, const Population& population);

/// Returns severity and random stream of one finding in one study. A persistent finding has the same details (side,
/// position) in follow-up studies of the patient.
[[nodiscard]] Plan plan_of(const StudyKey& key, Finding finding, double severity);

}  // namespace roentgen::synth
