// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts the content of a data set, and computes its ceiling.
#pragma once

#include <span>

#include "synth/synth.h"

namespace roentgen::synth {

struct Entry;

/// Counts studies, patients, positives and boxes, and scores the true severities of the test set. `seconds` stays 0.
[[nodiscard]] SynthReport summarise(std::span<const Entry> entries, const Auroc& auroc);

}  // namespace roentgen::synth
