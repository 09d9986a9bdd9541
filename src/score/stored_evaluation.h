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

/// Reads an evaluation written by `roentgen eval --json`. Throws ConfigError if it belongs to other weights than those
/// of the checkpoint. Accepts an evaluation without hash of the weights, as of predictions of another program.
[[nodiscard]] Value read_evaluation(const std::filesystem::path& path, const std::filesystem::path& checkpoint);

/// Returns the unit of an evaluation's rows (EvalSet::unit): "image", or "study, max".
[[nodiscard]] std::string evaluated_unit(const Value& evaluation);

/// Returns `images`, merged by study if the evaluation is by study. Throws DataError as by_study() does.
[[nodiscard]] EvalSet in_unit_of(const Value& evaluation, EvalSet images);

/// Recomputes positives, n and AUROC of every finding from predictions and truth. If a value differs from the
/// evaluation, throws ConfigError naming the finding and the two values.
/// @param set predictions and truth, in the unit of the evaluation
/// @param what, evaluation_what file names of the predictions and of the evaluation, for the error
void check_figures(const EvalSet& set, std::string_view what, const Value& evaluation,
                   std::string_view evaluation_what);

/// Describes the network's input, for eval::OperatingPoints::input. `views` comes from data::test_views.
[[nodiscard]] std::string input_text(const data::Preprocess& preprocess, std::string_view views);

/// Properties of the model to which thresholds and temperature are applied. Empty fields are unknown and not checked.
struct PointsUse {
  /// Result of input_text().
  std::string input{};
  /// Result of io::tensors_sha256().
  std::string weights_sha256{};
};

/// Reads the thresholds and temperature that `roentgen eval --save-points` wrote, for scores of images or of studies.
/// Throws ConfigError if they were fitted on another input or other weights.
[[nodiscard]] eval::OperatingPoints read_points(const std::filesystem::path& path, const PointsUse& use);

/// Calls read_points() for scores of images. Throws ConfigError if the thresholds were chosen for scores of studies.
[[nodiscard]] eval::OperatingPoints read_image_points(const std::filesystem::path& path, const PointsUse& use);

}  // namespace roentgen::score
