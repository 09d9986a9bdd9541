// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Devices of intensive care in and on a patient: ECG electrodes with their wires, and often a tracheal tube, a gastric
// tube, a central line. They are not a finding, but hint at one if sick patients have more of them: the shortcut of
// `synth`.
#pragma once

#include "synth/canvas.h"

namespace roentgen::synth {

/// Random stream for the tubes of a study.
[[nodiscard]] Random tube_stream(const StudyKey& key);

/// Lays three to five electrodes with wires, and each of the three tubes with even odds, on the laid-out chest.
void lay_tubes(Canvas& canvas, const Chest& chest, Random random);

}  // namespace roentgen::synth
