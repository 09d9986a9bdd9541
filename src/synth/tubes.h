// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What intensive care leaves in and on a patient: ECG electrodes with their wires, and often a tracheal tube, a gastric
// tube, a central line. No finding, but a hint at one where the sick have more of them: the shortcut of `synth`.
#pragma once

#include "synth/canvas.h"

namespace roentgen::synth {

/// The stream that the tubes of a study are drawn from.
[[nodiscard]] Random tube_stream(const StudyKey& key);

/// Lays three to five electrodes with wires, and each of the three tubes with even odds, on the laid-out chest.
void lay_tubes(Canvas& canvas, const Chest& chest, Random random);

}  // namespace roentgen::synth
