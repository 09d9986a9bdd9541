// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Truth and label of a study: the severity of each finding, and a label drawn from it with noise.
#pragma once

#include "synth/chest.h"
#include "synth/finding.h"
#include "synth/population.h"

namespace roentgen::synth {

/// Mark of a finding in a label table; its value is the field, Blank an empty one.
enum class Mark : std::int8_t { Uncertain = -1, Negative = 0, Positive = 1, Blank = 2 };

/// Severity and label of each finding in one study.
struct Truth {
  /// 0 where the finding is absent, else in [kLeastSeverity, 1].
  PerFinding<double> severity{};
  PerFinding<bool> label{};
  /// Mark of each finding; equals the label unless it is uncertain or blank.
  PerFinding<Mark> mark{};
  /// Lines, tubes and electrodes on and in the patient.
  bool has_tubes = false;
};

/// Content of a study: everything that rendering needs beside its key.
struct Scene {
  PerFinding<double> severity{};
  bool has_tubes = false;
  double ap_share = kApShare;
};

/// Smallest severity of a present finding.
inline constexpr double kLeastSeverity = 0.15;

/// The prevalence aimed at for each finding.
[[nodiscard]] PerFinding<double> prevalences(const Population& population);

/// Chance of a positive label. For severity 0 it is label_noise * prevalence / (1 - prevalence). Otherwise it is (1 -
/// label_noise) / (1 + exp(-(severity - 0.3) / 0.05)), so mild findings are often called negative.
[[nodiscard]] double label_odds(double severity, double prevalence, double label_noise);

/// Chance that a finding is present, such that positive labels have the asked prevalence.
[[nodiscard]] double presence(double prevalence, double label_noise);

/// Draws the truth of one study. Pure function.
[[nodiscard]] Truth draw_truth(const StudyKey& key, const Population& population);

/// The plan of one finding in one study. Persistent findings keep the patient's details (side, place) in follow-ups.
[[nodiscard]] Plan plan_of(const StudyKey& key, Finding finding, double severity);

}  // namespace roentgen::synth
