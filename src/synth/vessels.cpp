// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws the vessels of the lungs: from each hilum, a fan of tubes that bend randomly, become thinner and fork. The tree
// is the same in all studies of a patient.
#include "core/portable_math.h"
#include "synth/anatomy.h"

namespace roentgen::synth {
namespace {
constexpr double kStepMm = 13.0;

struct Branch {
  Point at;
  double heading_rad = 0.0;
  double radius_mm = 3.0;
  int steps = 8;
  int order = 0;
};

class Tree {
 public:
  Tree(Canvas& canvas, const Lung& lung, Random random) : canvas_(canvas), lung_(lung), random_(random) {}

  void grow(Branch branch) {
    for (int step = 0; step < branch.steps && branch.radius_mm > 0.5; ++step) {
      branch.heading_rad += 0.22 * random_.normal();
      const Point next{branch.at.x_mm + kStepMm * portable_cos(branch.heading_rad),
                       branch.at.y_mm + kStepMm * portable_sin(branch.heading_rad)};
      const double thinner_mm = branch.radius_mm * 0.87;
      canvas_.add(canvas_.planes.vessel,
                  Tube{.from = branch.at, .to = next, .radius_from_mm = branch.radius_mm, .radius_to_mm = thinner_mm},
                  lung_.vessels);
      branch.at = next;
      branch.radius_mm = thinner_mm;
      if (branch.order < 2 && random_.chance(0.62)) fork(branch, branch.steps - step - 1);
    }
  }

 private:
  void fork(const Branch& branch, int steps) {
    const double turn_rad = random_.uniform(0.35, 0.8);
    const double sign = random_.chance(0.5) ? 1.0 : -1.0;
    grow({.at = branch.at,
          .heading_rad = branch.heading_rad + sign * turn_rad,
          .radius_mm = 0.78 * branch.radius_mm,
          .steps = steps,
          .order = branch.order + 1});
  }

  Canvas& canvas_;
  const Lung& lung_;
  Random random_;
};
}  // namespace

void lay_vessels(Canvas& canvas, const Chest& chest) {
  constexpr int kMain = 7;
  for (int side = 0; side < 2; ++side) {
    const Lung& lung = chest.lung(side);
    Random random(chest.vessel_seed, RandomStage::SynthPatient, static_cast<std::uint64_t>(side));
    const Point root = hilum(chest, lung);
    for (int i = 0; i < kMain; ++i) {
      // Directions of the vessels from steeply up over lateral to steeply down; vessels to the lower lobes are larger.
      const double share = (static_cast<double>(i) + random.uniform(0.15, 0.85)) / kMain;
      const double rise_rad = -1.25 + 2.65 * share;
      const double heading_rad = lung.side > 0.0 ? rise_rad : 3.14159265358979323846 - rise_rad;
      const double start_mm = random.uniform(-8.0, 8.0) + 16.0 * (share - 0.5);
      const double radius_mm = random.uniform(2.7, 3.7) + 1.2 * share;
      const int steps = 6 + static_cast<int>(random.below(4));
      Tree tree(canvas, lung,
                Random(chest.vessel_seed, RandomStage::SynthPatient, static_cast<std::uint64_t>(side),
                       static_cast<std::uint32_t>(i + 1)));
      tree.grow({.at = {root.x_mm, root.y_mm + start_mm},
                 .heading_rad = heading_rad,
                 .radius_mm = radius_mm,
                 .steps = steps});
    }
  }
}

}  // namespace roentgen::synth
