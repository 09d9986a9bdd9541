// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chest: the geometry of one patient in one study, in millimetres, before anything is drawn. Permanent properties of a
// patient are drawn from (seed, patient). Pose, breath and exposure are drawn from (seed, patient, follow-up).
//
// Chest coordinates: x to the right of the image (the patient's left in the usual view), y down, z from back to front.
// The origin lies on the midline at mid-lung height. Rays run along z.
#pragma once

#include <array>
#include <cstdint>

#include "core/random.h"
#include "synth/population.h"

namespace roentgen::synth {

/// A point in the chest's frontal plane.
struct Point {
  double x_mm = 0.0;
  double y_mm = 0.0;
};

/// Ratio of the dome's half-width to the half-width of its lung, so that the dome's rim meets the chest wall before the
/// dome becomes vertical.
inline constexpr double kDomeSpread = 1.15;

/// One lung: an ellipsoid with a cut-out dome, the diaphragm.
struct Lung {
  /// -1: on the left of the image (the patient's right); +1: on the right.
  double side = 1.0;
  Point center;
  double half_width_mm = 66.0;
  double half_height_mm = 140.0;
  double half_depth_mm = 80.0;
  /// Sideways shift of the outline per mm above the centre, because lungs narrow towards the midline at the apex.
  double lean = 0.08;
  /// Height of the top of the diaphragm's dome; below, the distance from there down to the rim of the dome (0: flat).
  double dome_y_mm = 85.0;
  double dome_rise_mm = 50.0;
  /// Tissue per volume of aerated lung, relative to water.
  double density = 0.27;
  /// Factor by which the path length through the vessels is multiplied.
  double vessels = 1.0;

  [[nodiscard]] double top_mm() const { return center.y_mm - half_height_mm; }
  /// Height of the diaphragm's surface at x.
  [[nodiscard]] double dome_surface_mm(double x_mm) const;
  /// Middle of the lung's outline at height y.
  [[nodiscard]] double middle_x_mm(double y_mm) const;
  /// Half the width of the lung's outline at height y; 0 outside of the lung.
  [[nodiscard]] double half_width_at_mm(double y_mm) const;
  /// Point at a relative position in the lung. `across`: -1 at the medial edge, +1 at the lateral edge. `down`: 0 at
  /// the apex, 1 at the diaphragm.
  [[nodiscard]] Point at(double across, double down) const;
};

/// Heart: a tilted ellipsoid.
struct Heart {
  Point center;
  /// Ratio of the heart's shadow to the inner width of the thorax; above 0.5 the heart is enlarged.
  double cardiothoracic_ratio = 0.44;
  /// Ratio of the short axis to the long axis.
  double roundness = 0.72;
  double tilt_rad = 0.6;
  double half_depth_mm = 45.0;
};

/// Position of the image plane: image = center + scale * rotation * chest, in mm on the detector.
struct Pose {
  double angle_rad = 0.0;
  double scale_x = 1.0;
  double scale_y = 1.0;
  Point shift;
  /// Width and height of the visible field, mm on the detector.
  double field_mm = 380.0;
};

/// X-ray beam, scatter and the film's curve.
struct Exposure {
  /// Number of photons per mm2 before the patient.
  double photons_per_mm2 = 1e6;
  double scatter_share = 1.0;
  double scatter_radius_mm = 25.0;
  /// Shift of the black level, and below of the white level, as shares of the gray window.
  double black = 0.0;
  double white = 0.0;
  /// Nonlinearity of the film curve: coefficients of its quadratic part and, below, its S-shaped part. If they are 0,
  /// the curve is a straight line.
  double bend = 0.0;
  double s_shape = 0.0;
  /// Change of the signal from one edge of the field to the opposite edge, along x and below along y (heel effect).
  double slope_x = 0.0;
  double slope_y = 0.0;
};

enum class View : std::uint8_t { Pa, Ap };
enum class Sex : std::uint8_t { Female, Male };

/// Geometry of one patient in one study.
struct Chest {
  int age_years = 50;
  Sex sex = Sex::Female;
  View view = View::Pa;
  /// Half the inner width of the thorax at its widest point.
  double half_width_mm = 140.0;
  double wall_mm = 30.0;
  double half_thickness_mm = 110.0;
  double breast_mm = 0.0;
  double bone = 1.0;
  double rib_slope = 0.42;
  double rib_pitch_mm = 22.0;
  double spine_bend_mm = 0.0;
  double mediastinum_mm = 28.0;
  double aorta_mm = 15.0;
  double clavicle_y_mm = -108.0;
  double stomach_gas_mm = 20.0;
  /// Contrast of the aerated lung's texture, as a share of the lung's density.
  double mottle = 0.1;
  std::array<Lung, 2> lungs;
  Heart heart;
  Pose pose;
  Exposure exposure;
  /// Seeds of the vessel tree (constant for a patient) and of textures.
  std::uint64_t vessel_seed = 0;
  std::uint64_t texture_seed = 0;

  [[nodiscard]] Lung& lung(int side_index) { return lungs.at(static_cast<std::size_t>(side_index)); }
  [[nodiscard]] const Lung& lung(int side_index) const { return lungs.at(static_cast<std::size_t>(side_index)); }
};

/// Identifies a study: patient and follow-up.
struct StudyKey {
  std::uint64_t seed = 0;
  std::int64_t patient = 1;
  std::int64_t follow_up = 0;
};

/// Returns the random stream of one study for one purpose; `channel` separates several draws for the same purpose.
[[nodiscard]] Random study_stream(const StudyKey& key, RandomStage stage, std::uint32_t channel = 0);
/// Returns the random stream of one patient, the same in all studies of the patient.
[[nodiscard]] Random patient_stream(const StudyKey& key, std::uint32_t channel = 0);

/// Returns the ratio of a length on the film to the length in the patient: source / (source - distance to the
/// detector). `share_from_front` is the depth as a share of the patient's thickness. PA views: source at 1.8 m, front
/// at the detector. AP views: source at 1 m, back at the detector. Both have a gap of kDetectorGapMm between patient
/// and detector.
[[nodiscard]] double magnification(View view, double share_from_front, double half_thickness_mm);
inline constexpr double kDetectorGapMm = 40.0;
/// Depth of heart and great vessels from the front, as a share of the thickness; the widest part of the thorax is at
/// 0.5.
inline constexpr double kHeartDepth = 0.36;
inline constexpr double kVesselDepth = 0.42;

/// Draws the healthy chest of one study as projected on the film. Heart, mediastinum and aorta are magnified
/// differently from the thorax because of their depth. Pure function.
[[nodiscard]] Chest draw_chest(const StudyKey& key, double ap_share = kApShare);

}  // namespace roentgen::synth
