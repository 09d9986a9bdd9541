// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws the healthy chest on a canvas: body, lungs, heart and mediastinum, vessels, skeleton. Findings are drawn
// afterwards.
#pragma once

#include "synth/canvas.h"
#include "synth/chest.h"

namespace roentgen::synth {

/// Draws the whole healthy chest: calls the functions below in this order.
void lay_chest(Canvas& canvas, const Chest& chest);

/// Draws torso, shoulders, neck and breasts, and the gas in trachea and stomach.
void lay_body(Canvas& canvas, const Chest& chest);
/// Draws the aerated lung with its texture: ellipsoids without the domes of the diaphragm, the heart and the
/// mediastinum.
void lay_lungs(Canvas& canvas, const Chest& chest);
/// Draws the branching vessels of both lungs.
void lay_vessels(Canvas& canvas, const Chest& chest);
/// Draws ribs, spine, clavicles, scapulae and heads of the humeri.
void lay_skeleton(Canvas& canvas, const Chest& chest);

/// Returns the ellipsoid of the heart. Its shadow is cardiothoracic_ratio times as wide as the inside of the thorax.
[[nodiscard]] Ellipsoid heart_shape(const Chest& chest);
/// Returns the point in the chest from which the vessels of a lung start.
[[nodiscard]] Point hilum(const Chest& chest, const Lung& lung);
/// Returns the rectangle around a lung's outline, from its apex to below the diaphragm.
[[nodiscard]] Rect area_of(const Lung& lung);

}  // namespace roentgen::synth
