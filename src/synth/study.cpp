// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/study.h"

#include "synth/anatomy.h"
#include "synth/exposure.h"

namespace roentgen::synth {
LaidStudy lay_study(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity,
                    std::optional<Finding> without) {
  Chest chest = draw_chest(key);
  Chest rest = chest;  // in which `without` changed no shape
  PerFinding<Painter> painters;
  for (std::size_t i = 0; i < painters.size(); ++i) {
    const auto finding = static_cast<Finding>(i);
    if (severity[i] <= 0.0) continue;
    painters[i] = plant(finding, chest, plan_of(key, finding, severity[i]));
    if (finding == without) {
      painters[i] = nullptr;
    } else if (without) {
      static_cast<void>(plant(finding, rest, plan_of(key, finding, severity[i])));
    }
  }
  LaidStudy laid{.chest = chest, .canvas = Canvas(size_px, chest.pose)};
  lay_chest(laid.canvas, without ? rest : chest);
  for (std::size_t i = 0; i < painters.size(); ++i) {
    if (!painters[i]) continue;
    painters[i](laid.canvas, chest);
    laid.boxes[i] = laid.canvas.take_touched();
    laid.organs[i] = laid.canvas.take_claimed();
  }
  return laid;
}

namespace {
Study render(const StudyKey& key, std::int64_t size_px, const Truth& truth, const FilmOptions& film) {
  const LaidStudy laid = lay_study(key, size_px, truth.severity);
  const Chest& chest = laid.chest;
  Study study;
  study.boxes = laid.boxes;
  study.size_px = size_px;
  study.gray = expose(laid.canvas, chest.exposure, study_stream(key, RandomStage::SynthPixels), chest.texture_seed);
  study.marks = draw_marks(key, film, chest.pose.field_mm);
  put_marks(study.gray, study.marks, size_px, chest.pose.field_mm);
  study.pixels = quantise_8(study.gray, study.marks.is_inverted);
  study.truth = truth;
  study.age_years = chest.age_years;
  study.sex = chest.sex;
  study.view = chest.view;
  study.pixel_mm = chest.pose.field_mm / static_cast<double>(size_px);
  return study;
}
}  // namespace

Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population, const FilmOptions& film) {
  return render(key, size_px, draw_truth(key, population), film);
}

Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity,
                  const FilmOptions& film) {
  Truth truth;
  truth.severity = severity;
  for (std::size_t i = 0; i < severity.size(); ++i) truth.label[i] = severity[i] > 0.0;
  return render(key, size_px, truth, film);
}

}  // namespace roentgen::synth
