// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Population: how common findings are, and how often labels are wrong.
#pragma once

namespace roentgen::synth {

/// The population findings are drawn from.
struct Population {
  /// Range of the findings' prevalences (share of images labelled positive); kFindingRank places each finding in it.
  double prevalence_low = 0.08;
  double prevalence_high = 0.20;
  /// Share of labelled positives that show nothing, and share of clear findings that the label misses.
  double label_noise = 0.08;
};

}  // namespace roentgen::synth
