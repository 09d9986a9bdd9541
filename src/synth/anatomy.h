// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws the healthy chest on a canvas: body, lungs, heart and mediastinum, vessels, skeleton. Findings are painted
// afterwards.
#pragma once

#include "synth/canvas.h"
#include "synth/chest.h"

namespace roentgen::synth {

/// Calls all functions below, in this order.
void lay_chest(Canvas& canvas, const Chest& chest);

/// Torso, shoulders, neck, breasts; trachea and stomach gas.
void lay_body(Canvas& canvas, const Chest& chest);
/// Aerated lung with its texture: ellipsoids without the domes, the heart and the mediastinum.
void lay_lungs(Canvas& canvas, const Chest& chest);
/// The branching vessels of both lungs.
void lay_vessels(Canvas& canvas, const Chest& chest);
/// Ribs, spine, clavicles, scapulae, heads of the humeri.
void lay_skeleton(Canvas& canvas, const Chest& chest);

/// The heart's ellipsoid; its shadow is cardiothoracic_ratio * inner width wide.
[[nodiscard]] Ellipsoid heart_shape(const Chest& chest);
/// Point from which the vessels of a lung start.
[[nodiscard]] Point hilum(const Chest& chest, const Lung& lung);
/// The rectangle around a lung's outline, from apex to below the diaphragm.
[[nodiscard]] Rect area_of(const Lung& lung);

}  // namespace roentgen::synth
