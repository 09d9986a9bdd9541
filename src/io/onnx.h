// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes ONNX files (github.com/onnx/onnx: onnx.proto; operators by docs/Operators.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/shape.h"

namespace roentgen::io {

/// Versions of the operator set for which write_onnx() knows the file version.
inline constexpr int kOnnxLeastOpset = 13;
inline constexpr int kOnnxMostOpset = 17;

/// int, ints or float attribute.
using OnnxAttribute = std::variant<std::int64_t, std::vector<std::int64_t>, float>;

/// One operator application.
struct OnnxNode {
  /// "Conv".
  std::string op;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, OnnxAttribute>> attributes;
};

/// A float32 constant, row-major.
struct OnnxTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

/// A float32 input or output; a dimension is a number or, where `symbols` names one, free.
struct OnnxValue {
  std::string name;
  Shape shape;
  /// Dimension -> name: {{0, "N"}}.
  std::map<std::size_t, std::string> symbols;
};

/// A whole model.
struct OnnxModel {
  std::string name;
  /// Description for people.
  std::string doc;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::map<std::string, std::string> metadata;
};

/// Writes the file atomically. Throws ConfigError for an opset out of range and a model over the format's limit of 2
/// GiB. Throws ConfigError for a tensor whose values do not fit its shape, and DataError on a full disk.
void write_onnx(const std::filesystem::path& path, const OnnxModel& model, int opset);

}  // namespace roentgen::io
