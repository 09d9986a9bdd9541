// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "cli/stored_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/foreign_text.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/sha256.h"

namespace roentgen::cli {

Value read_json(const std::filesystem::path& path) {
  return io::parse_json(io::read_text(path).or_throw<ConfigError>(), path.string()).or_throw<ConfigError>();
}

std::string weights_sha256(const std::filesystem::path& checkpoint) {
  const io::SafetensorsReader reader = io::SafetensorsReader::open(checkpoint).or_throw();
  std::vector<io::TensorInfo> tensors = reader.tensors();
  std::ranges::sort(tensors, {}, &io::TensorInfo::name);
  std::string text;
  for (const io::TensorInfo& tensor : tensors) {
    text += tensor.name + "\n" + io::sha256_hex(reader.bytes(tensor)) + "\n";
  }
  static_cast<void>(reader.check().or_throw());
  return io::sha256_hex(text);
}

Value read_evaluation(const std::filesystem::path& path, const std::filesystem::path& checkpoint) {
  Value evaluation = read_json(path);
  const Value* stated = evaluation.is_table() ? evaluation.find_path("checkpoint.weights_sha256") : nullptr;
  std::error_code ignored;
  if (stated == nullptr || !stated->is_string() || !std::filesystem::is_regular_file(checkpoint, ignored)) {
    return evaluation;
  }
  const std::string own = weights_sha256(checkpoint);
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
  eval::OperatingPoints points = eval::points_from_value(read_json(path), path.string());
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

}  // namespace roentgen::cli
