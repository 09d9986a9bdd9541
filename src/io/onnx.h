// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes ONNX files (github.com/onnx/onnx: onnx.proto; operators as in docs/Operators.md).
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

/// Range of operator set versions for which write_onnx() knows the file version.
inline constexpr int kOnnxLeastOpset = 13;
inline constexpr int kOnnxMostOpset = 17;

/// Value of an attribute: int, ints or float.
using OnnxAttribute = std::variant<std::int64_t, std::vector<std::int64_t>, float>;

/// One operator of the graph.
struct OnnxNode {
  /// Operator type, such as "Conv".
  std::string op;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, OnnxAttribute>> attributes;
};

/// A float32 constant in row-major order.
struct OnnxTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

/// A float32 input or output. A dimension is a number, or free if `symbols` names it.
struct OnnxValue {
  std::string name;
  Shape shape;
  /// Names of free dimensions by index, such as {{0, "N"}}.
  std::map<std::size_t, std::string> symbols;
};

/// A complete model.
struct OnnxModel {
  std::string name;
  /// Description for human readers.
  std::string doc;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::map<std::string, std::string> metadata;
};

/// Writes the file atomically. Throws ConfigError if opset is out of range or the model exceeds the format's limit of 2
/// GiB. Also throws it if a tensor's values do not match its shape. Throws DataError if the disk is full.
void write_onnx(const std::filesystem::path& path, const OnnxModel& model, int opset);

}  // namespace roentgen::io
