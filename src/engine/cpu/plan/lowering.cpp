// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/lowering.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/primitive.h"
#include "engine/cpu/simd/isa.h"
#include "graph/inference.h"

namespace roentgen::engine::cpu {
namespace {
// A stored plan's, where there is one: before there were others, it said none.
DType dtype_of(const CompileOptions& options) {
  if (options.form != Form::Training) return DType::F32;
  if (options.choices.empty()) return options.dtype == "bf16" ? DType::Bf16 : DType::F32;
  const auto stored = options.choices.find(std::string(kDtypeChoice));
  if (stored == options.choices.end()) return DType::F32;
  if (stored->second != name_of(DType::Bf16)) {
    throw ConfigError(error_text("engine.plan", "dtype", "bf16 or none", stored->second));
  }
  return DType::Bf16;
}

std::vector<bool> nodes_lowered(const graph::Graph& graph, Form form) {
  if (form != Form::Training) return graph::needed_in_inference(graph);
  return std::vector<bool>(graph.nodes().size(), true);
}

// For every value, whether a gradient must reach it: something trained lies before it, the loss behind.
std::vector<bool> values_with_gradients(const graph::Graph& graph, Form form) {
  std::vector<bool> needed(graph.nodes().size(), false);
  const graph::NodeId loss = graph.output("loss");
  if (form != Form::Training || loss < 0) return needed;
  std::vector<bool> reaches_loss = needed;
  reaches_loss[static_cast<std::size_t>(loss)] = true;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!reaches_loss[i]) continue;
    for (const graph::NodeId input : graph.nodes()[i].inputs) reaches_loss[static_cast<std::size_t>(input)] = true;
  }
  const auto is_trained = [&](std::int32_t p) { return graph::is_trained(graph.parameter(p).role); };
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    needed[i] = reaches_loss[i] &&
                (std::ranges::any_of(node.parameters, is_trained) ||
                 std::ranges::any_of(node.inputs, [&](auto input) { return needed[static_cast<std::size_t>(input)]; }));
  }
  return needed;
}
}  // namespace

Lowering::Lowering(const graph::Graph& graph, const CompileOptions& options, int threads)
    : graph_(graph),
      options_(options),
      threads_(threads),
      vector_block_(simd::vector_block()),
      dtype_(dtype_of(options)),
      is_lowered_(nodes_lowered(graph, options.form)),
      needs_gradient_(values_with_gradients(graph, options.form)),
      choices_(graph, options, dtype_, is_lowered_, needs_gradient_, plan),
      roles_(is_training() ? NormRoles(graph, choices_, graph::fusions_of(options.fuse, purpose_of(options.form)),
                                       vector_block_, dtype_)
                           : NormRoles(graph, vector_block_)),
      readers_(graph.consumers()),
      values_(graph.nodes().size()) {
  const std::vector<Source> sources = sources_in_backward(graph, is_training() ? options.recompute : "none");
  for (std::size_t i = 0; i < sources.size(); ++i) values_[i].source = sources[i];
  plan.choice_revision = kChoiceRevision;
  for (graph::NodeId id = 0; is_training() && id < static_cast<graph::NodeId>(graph.nodes().size()); ++id) {
    const graph::Node& node = graph.node(id);
    if (std::holds_alternative<graph::BatchNorm>(node.op)) plan.norm_roles[node.name] = roles_.of(id).text(graph);
  }
  if (dtype_ == DType::Bf16) plan.choices[std::string(kDtypeChoice)] = name_of(dtype_);
  for (const graph::Parameter& parameter : graph.parameters()) {
    ParameterPlace place;
    const bool trained = graph::is_trained(parameter.role);
    place.tensor = add_tensor({.name = parameter.name, .storage = trained ? Storage::Parameter : Storage::State});
    if (trained && is_training()) {
      place.gradient = add_tensor({.name = "d:" + parameter.name, .storage = Storage::Gradient});
    }
    place.layout = padded_vector(parameter.shape.elements(), parameter.shape.elements());
    places.push_back(std::move(place));
  }
}

TensorId Lowering::add_tensor(PlanTensor tensor) {
  plan.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(plan.tensors.size() - 1);
}

void Lowering::lower_all() {
  const auto count = static_cast<graph::NodeId>(graph_.nodes().size());
  for (graph::NodeId id = 0; id < count; ++id) {
    const graph::Node& node = graph_.node(id);
    if (!node.is_input() && !is_lowered_.at(static_cast<std::size_t>(id))) continue;
    if (node.is_input()) {
      const auto bytes = static_cast<std::size_t>(node.shape.elements()) * sizeof(float);
      state(id).located = {
          add_tensor(
              {.name = node.name, .bytes = bytes, .storage = Storage::Input, .layout = name_of(node.shape, Layout{})}),
          node.shape, Layout{}};
      input_tensors.emplace_back(id, state(id).located.tensor);
      continue;
    }
    std::visit(
        [&](const auto& op) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(op)>, graph::Input>) lower(op, id, *this);
        },
        node.op);
  }
  lower_outputs();
  plan.forward_end = static_cast<std::int32_t>(plan.entries.size());
  if (is_training() && graph_.output("loss") >= 0) lower_backward_all();
}

void Lowering::lower_outputs() {
  for (const auto& [name, id] : graph_.outputs()) {
    const Located plain = value_in(id, Layout{});
    const auto bytes = static_cast<std::size_t>(plain.shape.elements()) * sizeof(float);
    const TensorId output = kept("output:" + name, bytes);
    output_tensors.emplace_back(name, output);
    emit(graph_.node(id),
         {.what = "output", .kind = "copy", .reads = {plain.tensor}, .writes = {output}, .implementation = "copy"},
         copy_kernel(plain.tensor, output, plain.shape.elements()));
  }
}

void Lowering::lower_backward_all() {
  const graph::NodeId loss = graph_.output("loss");
  for (graph::NodeId id = static_cast<graph::NodeId>(graph_.nodes().size()) - 1; id >= 0; --id) {
    const graph::Node& node = graph_.node(id);
    if (node.is_input() || !needs_gradient(id)) continue;
    const bool is_shared = shared_norms_.contains(id) && shared_norms_.at(id).gradient >= 0;
    if (id != loss && !has_gradient(id) && !is_shared && !is_virtual(id)) continue;
    std::visit(
        [&](const auto& op) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(op)>, graph::Input>) lower_backward(op, id, *this);
        },
        node.op);
  }
  for (const ValueState& value : values_) RG_ASSERT(value.waiting.empty());
}

const std::vector<graph::NodeId>& Lowering::readers(graph::NodeId id) const {
  return readers_.at(static_cast<std::size_t>(id));
}

const Located& Lowering::value(graph::NodeId id) const {
  RG_ASSERT(!is_virtual(id) && !state(id).normalised);
  return state(id).located;
}

const Located& Lowering::define(graph::NodeId id, Layout layout) {
  const graph::Node& node = graph_.node(id);
  state(id).located = {tensor(node.name, node.shape, layout), node.shape, layout};
  return state(id).located;
}

void Lowering::define_as(graph::NodeId id, const Located& located) { state(id).located = located; }

void Lowering::define_normalised(graph::NodeId id, Prologue input) {
  state(id).normalised = std::move(input);
  // Nothing is dropped that backward would have to compute again.
  state(id).source = Source::Kept;
}

Located Lowering::value_f32(graph::NodeId id) { return value_in(id, value(id).layout.as(DType::F32)); }

Located Lowering::value_in(graph::NodeId id, Layout layout) {
  const Located here = value(id);
  if (here.shape.rank() != 4 || here.layout == layout) return here;
  for (const Located& copy : state(id).copies) {
    if (copy.layout == layout) return copy;
  }
  const Located copy = reordered(graph_.node(id), here, layout);
  state(id).copies.push_back(copy);
  return copy;
}

Located Lowering::converted(const graph::Node& node, const Located& from, DType dtype) {
  const Layout layout = from.layout.as(dtype);
  const std::string name = plan.tensors.at(static_cast<std::size_t>(from.tensor)).name;
  const Located to{tensor(name + "/" + name_of(from.shape, layout), from.shape, layout), from.shape, layout};
  emit(node,
       {.what = "convert",
        .kind = "convert",
        .pass = Pass::Auxiliary,
        .reads = {from.tensor},
        .writes = {to.tensor},
        .implementation = "simd"},
       convert_kernel(from, to));
  return to;
}

Located Lowering::reordered(const graph::Node& node, const Located& from, Layout layout) {
  if (from.shape.rank() != 4 || from.layout == layout) return from;
  // Another order is made of f32, so that the library need not know bf16 everywhere.
  if (from.layout.dtype == DType::Bf16) return reordered(node, converted(node, from, DType::F32), layout);
  if (layout.dtype == DType::Bf16) return converted(node, reordered(node, from, layout.as(DType::F32)), DType::Bf16);
  const std::string name = plan.tensors.at(static_cast<std::size_t>(from.tensor)).name;
  const Located to{tensor(name + "/" + name_of(from.shape, layout), from.shape, layout), from.shape, layout};
  emit(node,
       {.what = "reorder",
        .kind = "reorder",
        .pass = Pass::Auxiliary,
        .reads = {from.tensor},
        .writes = {to.tensor},
        .implementation = "reorder"},
       reorder_kernel(from, to));
  return to;
}

TensorId Lowering::tensor(std::string name, const Shape& shape, Layout layout) {
  return add_tensor({.name = std::move(name),
                     .bytes = stored_bytes(shape, layout),
                     .layout = name_of(shape, layout),
                     .dtype = layout.dtype});
}

TensorId Lowering::scratch(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .layout = "scratch"});
}

TensorId Lowering::own_scratch(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .storage = Storage::PerThread, .layout = "scratch"});
}

TensorId Lowering::kept(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .storage = Storage::Kept, .layout = "plain"});
}

std::int32_t Lowering::parameter_index(const graph::Node& node, std::string_view name) const {
  const std::string full = node.name + "." + std::string(name);
  for (const std::int32_t index : node.parameters) {
    if (graph_.parameter(index).name == full) return index;
  }
  return -1;
}

TensorId Lowering::parameter(const graph::Node& node, std::string_view name) {
  return places.at(static_cast<std::size_t>(parameter_index(node, name))).tensor;
}

TensorId Lowering::parameter_gradient(const graph::Node& node, std::string_view name) {
  return places.at(static_cast<std::size_t>(parameter_index(node, name))).gradient;
}

void Lowering::set_layout(const graph::Node& node, std::string_view name, std::unique_ptr<ParameterLayout> layout) {
  places.at(static_cast<std::size_t>(parameter_index(node, name))).layout = std::move(layout);
}

std::shared_ptr<const ParameterLayout> Lowering::layout_of_parameter(const graph::Node& node,
                                                                     std::string_view name) const {
  return places.at(static_cast<std::size_t>(parameter_index(node, name))).layout;
}

graph::NodeId Lowering::folded_into(graph::NodeId id) const {
  if (is_training() || readers(id).size() != 1) return -1;
  if (std::ranges::any_of(graph_.outputs(), [id](const auto& output) { return output.second == id; })) return -1;
  const graph::NodeId reader = readers(id)[0];
  const graph::Node& node = graph_.node(reader);
  const graph::Op& layer = graph_.node(id).op;
  const bool is_convolution = std::holds_alternative<graph::Conv2d>(layer);
  const auto* norm = std::get_if<graph::BatchNorm>(&node.op);
  const auto* relu = std::get_if<graph::Relu>(&node.op);
  const bool is_folded =
      (norm != nullptr && norm->folded && node.inputs[0] == id && is_convolution) ||
      (relu != nullptr && relu->folded && (is_convolution || std::holds_alternative<graph::Linear>(layer)));
  return is_folded ? reader : -1;
}

PlanEntry Lowering::entry_of(const graph::Node& node, Emission& emission) const {
  PlanEntry entry;
  entry.name = node.name + "/" + emission.what;
  entry.kind = std::move(emission.kind);
  entry.node = graph_.find(node.name);
  entry.pass = emission.pass;
  entry.implementation = std::move(emission.implementation);
  entry.flops = emission.flops;
  return entry;
}

void Lowering::emit_preparation(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel) {
  PlanEntry entry = entry_of(node, emission);
  entry.reads = std::move(emission.reads);
  entry.writes = std::move(emission.writes);
  plan.preparations.push_back(std::move(entry));
  preparation_kernels.push_back(std::move(kernel));
}

void Lowering::emit(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel) {
  const auto index = static_cast<std::int32_t>(plan.entries.size());
  PlanEntry entry = entry_of(node, emission);
  for (const std::vector<TensorId>* ids : {&emission.reads, &emission.writes}) {
    for (const TensorId id : *ids) {
      PlanTensor& touched = plan.tensors.at(static_cast<std::size_t>(id));
      if (touched.first < 0) touched.first = index;
      touched.last = index;
      entry.bytes += static_cast<std::int64_t>(touched.bytes);
    }
  }
  for (const auto& [source, target] : emission.in_place) in_place.push_back({index, source, target});
  entry.reads = std::move(emission.reads);
  entry.writes = std::move(emission.writes);
  plan.entries.push_back(std::move(entry));
  kernels.push_back(std::move(kernel));
}

void Lowering::contribute(graph::NodeId id, const Located& gradient) {
  if (needs_gradient(id)) state(id).gradients.push_back(gradient);
}

bool Lowering::has_gradient(graph::NodeId id) const { return !state(id).gradients.empty(); }

std::vector<Located> Lowering::gradients(graph::NodeId id, Layout layout) {
  // Closed once: asking again must find it among the others.
  const auto shared = shared_norms_.find(id);
  if (shared != shared_norms_.end() && shared->second.gradient >= 0) contribute(id, finish_shared_norm(id, *this));
  std::vector<Located> all = state(id).gradients;
  for (Located& one : all) one = reordered(graph_.node(id), one, layout);
  return all;
}

Located Lowering::gradient(graph::NodeId id, Layout layout) {
  const std::vector<Located> all = gradients(id, layout);
  RG_ASSERT(!all.empty());
  if (all.size() == 1) return all[0];
  const graph::Node& node = graph_.node(id);
  const Located sum{tensor("d:" + node.name, all[0].shape, layout), all[0].shape, layout};
  Emission emission{.what = "gradient_sum",
                    .kind = "gradient_sum",
                    .pass = Pass::BackwardData,
                    .reads = {},
                    .writes = {sum.tensor},
                    .implementation = "simd"};
  for (const Located& one : all) emission.reads.push_back(one.tensor);
  emission.in_place = {{all[0].tensor, sum.tensor}};
  auto kernel = sum_kernel(emission.reads, sum.tensor, stored_elements(sum.shape, layout), layout.dtype);
  emit(node, std::move(emission), std::move(kernel));
  return sum;
}

bool Lowering::is_missing(graph::NodeId id) const {
  return state(id).source != Source::Kept && !state(id).is_again && needs_gradient(id);
}

void Lowering::compute_again(graph::NodeId id) {
  if (!is_missing(id) || state(id).source != Source::OnDemand) return;
  const graph::Op& op = graph_.node(id).op;
  const auto* norm = std::get_if<graph::BatchNorm>(&op);
  recomputed(id, norm != nullptr ? lower_again(*norm, id, *this) : lower_again(std::get<graph::Concat>(op), id, *this));
}

Located Lowering::value_again(graph::NodeId id, Layout layout) {
  compute_again(id);
  RG_ASSERT(!is_missing(id));
  return value_in(id, layout);
}

void Lowering::when_available(graph::NodeId id, std::function<void()> emit_later) {
  compute_again(id);
  if (is_missing(id)) {
    state(id).waiting.push_back(std::move(emit_later));
  } else {
    emit_later();
  }
}

void Lowering::recomputed(graph::NodeId id, const Located& located) {
  ValueState& value = state(id);
  value.located = located;
  value.is_again = true;
  value.copies.clear();
  const std::vector<std::function<void()>> waiting = std::move(value.waiting);
  value.waiting.clear();
  for (const auto& emit_later : waiting) emit_later();
}

}  // namespace roentgen::engine::cpu
