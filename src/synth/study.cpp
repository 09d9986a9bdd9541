// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/study.h"

#include "synth/anatomy.h"
#include "synth/exposure.h"

namespace roentgen::synth {
namespace {
Study render(const StudyKey& key, std::int64_t size_px, const Truth& truth) {
  Chest chest = draw_chest(key);
  PerFinding<Painter> painters;
  for (std::size_t i = 0; i < painters.size(); ++i) {
    const auto finding = static_cast<Finding>(i);
    if (truth.severity[i] > 0.0) painters[i] = plant(finding, chest, plan_of(key, finding, truth.severity[i]));
  }
  Canvas canvas(size_px, chest.pose);
  lay_chest(canvas, chest);
  Study study;
  for (std::size_t i = 0; i < painters.size(); ++i) {
    if (!painters[i]) continue;
    painters[i](canvas, chest);
    study.boxes[i] = canvas.take_touched();
  }
  study.size_px = size_px;
  study.pixels = expose(canvas, chest.exposure, study_stream(key, RandomStage::SynthPixels));
  study.truth = truth;
  study.age_years = chest.age_years;
  study.sex = chest.sex;
  study.view = chest.view;
  study.pixel_mm = chest.pose.field_mm / static_cast<double>(size_px);
  return study;
}
}  // namespace

Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population) {
  return render(key, size_px, draw_truth(key, population));
}

Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity) {
  Truth truth;
  truth.severity = severity;
  for (std::size_t i = 0; i < severity.size(); ++i) truth.label[i] = severity[i] > 0.0;
  return render(key, size_px, truth);
}

}  // namespace roentgen::synth
