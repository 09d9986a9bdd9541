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

eval::OperatingPoints read_points(const std::filesystem::path& path) {
  return eval::points_from_value(read_json(path), path.string());
}

eval::OperatingPoints read_image_points(const std::filesystem::path& path) {
  eval::OperatingPoints points = read_points(path);
  if (points.unit == "image") return points;
  throw ConfigError(error_text("cli.points", path.string(), "points for one score an image", "one a(n) " + points.unit,
                               "points saved without --by study"));
}

}  // namespace roentgen::cli
