// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/chest.h"

#include <algorithm>
#include <cmath>

#include "core/portable_math.h"

namespace roentgen::synth {
namespace {
// Normal random value, limited to two standard deviations so that no anatomy is extreme.
double about(Random& random, double mean, double spread) {
  return mean + spread * std::clamp(random.normal(), -2.0, 2.0);
}

void draw_body(Random& random, Chest& chest) {
  chest.sex = random.chance(0.5) ? Sex::Male : Sex::Female;
  chest.age_years = static_cast<int>(std::clamp(about(random, 52.0, 18.0), 18.0, 90.0));
  const double build = std::clamp(random.normal(), -1.8, 2.0);  // body build, from thin to heavy
  chest.half_width_mm = about(random, chest.sex == Sex::Male ? 143.0 : 133.0, 6.0) + 3.0 * build;
  chest.wall_mm = 28.0 + 7.0 * build + random.uniform(-3.0, 3.0);
  chest.half_thickness_mm = about(random, 108.0, 6.0) + 11.0 * build;
  chest.breast_mm = chest.sex == Sex::Female ? std::max(0.0, about(random, 24.0, 10.0) + 8.0 * build) : 0.0;
  chest.bone = about(random, 1.0, 0.14);
  chest.rib_slope = about(random, 0.42, 0.07);
  chest.rib_pitch_mm = about(random, 22.5, 1.3);
  chest.spine_bend_mm = about(random, 0.0, 5.0);
  chest.mediastinum_mm = about(random, 27.0, 3.0) + 1.5 * build;
  chest.aorta_mm = about(random, 14.0, 1.5) + 0.06 * (chest.age_years - 50);
  chest.clavicle_y_mm = about(random, -108.0, 7.0);
  chest.mottle = random.uniform(0.06, 0.22);
  chest.vessel_seed = random.next_u64();
}

void draw_lungs(Random& random, Chest& chest) {
  const double depth = chest.half_thickness_mm * random.uniform(0.68, 0.76);
  const double height = about(random, 138.0, 8.0);
  const double density = random.uniform(0.22, 0.36);
  const double rise = about(random, 50.0, 7.0);
  const double dome = about(random, 84.0, 6.0);
  const double vessels = random.uniform(0.9, 1.5);
  for (int i = 0; i < 2; ++i) {
    Lung& lung = chest.lung(i);
    lung.side = i == 0 ? -1.0 : 1.0;
    const double medial_mm = random.uniform(5.0, 12.0);
    lung.half_width_mm = 0.5 * (chest.half_width_mm - medial_mm);
    lung.center = {lung.side * (medial_mm + lung.half_width_mm), height - 120.0 + about(random, 0.0, 2.0)};
    lung.half_height_mm = height;
    lung.half_depth_mm = depth;
    lung.lean = about(random, 0.09, 0.02);
    lung.dome_y_mm = dome + (i == 0 ? 0.0 : about(random, 9.0, 4.0));
    lung.dome_rise_mm = rise + about(random, 0.0, 3.0);
    lung.density = density;
    lung.vessels = vessels;
  }
}

void draw_heart(Random& random, Chest& chest) {
  Heart& heart = chest.heart;
  heart.cardiothoracic_ratio = about(random, 0.435, 0.022);
  heart.roundness = about(random, 0.72, 0.05);
  heart.tilt_rad = about(random, 0.62, 0.10);
  heart.half_depth_mm = about(random, 46.0, 4.0);
  heart.center = {about(random, 16.0, 6.0), about(random, 46.0, 6.0)};
}

// Draws the properties that change between studies of a patient: breath, posture, beam and film.
void draw_study(Random& random, Chest& chest, double ap_share) {
  chest.view = random.chance(ap_share) ? View::Ap : View::Pa;
  const bool is_ap = chest.view == View::Ap;
  const double breath_mm = about(random, is_ap ? -7.0 : 1.0, 8.5);  // a deeper breath lowers the diaphragm
  for (Lung& lung : chest.lungs) {
    lung.dome_y_mm += breath_mm + random.uniform(-3.0, 3.0);
    lung.dome_rise_mm -= 0.3 * breath_mm;
    lung.density *= 1.0 - 0.006 * breath_mm;
  }
  chest.heart.center.y_mm += 0.6 * breath_mm;
  chest.heart.cardiothoracic_ratio *= random.uniform(0.98, 1.02);  // the heartbeat changes the heart's size
  chest.clavicle_y_mm += is_ap ? about(random, -8.0, 6.0) : about(random, 0.0, 4.0);
  chest.stomach_gas_mm = random.chance(0.6) ? random.uniform(10.0, 34.0) : 0.0;
  Pose& pose = chest.pose;
  pose.angle_rad = about(random, 0.0, is_ap ? 0.06 : 0.04);
  pose.scale_x = about(random, 1.0, 0.065);
  pose.scale_y = pose.scale_x * about(random, 1.0, 0.04);
  pose.shift = {about(random, 0.0, 12.0), about(random, -8.0, 12.0)};
  pose.field_mm = 335.0;
  Exposure& exposure = chest.exposure;
  exposure.photons_per_mm2 = 2e5 * portable_pow(10.0, random.uniform());
  exposure.scatter_share = random.uniform(0.3, is_ap ? 1.8 : 1.1);
  exposure.scatter_radius_mm = random.uniform(18.0, 35.0);
  exposure.black = random.uniform(-0.22, 0.10);
  exposure.white = random.uniform(-0.04, 0.32);
  exposure.bend = random.uniform(-0.4, 0.4);
  exposure.s_shape = random.uniform(-0.25, 0.5);
  exposure.slope_x = about(random, 0.0, 0.12);
  exposure.slope_y = about(random, 0.0, 0.12);
  chest.texture_seed = random.next_u64();
}

// Magnifies the chest as the film shows it. The scale of the image is relative to the PA view of an average patient;
// organs are magnified relative to this patient's thorax.
void magnify(Chest& chest) {
  constexpr double kMeanHalfThicknessMm = 108.0;
  const auto at = [&chest](double depth) { return magnification(chest.view, depth, chest.half_thickness_mm); };
  const double thorax = at(0.5);
  chest.heart.cardiothoracic_ratio *= at(kHeartDepth) / thorax;
  chest.mediastinum_mm *= at(kVesselDepth) / thorax;
  chest.aorta_mm *= at(kVesselDepth) / thorax;
  const double scale = thorax / magnification(View::Pa, 0.5, kMeanHalfThicknessMm);
  chest.pose.scale_x *= scale;
  chest.pose.scale_y *= scale;
}
}  // namespace

double Lung::middle_x_mm(double y_mm) const {
  const double above_mm = std::max(0.0, center.y_mm - y_mm);
  return center.x_mm - side * lean * above_mm;
}

double Lung::half_width_at_mm(double y_mm) const {
  const double v = (y_mm - center.y_mm) / half_height_mm;
  return half_width_mm * std::sqrt(std::max(0.0, 1.0 - v * v));
}

double Lung::dome_surface_mm(double x_mm) const {
  const double u = (x_mm - center.x_mm) / (kDomeSpread * half_width_mm);
  return dome_y_mm + dome_rise_mm * (1.0 - std::sqrt(std::max(0.0, 1.0 - u * u)));
}

Point Lung::at(double across, double down) const {
  // Iterates twice, because the height of the diaphragm depends on x and x depends on the height.
  double y_mm = top_mm() + down * (dome_y_mm - top_mm());
  double x_mm = middle_x_mm(y_mm) + side * across * half_width_at_mm(y_mm);
  y_mm = top_mm() + down * (dome_surface_mm(x_mm) - top_mm());
  x_mm = middle_x_mm(y_mm) + side * across * half_width_at_mm(y_mm);
  return {x_mm, y_mm};
}

Random study_stream(const StudyKey& key, RandomStage stage, std::uint32_t channel) {
  const auto sample = static_cast<std::uint64_t>(key.patient) << 20 | static_cast<std::uint64_t>(key.follow_up);
  return Random(key.seed, stage, sample, channel);
}

Random patient_stream(const StudyKey& key, std::uint32_t channel) {
  return Random(key.seed, RandomStage::SynthPatient, static_cast<std::uint64_t>(key.patient), channel);
}

double magnification(View view, double share_from_front, double half_thickness_mm) {
  constexpr double kPaSourceMm = 1800.0, kApSourceMm = 1000.0;
  const double source_mm = view == View::Ap ? kApSourceMm : kPaSourceMm;
  const double share = view == View::Ap ? 1.0 - share_from_front : share_from_front;
  return source_mm / (source_mm - kDetectorGapMm - 2.0 * share * half_thickness_mm);
}

Chest draw_chest(const StudyKey& key, double ap_share) {
  Chest chest;
  Random patient = patient_stream(key);
  draw_body(patient, chest);
  draw_lungs(patient, chest);
  draw_heart(patient, chest);
  Random study = study_stream(key, RandomStage::SynthStudy);
  draw_study(study, chest, ap_share);
  magnify(chest);
  chest.age_years = std::min(95, chest.age_years + static_cast<int>(key.follow_up / 3));
  return chest;
}

}  // namespace roentgen::synth
