// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts the contents of a data set, and computes the best AUROC that its noisy labels allow.
#pragma once

#include <span>

#include "synth/synth.h"

namespace roentgen::synth {

struct Entry;

/// Counts studies, patients, positives and boxes, and computes the AUROC of the true severities on the test set.
/// `seconds` stays 0.
[[nodiscard]] SynthReport summarise(std::span<const Entry> entries, const Auroc& auroc);

}  // namespace roentgen::synth
