// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/conv/conv_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "engine/cuda/elementwise/flat.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine::cuda {
namespace {

class ChannelsLastWeights final : public ParameterLayout {
 public:
  explicit ChannelsLastWeights(const WeightShape& shape) : shape_(shape) {}
  [[nodiscard]] std::int64_t elements() const override { return shape_.stored(); }
  [[nodiscard]] std::string name() const override {
    return fmt::format("ohwi{}x{}x{}", shape_.padded_out_channels, shape_.taps, shape_.padded_channels);
  }
  void to_kernel(std::span<const float> plain, std::span<float> kernel) const override {
    std::ranges::fill(kernel, 0.0F);
    for_all([&](std::size_t from, std::size_t to) { kernel[to] = plain[from]; });
  }
  void to_plain(std::span<const float> kernel, std::span<float> plain) const override {
    for_all([&](std::size_t from, std::size_t to) { plain[from] = kernel[to]; });
  }

 private:
  // Calls body(plain index, kernel index) for every weight.
  template <typename Body>
  void for_all(const Body& body) const {
    const auto& [out_channels, channels, taps, padded_out_channels, padded_channels] = shape_;
    for (std::int64_t oc = 0; oc < out_channels; ++oc) {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          body(static_cast<std::size_t>((oc * channels + c) * taps + tap),
               static_cast<std::size_t>((oc * taps + tap) * padded_channels + c));
        }
      }
    }
  }
  WeightShape shape_;
};

Pass pass_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::Forward:
      return Pass::Forward;
    case ConvPass::DataGradient:
      return Pass::BackwardData;
    default:
      return Pass::BackwardWeights;
  }
}

// Matrix whose rows are the pixels of all images.
Matrix matrix_of(const Located& located, std::byte* address) {
  return {.values = {located.layout.dtype, address},
          .rows = located.shape[0] * pixels(located.shape),
          .channels = padded_channels(located.shape, located.layout)};
}

}  // namespace

std::unique_ptr<ParameterLayout> weights_layout(const WeightShape& shape) {
  return std::make_unique<ChannelsLastWeights>(shape);
}

void emit_pass(const graph::Node& node, const std::string& op, const ConvProblem& problem, const PassTensors& tensors,
               Lowering& lowering) {
  std::unique_ptr<ConvPlan> plan = lowering.conv_plan(node, problem);
  const Pass pass = pass_of(problem.pass);
  const std::string what(name_of(pass));
  Emission emission{.what = what,
                    .kind = op + "_" + what,
                    .pass = pass,
                    .reads = {},
                    .writes = {},
                    .implementation = plan->name(),
                    .flops = static_cast<std::int64_t>(problem.flops())};
  const TensorId result = problem.pass == ConvPass::Forward        ? tensors.dst
                          : problem.pass == ConvPass::DataGradient ? tensors.src
                                                                   : tensors.weights;
  for (const TensorId tensor : {tensors.src, tensors.weights, tensors.dst}) {
    (tensor == result ? emission.writes : emission.reads).push_back(tensor);
  }
  TensorId workspace = -1;
  if (plan->workspace_bytes() > 0) {
    workspace = lowering.scratch(node.name + "/workspace", plan->workspace_bytes());
    emission.writes.push_back(workspace);
  }
  lowering.emit(node, std::move(emission),
                make_kernel([=, stream = lowering.stream(), plan = std::move(plan)](const Addresses& at) {
                  const ConvOperands operands{.src = at.bytes(tensors.src),
                                              .weights = at.bytes(tensors.weights),
                                              .dst = at.bytes(tensors.dst),
                                              .workspace = workspace >= 0 ? at.bytes(workspace) : nullptr};
                  return [=, plan = plan.get()] { plan->run(*stream, operands); };
                }));
}

void emit_weight_gradient(const graph::Node& node, const std::string& op, const ConvProblem& problem,
                          const WeightShape& shape, PassTensors tensors, Lowering& lowering) {
  const TensorId gradient = lowering.parameter_gradient(node, "weight");
  if (lowering.dtype() == DType::F32) {
    tensors.weights = gradient;
    emit_pass(node, op, problem, tensors, lowering);
    return;
  }
  const std::int64_t count = shape.stored();
  const DType type = lowering.dtype();
  const Located narrow = lowering.tensor("d:" + node.name + ".weight/narrow", {1, count, 1, 1}, Layout{.dtype = type});
  tensors.weights = narrow.tensor;
  emit_pass(node, op, problem, tensors, lowering);
  lowering.emit(node,
                {.what = "weight_gradient",
                 .kind = "weight_gradient",
                 .pass = Pass::BackwardWeights,
                 .reads = {narrow.tensor},
                 .writes = {gradient},
                 .implementation = "convert"},
                make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  return [=, from = at.bytes(narrow.tensor), to = at.bytes(gradient)] {
                    convert(*stream, {type, from}, {DType::F32, to}, count);
                  };
                }));
}

bool acts_with_bias(graph::NodeId relu, const Lowering& lowering) {
  if (!std::holds_alternative<graph::Relu>(lowering.node(relu).op)) return false;
  const graph::NodeId layer = lowering.node(relu).inputs[0];
  const auto* conv = std::get_if<graph::Conv2d>(&lowering.node(layer).op);
  const auto* linear = std::get_if<graph::Linear>(&lowering.node(layer).op);
  const bool has_bias = (conv != nullptr && conv->bias) || (linear != nullptr && linear->bias);
  return has_bias && lowering.readers(layer).size() == 1 && !graph::is_output(lowering.graph(), layer);
}

bool sums_bias_gradient(graph::NodeId relu, const Lowering& lowering) {
  if (!acts_with_bias(relu, lowering)) return false;
  const auto* conv = std::get_if<graph::Conv2d>(&lowering.node(lowering.node(relu).inputs[0]).op);
  return conv != nullptr && (conv->groups == 1 || conv->out_channels % kChannelBlock == 0);
}

void emit_bias(graph::NodeId id, const Located& dst, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const std::vector<graph::NodeId>& readers = lowering.readers(id);
  const bool relu = !readers.empty() && acts_with_bias(readers[0], lowering);
  lowering.parameter_layout(node, "bias") = padded_vector(dst.shape[1], padded_channels(dst.shape, dst.layout));
  const TensorId bias = lowering.parameter(node, "bias");
  lowering.emit(node,
                {.what = "bias",
                 .kind = "bias",
                 .reads = {dst.tensor, bias},
                 .writes = {dst.tensor},
                 .implementation = relu ? "flat+relu" : "flat"},
                make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  return [=, matrix = matrix_of(dst, at.bytes(dst.tensor)), values = at.f32(bias)] {
                    add_bias(*stream, matrix, values, relu);
                  };
                }));
}

void emit_bias_gradient(const graph::Node& node, const Located& diff_dst, Lowering& lowering) {
  const Matrix sizes = matrix_of(diff_dst, nullptr);
  const auto floats = static_cast<std::size_t>(sum_rows_scratch(sizes.rows, sizes.channels));
  const TensorId scratch = lowering.scratch(node.name + "/bias_sums", floats * sizeof(float));
  const TensorId gradient = lowering.parameter_gradient(node, "bias");
  lowering.emit(node,
                {.what = "bias_gradient",
                 .kind = "bias_gradient",
                 .pass = Pass::BackwardWeights,
                 .reads = {diff_dst.tensor},
                 .writes = {gradient, scratch},
                 .implementation = "sum_rows"},
                make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  return [=, matrix = matrix_of(diff_dst, at.bytes(diff_dst.tensor)), sums = at.f32(gradient),
                          partial = at.f32(scratch)] { sum_rows(*stream, matrix, sums, partial); };
                }));
}

}  // namespace roentgen::engine::cuda
