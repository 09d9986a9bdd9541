// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "publish/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "core/error.h"
#include "graph/inference.h"

namespace roentgen::publish {
namespace {
using Ints = std::vector<std::int64_t>;
using Attributes = std::vector<std::pair<std::string, io::OnnxAttribute>>;

constexpr double kWhite = 255.0;

Ints pair_of(const graph::Extent& extent) { return {extent.height, extent.width}; }

// Returns the padding at the end, up to the end of the last window. It replaces a rounding mode, so that every program
// infers the same output size. Padding counts as zeros; max pooling ignores it.
std::int64_t pad_after(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                       std::int64_t dilation) {
  return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad);
}

Ints pads_of(const Shape& in, const Shape& out, const graph::Extent& kernel, const graph::Extent& stride,
             const graph::Extent& pad, const graph::Extent& dilation = {1, 1}) {
  return {pad.height, pad.width, pad_after(in[2], out[2], kernel.height, stride.height, pad.height, dilation.height),
          pad_after(in[3], out[3], kernel.width, stride.width, pad.width, dilation.width)};
}

class Translator {
 public:
  Translator(const graph::Graph& graph, const std::vector<train::NamedTensor>& weights, const OnnxOptions& options)
      : graph_(graph), options_(options), consumers_(graph.consumers()) {
    for (const train::NamedTensor& tensor : weights) weights_.emplace(tensor.name, &tensor);
    values_.resize(graph.nodes().size());
  }

  io::OnnxModel run() {
    model_.name = graph_.name();
    model_.metadata = options_.metadata;
    const graph::NodeId image = graph_.find("image");
    const graph::NodeId logits = graph_.output("logits");
    if (image < 0 || logits < 0) {
      throw ConfigError(error_text("publish.onnx", graph_.name(), "an input named image and an output named logits",
                                   "a graph without them", "a network of roentgen train"));
    }
    normalise(image);
    const std::vector<bool> is_needed = graph::needed_in_inference(graph_);
    for (graph::NodeId id = 0; id < static_cast<graph::NodeId>(graph_.nodes().size()); ++id) {
      const auto place = static_cast<std::size_t>(id);
      if (!values_[place].empty() || !is_needed[place]) continue;
      std::visit([&](const auto& op) { emit(op, id); }, graph_.node(id).op);
    }
    finish(logits);
    return std::move(model_);
  }

 private:
  // Adds nodes that convert raw gray levels to the network's input: (v / 255 - mean) / stddev for each channel.
  void normalise(graph::NodeId image) {
    const Shape& shape = graph_.node(image).shape;
    const std::int64_t C = shape[1];
    const data::Preprocess& preprocess = options_.preprocess;
    if (C != preprocess.channels || static_cast<std::int64_t>(preprocess.mean.size()) != C) {
      throw ConfigError(error_text("publish.onnx", "preprocess.channels", std::to_string(C),
                                   std::to_string(preprocess.channels), "an unchanged checkpoint of roentgen train"));
    }
    std::vector<float> scale, shift;
    for (std::size_t c = 0; c < static_cast<std::size_t>(C); ++c) {
      scale.push_back(static_cast<float>(1.0 / (kWhite * preprocess.stddev[c])));
      shift.push_back(static_cast<float>(-preprocess.mean[c] / preprocess.stddev[c]));
    }
    model_.inputs.push_back({.name = "image", .shape = {1, 1, shape[2], shape[3]}, .symbols = {{0, "N"}}});
    constant("normalise.scale", {1, C, 1, 1}, std::move(scale));
    constant("normalise.shift", {1, C, 1, 1}, std::move(shift));
    node("Mul", "normalise.mul", {"image", "normalise.scale"}, "normalise.scaled");
    node("Add", "normalise.add", {"normalise.scaled", "normalise.shift"}, "normalise.image");
    values_[static_cast<std::size_t>(image)] = "normalise.image";
  }

  void finish(graph::NodeId logits) {
    const std::int64_t K = graph_.node(logits).shape[1];
    std::string scaled = value(logits);
    node("Identity", "logits", {scaled}, "logits");
    if (options_.temperature != 1.0) {
      constant("temperature", {1}, {static_cast<float>(options_.temperature)});
      node("Div", "logits.scaled", {"logits", "temperature"}, "logits.scaled");
      scaled = "logits.scaled";
    }
    if (options_.loss == "softmax") {
      node("Softmax", "probabilities", {scaled}, "probabilities", {{"axis", std::int64_t{1}}});
    } else {
      node("Sigmoid", "probabilities", {scaled}, "probabilities");
    }
    for (const char* name : {"probabilities", "logits"}) {
      model_.outputs.push_back({.name = name, .shape = {1, K}, .symbols = {{0, "N"}}});
    }
  }

  void emit(const graph::Input&, graph::NodeId id) const {
    throw ConfigError(error_text("publish.onnx", graph_.node(id).name, "only one input, named image", "a second input",
                                 "a graph without a loss"));
  }
  void emit(const graph::Conv2d& op, graph::NodeId id) {
    const graph::Node& from = graph_.node(id);
    const Attributes attributes{
        {"kernel_shape", pair_of(op.kernel)},
        {"strides", pair_of(op.stride)},
        {"pads", pads_of(input_shape(id), from.shape, op.kernel, op.stride, op.pad, op.dilation)},
        {"dilations", pair_of(op.dilation)},
        {"group", op.groups}};
    const graph::NodeId norm = options_.is_folding_batch_norm ? foldable_norm(id) : -1;
    if (norm >= 0) {
      fold(op, id, norm);
      node("Conv", from.name, {input(id), from.name + ".weight", from.name + ".bias"}, "v:" + from.name, attributes);
      values_[static_cast<std::size_t>(id)] = "v:" + from.name;
      after_norm(std::get<graph::BatchNorm>(graph_.node(norm).op), norm, "v:" + from.name);
      return;
    }
    std::vector<std::string> inputs{input(id), parameter(id, "weight")};
    if (op.bias) inputs.push_back(parameter(id, "bias"));
    emit_node("Conv", id, inputs, attributes);
  }
  void emit(const graph::BatchNorm& op, graph::NodeId id) {
    const std::string& name = graph_.node(id).name;
    node("BatchNormalization", name,
         {input(id), parameter(id, "weight"), parameter(id, "bias"), parameter(id, "running_mean"),
          parameter(id, "running_var")},
         "n:" + name, {{"epsilon", static_cast<float>(op.epsilon)}});
    after_norm(op, id, "n:" + name);
  }
  void emit(const graph::Relu&, graph::NodeId id) { emit_node("Relu", id, {input(id)}); }
  void emit(const graph::Sigmoid&, graph::NodeId id) { emit_node("Sigmoid", id, {input(id)}); }
  void emit(const graph::Silu&, graph::NodeId id) {
    const std::string sigmoid = "s:" + graph_.node(id).name;
    node("Sigmoid", graph_.node(id).name + ".sigmoid", {input(id)}, sigmoid);
    emit_node("Mul", id, {input(id), sigmoid});
  }
  void emit(const graph::MaxPool& op, graph::NodeId id) {
    emit_node("MaxPool", id, {input(id)},
              {{"kernel_shape", pair_of(op.kernel)},
               {"strides", pair_of(op.stride)},
               {"pads", pads_of(input_shape(id), graph_.node(id).shape, op.kernel, op.stride, op.pad)}});
  }
  void emit(const graph::AvgPool& op, graph::NodeId id) {
    emit_node("AveragePool", id, {input(id)},
              {{"kernel_shape", pair_of(op.kernel)},
               {"strides", pair_of(op.stride)},
               {"pads", pads_of(input_shape(id), graph_.node(id).shape, op.kernel, op.stride, op.pad)},
               {"count_include_pad", std::int64_t{op.count_pad ? 1 : 0}}});
  }
  void emit(const graph::GlobalAvgPool&, graph::NodeId id) { emit_node("GlobalAveragePool", id, {input(id)}); }
  // Writes adaptive pooling as two matrix products, the mean over rows and then over columns. ONNX has no operator for
  // adaptive pooling with overlapping regions.
  void emit(const graph::AdaptiveAvgPool& op, graph::NodeId id) {
    const Shape& src = input_shape(id);
    if (src == graph_.node(id).shape) {
      values_[static_cast<std::size_t>(id)] = input(id);
      return;
    }
    const std::string& name = graph_.node(id).name;
    const std::int64_t H = src[2], W = src[3];
    std::vector<float> rows(static_cast<std::size_t>(op.out.height * H));
    std::vector<float> columns(static_cast<std::size_t>(W * op.out.width));
    for (std::int64_t oh = 0; oh < op.out.height; ++oh) {
      const graph::Region r = graph::region(oh, op.out.height, H);
      for (std::int64_t h = r.begin; h < r.end; ++h) {
        rows[static_cast<std::size_t>(oh * H + h)] = 1.0F / static_cast<float>(r.end - r.begin);
      }
    }
    for (std::int64_t ow = 0; ow < op.out.width; ++ow) {
      const graph::Region r = graph::region(ow, op.out.width, W);
      for (std::int64_t w = r.begin; w < r.end; ++w) {
        columns[static_cast<std::size_t>(w * op.out.width + ow)] = 1.0F / static_cast<float>(r.end - r.begin);
      }
    }
    constant(name + ".rows", {1, 1, op.out.height, H}, std::move(rows));
    constant(name + ".columns", {1, 1, W, op.out.width}, std::move(columns));
    node("MatMul", name + ".over_rows", {name + ".rows", input(id)}, "m:" + name);
    emit_node("MatMul", id, {"m:" + name, name + ".columns"});
  }
  void emit(const graph::Auxiliary&, graph::NodeId id) { values_[static_cast<std::size_t>(id)] = input(id); }
  void emit(const graph::Flatten&, graph::NodeId id) {
    emit_node("Flatten", id, {input(id)}, {{"axis", std::int64_t{1}}});
  }
  void emit(const graph::Linear& op, graph::NodeId id) {
    std::vector<std::string> inputs{input(id), parameter(id, "weight")};
    if (op.bias) inputs.push_back(parameter(id, "bias"));
    emit_node("Gemm", id, inputs, {{"transB", std::int64_t{1}}});
  }
  void emit(const graph::Add&, graph::NodeId id) { emit_node("Add", id, {input(id, 0), input(id, 1)}); }
  void emit(const graph::Concat&, graph::NodeId id) {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < graph_.node(id).inputs.size(); ++i) inputs.push_back(input(id, i));
    emit_node("Concat", id, inputs, {{"axis", std::int64_t{1}}});
  }
  // Dropout does nothing in inference, so its output is its input.
  void emit(const graph::Dropout&, graph::NodeId id) { values_[static_cast<std::size_t>(id)] = input(id); }
  template <typename Loss>
  void emit(const Loss&, graph::NodeId id) {
    throw ConfigError(error_text("publish.onnx", graph_.node(id).name, "an operator for inference",
                                 std::string(graph::op_name(graph_.node(id).op)), "a graph without a loss"));
  }

  // Adds the operators that the graph fuses into a batch norm: addition of a second input, then ReLU.
  void after_norm(const graph::BatchNorm& op, graph::NodeId id, std::string result) {
    const graph::Node& from = graph_.node(id);
    if (from.inputs.size() == 2) {
      node("Add", from.name + ".add", {result, input(id, 1)}, "a:" + from.name);
      result = "a:" + from.name;
    }
    if (op.relu) {
      node("Relu", from.name + ".relu", {result}, "r:" + from.name);
      result = "r:" + from.name;
    }
    values_[static_cast<std::size_t>(id)] = result;
  }

  // Returns the batch norm that can be folded into a convolution, or -1. It must be the only reader of the convolution,
  // and its second input (if any) must already be computed.
  [[nodiscard]] graph::NodeId foldable_norm(graph::NodeId convolution) const {
    const std::vector<graph::NodeId>& readers = consumers_[static_cast<std::size_t>(convolution)];
    if (readers.size() != 1 || graph_.output("logits") == convolution) return -1;
    const graph::Node& reader = graph_.node(readers[0]);
    const bool is_norm = std::holds_alternative<graph::BatchNorm>(reader.op) && reader.inputs[0] == convolution;
    if (!is_norm || (reader.inputs.size() == 2 && reader.inputs[1] > convolution)) return -1;
    return readers[0];
  }
  // Folds a batch norm into a convolution: w' = w gamma / sd, b' = beta + (b - mean) gamma / sd, in double.
  void fold(const graph::Conv2d& op, graph::NodeId convolution, graph::NodeId norm) {
    const std::string& name = graph_.node(convolution).name;
    const train::NamedTensor& weight = tensor(convolution, "weight");
    const auto OC = static_cast<std::size_t>(op.out_channels);
    std::vector<float> folded(weight.values.size()), bias(OC);
    const std::size_t taps = weight.values.size() / OC;
    const double epsilon = std::get<graph::BatchNorm>(graph_.node(norm).op).epsilon;
    for (std::size_t o = 0; o < OC; ++o) {
      const auto of = [o](const train::NamedTensor& values) { return static_cast<double>(values.values[o]); };
      const double factor = of(tensor(norm, "weight")) / std::sqrt(of(tensor(norm, "running_var")) + epsilon);
      const double own = op.bias ? of(tensor(convolution, "bias")) : 0.0;
      bias[o] = static_cast<float>(of(tensor(norm, "bias")) + (own - of(tensor(norm, "running_mean"))) * factor);
      for (std::size_t i = o * taps; i < (o + 1) * taps; ++i) {
        folded[i] = static_cast<float>(static_cast<double>(weight.values[i]) * factor);
      }
    }
    constant(name + ".weight", weight.shape, std::move(folded));
    constant(name + ".bias", {op.out_channels}, std::move(bias));
  }

  // Returns the weights of a parameter. Throws ConfigError if their shape does not match the graph.
  [[nodiscard]] const train::NamedTensor& tensor(graph::NodeId id, const std::string& parameter) const {
    const std::string name = graph_.node(id).name + "." + parameter;
    for (const std::int32_t index : graph_.node(id).parameters) {
      const graph::Parameter& wanted = graph_.parameter(index);
      if (wanted.name != name) continue;
      const auto found = weights_.find(name);
      if (found == weights_.end() || found->second->shape != wanted.shape) {
        throw ConfigError(error_text("publish.onnx", name, "a tensor of " + wanted.shape.text(),
                                     found == weights_.end() ? "no such tensor" : found->second->shape.text(),
                                     "the weights of this network"));
      }
      return *found->second;
    }
    throw ConfigError(error_text("publish.onnx", name, "a parameter of this layer", "no such parameter",
                                 "a graph written by roentgen"));
  }
  std::string parameter(graph::NodeId id, const std::string& name) {
    const train::NamedTensor& from = tensor(id, name);
    constant(from.name, from.shape, from.values);
    return from.name;
  }
  void constant(std::string name, Shape shape, std::vector<float> values) {
    model_.initializers.push_back({std::move(name), std::move(shape), std::move(values)});
  }

  [[nodiscard]] const std::string& value(graph::NodeId id) const { return values_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const std::string& input(graph::NodeId id, std::size_t which = 0) const {
    return value(graph_.node(id).inputs.at(which));
  }
  [[nodiscard]] const Shape& input_shape(graph::NodeId id) const {
    return graph_.node(graph_.node(id).inputs.at(0)).shape;
  }
  void node(std::string op, std::string name, std::vector<std::string> inputs, std::string output,
            Attributes attributes = {}) {
    model_.nodes.push_back({.op = std::move(op),
                            .name = std::move(name),
                            .inputs = std::move(inputs),
                            .outputs = {std::move(output)},
                            .attributes = std::move(attributes)});
  }
  // Adds an ONNX node that computes the value of a graph node.
  void emit_node(std::string op, graph::NodeId id, std::vector<std::string> inputs, Attributes attributes = {}) {
    const std::string& name = graph_.node(id).name;
    values_[static_cast<std::size_t>(id)] = "v:" + name;
    node(std::move(op), name, std::move(inputs), "v:" + name, std::move(attributes));
  }

  const graph::Graph& graph_;
  const OnnxOptions& options_;
  std::vector<std::vector<graph::NodeId>> consumers_;
  std::map<std::string, const train::NamedTensor*> weights_;
  std::vector<std::string> values_;
  io::OnnxModel model_;
};
}  // namespace

io::OnnxModel to_onnx(const graph::Graph& graph, const std::vector<train::NamedTensor>& weights,
                      const OnnxOptions& options) {
  return Translator(graph, weights, options).run();
}

}  // namespace roentgen::publish
