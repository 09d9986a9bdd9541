// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "core/error.h"
#include "engine/cuda/conv/stem.h"
#include "engine/cuda/elementwise/reorder.h"
#include "engine/cuda/norm/shared_norm.h"
#include "engine/cuda/normalise.h"
#include "graph/visit_op.h"

namespace roentgen::engine::cuda {
namespace {
// Each parameter occupies a multiple of this many arena elements (finish_plan.cpp).
constexpr std::int64_t kParameterUnit = 16;

std::string_view name_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::Forward:
      return "forward";
    case ConvPass::DataGradient:
      return "backward_data";
    default:
      return "backward_weights";
  }
}
}  // namespace

Lowering::Lowering(const graph::Graph& graph, const CompileOptions& options, const DeviceView& device)
    : PlanBuilder(
          graph, options,
          {.channel_block = kChannelBlock, .replicas = 1, .writes_in_backward = false, .infers_in_other_types = true}),
      device_(device) {
  const NormGroup* group = options.norm_group.get();
  if (group != nullptr && group->ranks > 1) {
    throw DeviceError(error_text("engine.cuda", "batch norm across GPUs", "statistics of a single GPU",
                                 fmt::format("{} processes with a GPU each", group->ranks),
                                 "--set train.batch_norm=local, or --device cpu"));
  }
  const LossScaling& scaling = options.loss_scaling;
  const StepState first{.loss_scale = has_loss_scale() ? scaling.start : 1.0};
  std::vector<std::byte> bytes(sizeof first);
  std::memcpy(bytes.data(), &first, sizeof first);
  step_state_ = constant("step_state", std::move(bytes));
}

Layout Lowering::input_layout(graph::NodeId id) const {
  if (readers(id).size() != 1) return image_layout();
  const graph::NodeId reader = readers(id)[0];
  const auto* convolution = std::get_if<graph::Conv2d>(&node(reader).op);
  return convolution != nullptr && is_stem(*convolution, reader, *this) ? stem_image_layout() : image_layout();
}

Located Lowering::image(graph::NodeId id, Layout layout) {
  const Located here = value(id);
  if (!node(id).is_input() || here.layout != Layout{}) return value_in(id, layout);
  // One kernel reorders and converts; value_in() would need two.
  const Located made = tensor(node(id).name + "/" + engine::name_of(here.shape, layout), here.shape, layout);
  emit(node(id),
       {.what = "input",
        .kind = "input",
        .pass = Pass::Auxiliary,
        .reads = {here.tensor},
        .writes = {made.tensor},
        .implementation = "reorder"},
       reorder_kernel(here, made, stream()));
  define_as(id, made);
  return made;
}

TensorId Lowering::compute_weights(const graph::Node& node, std::string_view name) {
  const TensorId master = parameter(node, name);
  if (dtype() == DType::F32) return master;
  const auto found = std::ranges::find(copies_.of, master, &std::pair<TensorId, TensorId>::first);
  if (found != copies_.of.end()) return found->second;
  if (copies_.all < 0) emit_copies(node);
  const TensorId copy = kept(plan.tensors[static_cast<std::size_t>(master)].name + "/copy", 0);
  plan.tensors[static_cast<std::size_t>(copy)].dtype = dtype();
  copies_.of.emplace_back(master, copy);
  return copy;
}

// One kernel launch converts the whole arena; biases and norms are converted too, but they are few.
void Lowering::emit_copies(const graph::Node& node) {
  copies_.all = kept("parameters/copies", 0);
  copies_.first = std::make_shared<TensorId>(-1);
  copies_.elements = std::make_shared<std::int64_t>(0);
  emit_preparation(node,
                   {.what = "copies",
                    .kind = "copies",
                    .pass = Pass::Auxiliary,
                    .reads = {},
                    .writes = {copies_.all},
                    .implementation = "convert"},
                   make_kernel([=, stream = stream(), type = dtype(), copies = copies_](const Addresses& at) {
                     return [=, from = at.bytes(*copies.first), to = at.bytes(copies.all), count = *copies.elements] {
                       cuda::convert(*stream, {DType::F32, from}, {type, to}, count);
                     };
                   }));
}

void Lowering::size_copies() {
  if (copies_.all < 0) return;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!graph::is_trained(graph().parameter(static_cast<std::int32_t>(i)).role)) continue;
    elements += (places[i].layout->elements() + kParameterUnit - 1) / kParameterUnit * kParameterUnit;
  }
  *copies_.elements = elements;
  plan.tensors[static_cast<std::size_t>(copies_.all)].bytes = static_cast<std::size_t>(elements) * size_of(dtype());
}

void Lowering::place_copies() {
  if (copies_.all < 0) return;
  const std::size_t begin = plan.tensors[static_cast<std::size_t>(copies_.all)].offset;
  for (const auto& [master, copy] : copies_.of) {
    const PlanTensor& from = plan.tensors[static_cast<std::size_t>(master)];
    PlanTensor& to = plan.tensors[static_cast<std::size_t>(copy)];
    to.offset = begin + from.offset / sizeof(float) * size_of(dtype());
    to.bytes = from.bytes / sizeof(float) * size_of(dtype());
    to.layout = from.layout;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(places[i].tensor)];
    if (tensor.storage == Storage::Parameter && tensor.offset == 0) *copies_.first = places[i].tensor;
  }
}

TensorId Lowering::constant(std::string name, std::vector<std::byte> bytes) {
  const TensorId tensor = kept(std::move(name), bytes.size());
  constants_.push_back({tensor, std::move(bytes)});
  return tensor;
}

std::unique_ptr<ConvPlan> Lowering::conv_plan(const graph::Node& node, const ConvProblem& problem) {
  const std::string key = fmt::format("{}/{}", node.name, name_of(problem.pass));
  const auto stored = options().choices.find(key);
  std::unique_ptr<ConvPlan> chosen;
  if (stored != options().choices.end()) {
    chosen = device_.convolutions.plan_named(problem, stored->second);
  } else if (options().choices.empty()) {
    const bool is_timed = is_training() && options().algorithms == Algorithms::Auto;
    const auto& measured = options().choice.measured;
    const auto found = is_timed ? measured.find(problem.text()) : measured.end();
    if (found != measured.end()) ++plan.measured_choices;
    chosen = found != measured.end() ? device_.convolutions.plan_named(problem, found->second)
             : is_timed              ? device_.convolutions.fastest(problem)
                                     : device_.convolutions.first(problem);
  } else {
    throw ConfigError(error_text("engine.cuda", "stored plan", "a cuDNN plan for " + key, "none",
                                 "the model, options and device that the run began with"));
  }
  plan.choices[key] = chosen->name();
  return chosen;
}

NamedKernel Lowering::flat(FlatOp op, TensorId a, TensorId b, const Located& dst) const {
  return {flat_kernel({.op = op,
                       .type = dst.layout.dtype,
                       .a = a,
                       .b = b,
                       .dst = dst.tensor,
                       .count = stored_elements(dst.shape, dst.layout)},
                      stream()),
          "flat"};
}

void Lowering::add_forward(graph::NodeId id) {
  graph::visit_op(node(id).op, [&](const auto& op) { lower(op, id, *this); });
}

void Lowering::add_backward(graph::NodeId id) {
  graph::visit_op(node(id).op, [&](const auto& op) { lower_backward(op, id, *this); });
}

Located Lowering::add_again(graph::NodeId id) {
  const auto* norm = std::get_if<graph::BatchNorm>(&node(id).op);
  return norm != nullptr ? lower_again(*norm, id, *this) : lower_again(std::get<graph::Concat>(node(id).op), id, *this);
}
Located Lowering::finish_shared_norm(graph::NodeId id) { return finish_segment(id, *this); }

NamedKernel Lowering::copy(TensorId from, TensorId to, std::int64_t count) {
  return {flat_kernel({.op = FlatOp::Copy, .a = from, .dst = to, .count = count}, stream()), "copy"};
}
NamedKernel Lowering::reorder(const Located& from, const Located& to) {
  return {reorder_kernel(from, to, stream()), "reorder"};
}
NamedKernel Lowering::convert(const Located& from, const Located& to) {
  return {make_kernel([=, stream = stream()](const Addresses& at) {
            return [=, source = at.bytes(from.tensor), target = at.bytes(to.tensor),
                    count = stored_elements(to.shape, to.layout)] {
              cuda::convert(*stream, {from.layout.dtype, source}, {to.layout.dtype, target}, count);
            };
          }),
          "convert"};
}
NamedKernel Lowering::sum(const std::vector<TensorId>& terms, const Located& sum) {
  return {sum_kernel(terms, sum, stream()), "sum"};
}
NamedKernel Lowering::normalise(const Located& from, const Located& to, const std::vector<PixelScale>& scales) {
  return {normalise_kernel(from, to, scales, stream()), "normalise"};
}

}  // namespace roentgen::engine::cuda
