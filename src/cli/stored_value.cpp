// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "cli/stored_value.h"

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::cli {

Value read_json(const std::filesystem::path& path) {
  return io::parse_json(io::read_text(path).or_throw<ConfigError>(), path.string()).or_throw<ConfigError>();
}

std::string input_text(const data::Preprocess& preprocess, std::string_view views) {
  return preprocess.text() + "; views " + std::string(views);
}

eval::OperatingPoints read_points(const std::filesystem::path& path, std::string_view input) {
  eval::OperatingPoints points = eval::points_from_value(read_json(path), path.string());
  if (points.input.empty() || input.empty() || points.input == input) return points;
  throw ConfigError(error_text("cli.points", path.string(), "points fitted on the input \"" + std::string(input) + "\"",
                               "\"" + points.input + "\"",
                               "points saved with this checkpoint's preprocessing and the same --tta"));
}

eval::OperatingPoints read_image_points(const std::filesystem::path& path, std::string_view input) {
  eval::OperatingPoints points = read_points(path, input);
  if (points.unit == "image") return points;
  throw ConfigError(error_text("cli.points", path.string(), "points for one score an image", "one a(n) " + points.unit,
                               "points saved without --by study"));
}

}  // namespace roentgen::cli
