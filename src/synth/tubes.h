// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws intensive-care devices in and on a patient: ECG electrodes with wires, and often a tracheal tube, a gastric
// tube or a central line. They are no finding. If sick patients have them more often, they are a shortcut that a model
// may learn (`synth --shortcut`).
#pragma once

#include "synth/canvas.h"

namespace roentgen::synth {

/// Random stream for the tubes of a study.
[[nodiscard]] Random tube_stream(const StudyKey& key);

/// Draws three to five electrodes with wires, and each of the three tubes with probability 1/2, on the projected chest.
void lay_tubes(Canvas& canvas, const Chest& chest, Random random);

}  // namespace roentgen::synth
