// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Field numbers are those in onnx.proto.
#include "io/onnx.h"

#include <cstddef>
#include <span>

#include "core/error.h"
#include "io/environment.h"
#include "io/file.h"
#include "io/protobuf.h"

namespace roentgen::io {
namespace {
constexpr std::int64_t kFloat = 1;  // value of TensorProto.DataType
constexpr std::size_t kMostBytes = (std::size_t{1} << 31) - 1;

// Oldest ONNX file version that supports the operator set.
std::int64_t file_version(int opset) { return opset <= 14 ? 7 : 8; }

ProtobufWriter attribute(const std::string& name, const OnnxAttribute& value) {
  constexpr int kName = 1, kFloatValue = 2, kInt = 3, kInts = 8, kType = 20;
  constexpr std::int64_t kTypeFloat = 1, kTypeInt = 2, kTypeInts = 7;
  ProtobufWriter to;
  to.text(kName, name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    to.integer(kInt, *integer);
    to.integer(kType, kTypeInt);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    to.integers(kInts, *integers);
    to.integer(kType, kTypeInts);
  } else {
    to.number(kFloatValue, std::get<float>(value));
    to.integer(kType, kTypeFloat);
  }
  return to;
}

ProtobufWriter node(const OnnxNode& from) {
  constexpr int kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5;
  ProtobufWriter to;
  for (const std::string& input : from.inputs) to.text(kInput, input);
  for (const std::string& output : from.outputs) to.text(kOutput, output);
  to.text(kName, from.name);
  to.text(kOpType, from.op);
  for (const auto& [name, value] : from.attributes) to.message(kAttribute, attribute(name, value));
  return to;
}

ProtobufWriter tensor(const OnnxTensor& from) {
  constexpr int kDims = 1, kDataType = 2, kName = 8, kRawData = 9;
  if (static_cast<std::int64_t>(from.values.size()) != from.shape.elements()) {
    throw ConfigError(error_text("io.onnx", from.name, "as many values as the shape " + from.shape.text() + " has",
                                 std::to_string(from.values.size()) + " values"));
  }
  ProtobufWriter to;
  to.integers(kDims, from.shape.dims());
  to.integer(kDataType, kFloat);
  to.text(kName, from.name);
  to.bytes(kRawData, std::as_bytes(std::span(from.values)));
  return to;
}

ProtobufWriter value(const OnnxValue& from) {
  ProtobufWriter dims;
  for (std::size_t i = 0; i < from.shape.dims().size(); ++i) {
    constexpr int kDim = 1, kDimValue = 1, kDimName = 2;
    ProtobufWriter dim;
    const auto symbol = from.symbols.find(i);
    if (symbol != from.symbols.end()) {
      dim.text(kDimName, symbol->second);
    } else {
      dim.integer(kDimValue, from.shape.dims()[i]);
    }
    dims.message(kDim, dim);
  }
  constexpr int kElementType = 1, kShape = 2, kTensorType = 1, kName = 1, kType = 2;
  ProtobufWriter tensor_type;
  tensor_type.integer(kElementType, kFloat);
  tensor_type.message(kShape, dims);
  ProtobufWriter type;
  type.message(kTensorType, tensor_type);
  ProtobufWriter to;
  to.text(kName, from.name);
  to.message(kType, type);
  return to;
}

ProtobufWriter graph(const OnnxModel& from) {
  constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
  ProtobufWriter to;
  for (const OnnxNode& each : from.nodes) to.message(kNode, node(each));
  to.text(kName, from.name);
  for (const OnnxTensor& each : from.initializers) to.message(kInitializer, tensor(each));
  for (const OnnxValue& each : from.inputs) to.message(kInput, value(each));
  for (const OnnxValue& each : from.outputs) to.message(kOutput, value(each));
  return to;
}
}  // namespace

void write_onnx(const std::filesystem::path& path, const OnnxModel& model, int opset) {
  constexpr int kIrVersion = 1, kProducer = 2, kProducerVersion = 3, kDoc = 6, kGraph = 7, kOpset = 8, kMetadata = 14;
  if (opset < kOnnxLeastOpset || opset > kOnnxMostOpset) {
    throw ConfigError(
        error_text("io.onnx", "ONNX operator set (opset)", "13 to 17", std::to_string(opset), "--opset 17"));
  }
  ProtobufWriter to;
  to.integer(kIrVersion, file_version(opset));
  to.text(kProducer, "roentgen");
  to.text(kProducerVersion, program_version());
  to.text(kDoc, model.doc);
  to.message(kGraph, graph(model));
  ProtobufWriter operators;
  operators.integer(2, opset);
  to.message(kOpset, operators);
  for (const auto& [key, text] : model.metadata) {
    ProtobufWriter entry;
    entry.text(1, key);
    entry.text(2, text);
    to.message(kMetadata, entry);
  }
  if (to.data().size() > kMostBytes) {
    throw ConfigError(error_text("io.onnx", path.string(), "at most 2147483647 bytes, the format's limit",
                                 std::to_string(to.data().size()), "--to safetensors"));
  }
  write_file_atomically(path, to.data());
}

}  // namespace roentgen::io
