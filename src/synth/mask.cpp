// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/mask.h"

#include <algorithm>
#include <cmath>

#include "synth/exposure.h"
#include "synth/study.h"

namespace roentgen::synth {
namespace {
constexpr std::uint8_t kInside = 255;

// Returns the change of the line integral by kMaskLeastMm of soft tissue, computed with line_integrals().
float least_change() {
  Planes one;
  for (auto* plane : {&one.air, &one.density, &one.vessel, &one.fill, &one.soft, &one.gas, &one.bone}) {
    plane->assign(1, 0.0F);
  }
  one.body.assign(1, static_cast<float>(kMaskLeastMm));
  return line_integrals(one)[0];
}
}  // namespace

PerFinding<Mask> masks_of(const StudyKey& key, std::int64_t size_px, const Scene& scene) {
  const PerFinding<double>& severity = scene.severity;
  PerFinding<Mask> masks;
  if (std::ranges::all_of(severity, [](double s) { return s <= 0.0; })) return masks;
  LaidStudy laid = lay_study(key, size_px, scene);
  const std::vector<float> with = line_integrals(laid.canvas.planes);
  const float least = least_change();
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (severity[i] <= 0.0) continue;
    const LaidStudy rest = lay_study(key, size_px, scene, static_cast<Finding>(i));
    const std::vector<float> without = line_integrals(rest.canvas.planes);
    Mask mask(with.size(), 0);
    for (std::size_t px = 0; px < mask.size(); ++px) {
      if (std::fabs(with[px] - without[px]) > least) mask[px] = kInside;
    }
    for (const Ellipsoid& organ : laid.organs[i]) {
      laid.canvas.for_each(organ, [&](std::size_t px, float, float, float, float) { mask[px] = kInside; });
    }
    if (std::ranges::find(mask, kInside) != mask.end()) masks[i] = std::move(mask);
  }
  return masks;
}

}  // namespace roentgen::synth
