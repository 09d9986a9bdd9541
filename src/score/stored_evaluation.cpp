// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/stored_evaluation.h"

#include <fmt/format.h>

#include <system_error>

#include "core/error.h"
#include "core/foreign_text.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace roentgen::score {

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
                               fmt::format("figures of {} (weights {})", checkpoint.string(), own.substr(0, 12)),
                               "those of other weights (" + stated->as_string().substr(0, 12) + ")",
                               "the JSON of roentgen eval --checkpoint " + shell_word(checkpoint.string())));
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
    throw ConfigError(error_text("cli.points", path.string(), "points fitted on the input \"" + use.input + "\"",
                                 "\"" + points.input + "\"",
                                 "points saved with this checkpoint's preprocessing and the same --tta"));
  }
  if (differ(points.weights_sha256, use.weights_sha256)) {
    throw ConfigError(error_text("cli.points", path.string(),
                                 "points of these weights (" + use.weights_sha256.substr(0, 12) + ")",
                                 "those of other weights (" + points.weights_sha256.substr(0, 12) + ")",
                                 "points saved by roentgen eval with this checkpoint"));
  }
  return points;
}

eval::OperatingPoints read_image_points(const std::filesystem::path& path, const PointsUse& use) {
  eval::OperatingPoints points = read_points(path, use);
  if (points.unit == "image") return points;
  throw ConfigError(error_text("cli.points", path.string(), "points for one score an image", "one a(n) " + points.unit,
                               "points saved without --by study"));
}

}  // namespace roentgen::score
