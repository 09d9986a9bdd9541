// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/study.h"

#include "synth/anatomy.h"
#include "synth/exposure.h"
#include "synth/tubes.h"

namespace roentgen::synth {
LaidStudy lay_study(const StudyKey& key, std::int64_t size_px, const Scene& scene, std::optional<Finding> without) {
  const PerFinding<double>& severity = scene.severity;
  Chest chest = draw_chest(key, scene.ap_share);
  Chest rest = chest;  // chest without the changes of shape by the finding `without`
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
  if (scene.has_tubes) lay_tubes(laid.canvas, chest, tube_stream(key));
  return laid;
}

namespace {
Study render(const StudyKey& key, std::int64_t size_px, const Scene& scene, const FilmOptions& film,
             std::optional<Finding> without = std::nullopt) {
  const LaidStudy laid = lay_study(key, size_px, scene, without);
  const Chest& chest = laid.chest;
  Study study;
  study.boxes = laid.boxes;
  study.size_px = size_px;
  study.gray = expose(laid.canvas, chest.exposure, study_stream(key, RandomStage::SynthPixels), chest.texture_seed);
  study.marks = draw_marks(key, film, chest.pose.field_mm);
  put_marks(study.gray, study.marks, size_px, chest.pose.field_mm);
  const PixelRect open = open_pixels(study.marks, size_px, chest.pose.field_mm);
  for (PixelRect& box : study.boxes) box = cut(box, open);
  study.pixels = quantise_8(study.gray, study.marks.is_inverted);
  study.scene = scene;
  study.age_years = chest.age_years;
  study.sex = chest.sex;
  study.view = chest.view;
  study.pixel_mm = chest.pose.field_mm / static_cast<double>(size_px);
  return study;
}
}  // namespace

Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population, const FilmOptions& film) {
  const Truth truth = draw_truth(key, population);
  const Scene scene{.severity = truth.severity, .has_tubes = truth.has_tubes, .ap_share = population.ap_share};
  Study study = render(key, size_px, scene, film);
  study.truth = truth;
  return study;
}

Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity,
                  const FilmOptions& film) {
  Study study = render(key, size_px, {.severity = severity}, film);
  study.truth.severity = severity;
  for (std::size_t i = 0; i < severity.size(); ++i) {
    study.truth.label[i] = severity[i] > 0.0;
    study.truth.mark[i] = severity[i] > 0.0 ? Mark::Positive : Mark::Negative;
  }
  return study;
}

Study render_without(const StudyKey& key, std::int64_t size_px, const Scene& scene, Finding finding,
                     const FilmOptions& film) {
  return render(key, size_px, scene, film, finding);
}

}  // namespace roentgen::synth
