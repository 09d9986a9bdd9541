// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/stored_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "eval/subgroup.h"
#include "eval/table.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "score/eval_set.h"

namespace roentgen::score {
namespace {

// Tolerance for equal AUROCs. A single image that differs changes an AUROC by more, unless there are 1e9 pairs of
// images. Rounding is smaller, because files store all digits.
constexpr double kAurocTolerance = 1e-9;
constexpr std::string_view kStudyUnit = "study, ";

// Results of one finding. An undefined AUROC is NaN.
struct Figures {
  std::int64_t positives = 0;
  std::int64_t n = 0;
  double auroc = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] std::string text() const {
    return fmt::format("{} positive of {}, AUROC {}", positives, n,
                       std::isnan(auroc) ? "undefined" : fmt::format("{:.10g}", auroc));
  }
};

// Reads the results of a finding from an evaluation; a count is -1 if the evaluation does not contain it.
Figures stored_figures(const Value& row) {
  const auto count = [&row](std::string_view key) {
    const Value* value = row.find(key);
    return value != nullptr && value->is_number() ? static_cast<std::int64_t>(value->as_double()) : std::int64_t{-1};
  };
  Figures figures{.positives = count("positives"), .n = count("n")};
  const Value* auroc = row.find("auroc");
  if (auroc != nullptr && auroc->is_number()) figures.auroc = auroc->as_double();
  return figures;
}

bool are_equal(const Figures& a, const Figures& b) {
  if (a.positives != b.positives || a.n != b.n || std::isnan(a.auroc) != std::isnan(b.auroc)) return false;
  return std::isnan(a.auroc) || std::abs(a.auroc - b.auroc) <= kAurocTolerance;
}

}  // namespace

Value read_evaluation(const std::filesystem::path& path, const std::filesystem::path& checkpoint) {
  Value evaluation = io::read_json(path).or_throw<ConfigError>();
  const Value* stated = evaluation.is_table() ? evaluation.find_path("checkpoint.weights_sha256") : nullptr;
  std::error_code ignored;
  if (stated == nullptr || !stated->is_string() || !std::filesystem::is_regular_file(checkpoint, ignored)) {
    return evaluation;
  }
  const std::string own = io::tensors_sha256(checkpoint);
  if (stated->as_string() == own) return evaluation;
  throw ConfigError(error_text("cli.evaluation", path.string(),
                               fmt::format("an evaluation of {} (weights {})", checkpoint.string(), own.substr(0, 12)),
                               "an evaluation of other weights (" + stated->as_string().substr(0, 12) + ")",
                               "the JSON of roentgen eval --checkpoint " + shell_word(checkpoint.string())));
}

std::string evaluated_unit(const Value& evaluation) {
  const Value* unit = evaluation.find("unit");
  return unit != nullptr && unit->is_string() ? unit->as_string() : "image";
}

EvalSet in_unit_of(const Value& evaluation, EvalSet images) {
  const std::string unit = evaluated_unit(evaluation);
  if (!unit.starts_with(kStudyUnit)) return images;
  return by_study(images, eval::parse_aggregate(std::string_view(unit).substr(kStudyUnit.size())));
}

void check_figures(const EvalSet& set, std::string_view what, const Value& evaluation,
                   std::string_view evaluation_what) {
  const auto refuse = [&](const std::string& label, std::string_view expected, std::string_view got) {
    throw ConfigError(error_text("cli.evaluation", what, fmt::format("{} of {}: {}", label, evaluation_what, expected),
                                 got, "the predictions and labels of this evaluation"));
  };
  const Value& stored = *evaluation.find_path("auroc.labels");
  const eval::EvalTable table = eval::evaluate(set.predictions, {.replicates = 0});
  for (const eval::LabelResult& row : table.labels) {
    const Figures own{.positives = row.positives,
                      .n = row.n,
                      .auroc = row.auroc.value.value_or(std::numeric_limits<double>::quiet_NaN())};
    const Value* theirs = stored.find(row.label);
    if (theirs == nullptr) refuse(row.label, "no such finding", own.text());
    const Figures expected = stored_figures(*theirs);
    if (!are_equal(own, expected)) refuse(row.label, expected.text(), own.text());
  }
  for (const auto& [label, row] : stored.as_table()) {
    if (std::ranges::find(table.labels, label, &eval::LabelResult::label) != table.labels.end()) continue;
    refuse(label, stored_figures(row).text(), "no such finding");
  }
}

std::string input_text(const data::Preprocess& preprocess, std::string_view views) {
  return preprocess.text() + "; views " + std::string(views);
}

eval::OperatingPoints read_points(const std::filesystem::path& path, const PointsUse& use) {
  eval::OperatingPoints points = eval::points_from_value(io::read_json(path).or_throw<ConfigError>(), path.string());
  const auto differ = [](const std::string& left, const std::string& right) {
    return !left.empty() && !right.empty() && left != right;
  };
  if (differ(points.input, use.input)) {
    throw ConfigError(error_text("cli.points", path.string(), "thresholds chosen with the input \"" + use.input + "\"",
                                 "\"" + points.input + "\"",
                                 "saving thresholds with this checkpoint and the same --tta"));
  }
  if (differ(points.weights_sha256, use.weights_sha256)) {
    throw ConfigError(error_text("cli.points", path.string(),
                                 "thresholds for these weights (" + use.weights_sha256.substr(0, 12) + ")",
                                 "thresholds for other weights (" + points.weights_sha256.substr(0, 12) + ")",
                                 "saving thresholds with roentgen eval and this checkpoint"));
  }
  return points;
}

eval::OperatingPoints read_image_points(const std::filesystem::path& path, const PointsUse& use) {
  eval::OperatingPoints points = read_points(path, use);
  if (points.unit == "image") return points;
  throw ConfigError(error_text("cli.points", path.string(), "thresholds for one score per image",
                               "thresholds for one score per " + points.unit, "saving thresholds without --by study"));
}

}  // namespace roentgen::score
