// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the JSON of an earlier `roentgen eval`: its metrics, thresholds and temperature.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/value.h"
#include "data/transform/preprocess.h"
#include "eval/operating_points.h"

namespace roentgen::score {

struct EvalSet;

/// Checks that an evaluation of `roentgen eval --json` belongs to these weights; ConfigError otherwise. Compares
/// nothing where either hash is unknown, as for predictions of another program.
[[nodiscard]] Value read_evaluation(const std::filesystem::path& path, const std::filesystem::path& checkpoint);

/// Unit of an evaluation's rows, EvalSet::unit: "image", or "study, max".
[[nodiscard]] std::string evaluated_unit(const Value& evaluation);

/// The set with one row per row of the evaluation: merged by study if the evaluation is. DataError as by_study().
[[nodiscard]] EvalSet in_unit_of(const Value& evaluation, EvalSet images);

/// Recomputes positives, n and AUROC of every finding from predictions and truth. ConfigError that names the finding
/// and both values where one differs from the evaluation's.
/// @param set in the evaluation's unit
/// @param what, evaluation_what files of the predictions and of the evaluation, for the error
void check_figures(const EvalSet& set, std::string_view what, const Value& evaluation,
                   std::string_view evaluation_what);

/// Description of the network's input, for eval::OperatingPoints::input. `views` comes from data::test_views.
[[nodiscard]] std::string input_text(const data::Preprocess& preprocess, std::string_view views);

/// Model that operating points are applied to. Empty fields are unknown and not compared.
struct PointsUse {
  /// Value of input_text().
  std::string input{};
  /// Value of io::tensors_sha256().
  std::string weights_sha256{};
};

/// Reads the thresholds and temperature that `roentgen eval --save-points` wrote, for scores of images or of studies.
/// ConfigError when they were fitted on another input or other weights.
[[nodiscard]] eval::OperatingPoints read_points(const std::filesystem::path& path, const PointsUse& use);

/// Reads operating points for image scores; throws ConfigError for those of studies.
[[nodiscard]] eval::OperatingPoints read_image_points(const std::filesystem::path& path, const PointsUse& use);

}  // namespace roentgen::score
