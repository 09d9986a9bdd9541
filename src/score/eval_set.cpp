// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/eval_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "eval/leak.h"
#include "eval/subgroup.h"
#include "io/sha256.h"
#include "score/prediction_file.h"
#include "score/truth.h"

namespace roentgen::score {
namespace {

// Tolerance for a sum of probabilities to be 1. Covers a thousand probabilities that were written with nine digits.
constexpr double kSumTolerance = 1e-3;

bool is_exclusive(const eval::Predictions& predictions) {
  const std::size_t K = predictions.label_names.size();
  if (K < 2) return false;
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    const auto labels = std::span(predictions.labels).subspan(i * K, K);
    double sum = 0.0;
    for (const float p : std::span(predictions.probabilities).subspan(i * K, K)) {
      if (p < 0.0F) return false;
      sum += static_cast<double>(p);
    }
    if (std::ranges::count(labels, std::int8_t{1}) != 1 || std::abs(sum - 1.0) > kSumTolerance) return false;
  }
  return true;
}

void require_rows(const PredictionFile& file, const Truth& truth, std::string_view what) {
  const auto absent =
      std::ranges::count_if(file.images, [&](const auto& image) { return truth.find(image) == nullptr; });
  if (absent == 0) return;
  throw DataError(error_text("cli.labels", what, "every image in " + truth.what,
                             fmt::format("{} of {} images without a row there", absent, file.images.size()),
                             "the label table of these images, with the same image names"));
}

std::int8_t as_label(float value) { return std::isnan(value) ? eval::kUnknown : std::int8_t{value > 0.5F}; }

void add_facts(const data::Dataset& dataset, const data::Sample& sample, EvalSet& set) {
  const bool has_part = sample.part < dataset.parts.size();
  set.facts.push_back({.patient = sample.patient,
                       .study = sample.study,
                       .view = sample.view,
                       .sex = sample.sex,
                       .age_years = sample.age_years,
                       .source = has_part ? dataset.parts[sample.part].name : std::string()});
  if (sample.patient.empty()) ++set.unknown_patients;
}

std::unordered_set<std::string_view> known_patients(const EvalSet& set) {
  std::unordered_set<std::string_view> patients;
  for (const ImageFacts& row : set.facts) {
    if (!row.patient.empty()) patients.insert(row.patient);
  }
  return patients;
}

}  // namespace

EvalSet join(PredictionFile file, const Truth& truth, std::string_view what) {
  require_rows(file, truth, what);
  EvalSet set;
  eval::Predictions& predictions = set.predictions;
  std::unordered_map<std::string, std::int64_t> numbers;
  std::unordered_set<const data::Sample*> seen;
  std::vector<std::string> names;
  for (const std::string& image : file.images) {
    const data::Sample* sample = truth.find(image);
    if (!seen.insert(sample).second) {
      throw DataError(error_text("cli.labels", what, "each row of " + truth.what + " once",
                                 "two images whose names fit the same row", "full image names in the predictions"));
    }
    add_facts(truth.dataset, *sample, set);
    // An image of an unknown patient gets a patient of its own. The name is unique, because patient ids contain no
    // slash and no leading space.
    const std::string patient = sample->patient.empty() ? " /" + image : sample->patient;
    predictions.patients.push_back(numbers.try_emplace(patient, std::ssize(numbers)).first->second);
    std::ranges::transform(sample->labels, std::back_inserter(predictions.labels), as_label);
    names.push_back(sample->id);
  }
  set.list_sha256 = io::name_list_sha256(std::move(names));
  predictions.label_names = std::move(file.labels);
  predictions.image_ids = std::move(file.images);
  predictions.probabilities = std::move(file.probabilities);
  eval::check_predictions(predictions);
  if (is_exclusive(predictions)) predictions.outputs = eval::Outputs::Exclusive;
  return set;
}

EvalSet with_facts(eval::Predictions predictions, const data::Dataset& dataset,
                   const std::vector<std::uint32_t>& samples) {
  EvalSet set{.predictions = std::move(predictions)};
  set.list_sha256 = io::name_list_sha256(set.predictions.image_ids);
  for (const std::uint32_t index : samples) add_facts(dataset, dataset.samples[index], set);
  return set;
}

EvalSet by_study(const EvalSet& set, eval::Aggregate aggregate) {
  std::vector<std::string> studies;
  for (const ImageFacts& row : set.facts) studies.push_back(row.study);
  if (std::ranges::all_of(studies, &std::string::empty)) {
    throw DataError(error_text("cli.eval", "--by study", "labels that name the study of each image",
                               "no column study or Follow-up #, and no folders named study... or s<number>",
                               "leaving out --by study, or a table with a column study"));
  }
  EvalSet merged{.predictions = eval::merge_studies(set.predictions, studies, aggregate),
                 .facts = {},
                 .list_sha256 = set.list_sha256,
                 .unit = fmt::format("study, {}", eval::name_of(aggregate)),
                 .unknown_patients = set.unknown_patients};
  std::unordered_map<std::string_view, const ImageFacts*> first;
  for (const ImageFacts& row : set.facts) first.try_emplace(row.study, &row);
  for (const std::string& study : merged.predictions.image_ids) merged.facts.push_back(*first.at(study));
  return merged;
}

std::vector<std::string> attribute_values(const EvalSet& set, std::string_view attribute) {
  std::vector<std::string> values;
  for (const ImageFacts& row : set.facts) {
    if (attribute == "view") values.push_back(row.view);
    if (attribute == "sex") values.push_back(row.sex);
    if (attribute == "source") values.push_back(row.source);
    if (attribute == "age") values.push_back(eval::age_band(row.age_years));
  }
  RG_ASSERT(values.size() == set.facts.size());
  return values;
}

void check_apart(const EvalSet& validation, const EvalSet& test, eval::OnOverlap on_patients) {
  const std::unordered_set<std::string_view> images(test.predictions.image_ids.begin(),
                                                    test.predictions.image_ids.end());
  const auto shared = std::ranges::count_if(validation.predictions.image_ids,
                                            [&](const std::string& image) { return images.contains(image); });
  if (shared > 0) {
    throw DataError(error_text("cli.eval", "validation", "no image of the test set",
                               fmt::format("{} of {} images", shared, validation.predictions.image_ids.size()),
                               "predictions on the validation split"));
  }
  const auto tested = known_patients(test);
  const auto chosen = known_patients(validation);
  const auto patients =
      std::ranges::count_if(chosen, [&](std::string_view patient) { return tested.contains(patient); });
  if (patients == 0) return;
  const std::string text =
      error_text("cli.eval", "validation", "no patient of the test set",
                 fmt::format("{} of {}", patients, counted(std::ssize(chosen), "patient")),
                 "splitting the data by patient, or --allow-overlap to compute the metrics anyway");
  if (on_patients == eval::OnOverlap::Refuse) throw DataError(text);
  log::warning(text);
}

std::string unknown_patients_text(const EvalSet& set) {
  if (set.unknown_patients == 0) return {};
  return counted(set.unknown_patients, "image") + " of unknown patient: each counts as a patient of its own\n";
}

}  // namespace roentgen::score
