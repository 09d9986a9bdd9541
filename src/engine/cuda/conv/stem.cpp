// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/conv/stem.h"

#include <utility>

#include "engine/cuda/conv/scaled_convert.h"

namespace roentgen::engine::cuda {
namespace {

// Copy of the weights in f16, converted before each forward.
TensorId weights_in_f16(const graph::Node& node, const WeightShape& shape, Lowering& lowering) {
  if (lowering.dtype() == DType::F16) return lowering.compute_weights(node, "weight");
  const TensorId master = lowering.parameter(node, "weight");
  const std::int64_t count = shape.stored();
  const TensorId copy = lowering.kept(node.name + ".weight/f16", static_cast<std::size_t>(count) * size_of(DType::F16));
  lowering.emit_preparation(node,
                            {.what = "weights_f16",
                             .kind = "copies",
                             .pass = Pass::Auxiliary,
                             .reads = {master},
                             .writes = {copy},
                             .implementation = "convert"},
                            make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                              return [=, from = at.bytes(master), to = at.bytes(copy)] {
                                convert(*stream, {DType::F32, from}, {DType::F16, to}, count);
                              };
                            }));
  return copy;
}

// A tensor and the type of its elements.
struct Typed {
  TensorId tensor = -1;
  DType type = DType::F32;
};
// Adds the entry that converts `from` to `to` with a factor.
void emit_scaled(const graph::Node& node, Emission emission, Typed from, Typed to, std::int64_t count,
                 const ScaledConversion& conversion, Lowering& lowering) {
  emission.kind = "convert";
  emission.reads = {from.tensor};
  emission.writes = {to.tensor};
  emission.implementation = "convert";
  if (size_of(from.type) == size_of(to.type)) emission.in_place = {{from.tensor, to.tensor}};
  lowering.emit(node, std::move(emission), make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  return [=, source = at.bytes(from.tensor), target = at.bytes(to.tensor)] {
                    convert_scaled(*stream, {from.type, source}, {to.type, target}, count, conversion);
                  };
                }));
}

}  // namespace

bool is_stem(const graph::Conv2d& op, graph::NodeId id, const Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const bool is_narrow = lowering.dtype() == DType::Bf16 || lowering.dtype() == DType::F16;
  return is_narrow && lowering.node(input).is_input() && lowering.readers(input).size() == 1 &&
         lowering.node(input).shape[1] <= kStemChannels && op.groups == 1 &&
         (op.stride.height > 1 || op.stride.width > 1);
}

void emit_stem(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights, const Located& src,
               const Located& dst, Lowering& lowering) {
  const TensorId copy = weights_in_f16(node, weights, lowering);
  if (dst.layout.dtype == DType::F16) {
    emit_pass(node, "conv2d", problem, {.src = src.tensor, .weights = copy, .dst = dst.tensor}, lowering);
    return;
  }
  const Located result = lowering.tensor(node.name + "/f16", dst.shape, dst.layout.as(DType::F16));
  emit_pass(node, "conv2d", problem, {.src = src.tensor, .weights = copy, .dst = result.tensor}, lowering);
  lowering.emit(
      node,
      {.what = "convert",
       .kind = "convert",
       .pass = Pass::Auxiliary,
       .reads = {result.tensor},
       .writes = {dst.tensor},
       .implementation = "convert",
       .in_place = {{result.tensor, dst.tensor}}},
      make_kernel([=, stream = lowering.stream(), count = stored_elements(dst.shape, dst.layout)](const Addresses& at) {
        return [=, from = at.bytes(result.tensor), to = at.bytes(dst.tensor)] {
          convert(*stream, {DType::F16, from}, {dst.layout.dtype, to}, count);
        };
      }));
}

void emit_stem_weight_gradient(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights,
                               const Located& src, const Located& diff_dst, Lowering& lowering) {
  if (diff_dst.layout.dtype == DType::F16) {
    emit_weight_gradient(node, "conv2d", problem, weights, {.src = src.tensor, .dst = diff_dst.tensor}, lowering);
    return;
  }
  const Located scaled = lowering.tensor("d:" + node.name + "/f16", diff_dst.shape, diff_dst.layout.as(DType::F16));
  emit_scaled(node, {.what = "scale_gradient", .pass = Pass::BackwardWeights}, {diff_dst.tensor, diff_dst.layout.dtype},
              {scaled.tensor, DType::F16}, stored_elements(scaled.shape, scaled.layout), {.factor = kStemGradientScale},
              lowering);
  const std::int64_t count = weights.stored();
  const Located narrow =
      lowering.tensor("d:" + node.name + ".weight/f16", {1, count, 1, 1}, Layout{.dtype = DType::F16});
  emit_pass(node, "conv2d", problem, {.src = src.tensor, .weights = narrow.tensor, .dst = scaled.tensor}, lowering);
  constexpr float kFactor = 1.0F / kStemGradientScale;
  emit_scaled(node, {.what = "weight_gradient", .pass = Pass::BackwardWeights}, {narrow.tensor, DType::F16},
              {lowering.parameter_gradient(node, "weight"), DType::F32}, count,
              {.factor = kFactor, .limit = kFactor * kMostF16}, lowering);
}

}  // namespace roentgen::engine::cuda
