// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/tubes.h"

#include <array>

namespace roentgen::synth {
namespace {
constexpr std::uint32_t kDetailChannel = 301;  // different from the channels in truth.cpp
// Attenuation of metal and, below, other materials relative to bone, as weights in the plane of bone.
constexpr double kMetal = 7.0;
constexpr double kStripe = 3.0;  // barium stripe in plastic tubes

struct Line {
  double radius_mm = 1.0;
  double weight = 1.0;
};

void lay_line(Canvas& canvas, std::span<const Point> points, const Line& line) {
  std::vector<Tube> chain;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    chain.push_back({.from = points[i],
                     .to = points[i + 1],
                     .radius_from_mm = line.radius_mm,
                     .radius_to_mm = line.radius_mm,
                     .hollow = 0.0});
  }
  canvas.add_chain(canvas.planes.bone, chain, line.weight);
}

void lay_electrodes(Canvas& canvas, const Chest& chest, Random& random) {
  const double w = chest.half_width_mm;
  const std::array<Point, 5> places{
      {{-0.62 * w, -85.0}, {0.62 * w, -85.0}, {0.70 * w, 95.0}, {-0.70 * w, 95.0}, {0.30 * w, 25.0}}};
  const auto count = 3 + random.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const Point at{places[i].x_mm + random.uniform(-14.0, 14.0), places[i].y_mm + random.uniform(-14.0, 14.0)};
    canvas.add(canvas.planes.bone, Ellipsoid{.center = at, .along_mm = 6.0, .across_mm = 6.0, .depth_mm = 0.7}, kMetal);
    // Each wire runs down and to the right, out of the image.
    const Point middle{0.5 * at.x_mm + random.uniform(20.0, 70.0), at.y_mm + random.uniform(35.0, 70.0)};
    const std::array<Point, 3> wire{at, middle, Point{random.uniform(40.0, 120.0), 230.0}};
    lay_line(canvas, wire, {.radius_mm = 0.8, .weight = kMetal});
  }
}

void lay_tracheal_tube(Canvas& canvas, Random& random) {
  const double tip_y_mm = random.uniform(-75.0, -55.0);  // 2 to 4 cm above the carina
  const std::array<Point, 3> stripe{Point{4.0, -190.0}, Point{5.0, -120.0}, Point{4.0, tip_y_mm}};
  lay_line(canvas, stripe, {.radius_mm = 1.0, .weight = kStripe});
  const std::array<Point, 2> wall{Point{1.0, -190.0}, Point{2.0, tip_y_mm}};
  lay_line(canvas, wall, {.radius_mm = 5.0, .weight = 0.08});
}

void lay_gastric_tube(Canvas& canvas, const Chest& chest, Random& random) {
  const double floor_mm = chest.lung(1).dome_y_mm;
  const std::array<Point, 5> path{Point{-3.0, -190.0}, Point{random.uniform(-5.0, 5.0), -60.0},
                                  Point{random.uniform(0.0, 12.0), 40.0}, Point{18.0, floor_mm + 10.0},
                                  Point{random.uniform(45.0, 80.0), floor_mm + random.uniform(25.0, 45.0)}};
  lay_line(canvas, path, {.radius_mm = 2.2, .weight = 1.4});
}

void lay_central_line(Canvas& canvas, const Chest& chest, Random& random) {
  const double vein_mm = -0.85 * chest.mediastinum_mm;
  const std::array<Point, 4> path{Point{random.uniform(-62.0, -40.0), -175.0}, Point{vein_mm - 6.0, -125.0},
                                  Point{vein_mm, -85.0}, Point{vein_mm + 2.0, random.uniform(-45.0, -10.0)}};
  lay_line(canvas, path, {.radius_mm = 1.2, .weight = kStripe});
}
}  // namespace

Random tube_stream(const StudyKey& key) { return study_stream(key, RandomStage::SynthStudy, kDetailChannel); }

void lay_tubes(Canvas& canvas, const Chest& chest, Random random) {
  lay_electrodes(canvas, chest, random);
  if (random.chance(0.5)) lay_tracheal_tube(canvas, random);
  if (random.chance(0.5)) lay_gastric_tube(canvas, chest, random);
  if (random.chance(0.5)) lay_central_line(canvas, chest, random);
}

}  // namespace roentgen::synth
