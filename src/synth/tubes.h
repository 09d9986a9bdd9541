// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws intensive-care devices in and on a patient: ECG electrodes with wires, and often a tracheal tube, a gastric
// tube or a central line. Devices are not a finding. If sick patients have them more often, a model may learn them as a
// shortcut (`synth --shortcut`).
#pragma once

#include "synth/canvas.h"

namespace roentgen::synth {

/// Returns the random stream for the devices of a study.
[[nodiscard]] Random tube_stream(const StudyKey& key);

/// Draws three to five electrodes with wires, and each of the three tubes with probability 1/2, on the projected chest.
void lay_tubes(Canvas& canvas, const Chest& chest, Random random);

}  // namespace roentgen::synth
