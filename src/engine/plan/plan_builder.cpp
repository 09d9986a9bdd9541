// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/plan_builder.h"

#include <algorithm>

#include "core/error.h"
#include "graph/inference.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine {
namespace {
// Returns the type of the plan to build. A stored plan without an entry for the type was written before other types
// existed and means f32.
ComputeType type_of(const CompileOptions& options, const EngineTraits& traits) {
  if (options.form != Form::Training && !traits.infers_in_other_types) return DType::F32;
  if (options.choices.empty()) return options.dtype.value_or(DType::F32);
  const auto stored = options.choices.find(std::string(kDtypeChoice));
  return stored == options.choices.end() ? DType::F32 : parse_dtype(stored->second).value_or(DType::F32);
}

std::vector<bool> computed_nodes(const graph::Graph& graph, Form form) {
  if (form != Form::Training) return graph::needed_in_inference(graph);
  return std::vector<bool>(graph.nodes().size(), true);
}

std::vector<bool> find_values_with_gradients(const graph::Graph& graph, Form form) {
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

PlanBuilder::PlanBuilder(const graph::Graph& graph, const CompileOptions& options, EngineTraits traits)
    : inputs(input_specs(graph, options.input_norm)),
      graph_(graph),
      options_(options),
      type_(type_of(options, traits)),
      is_computed_(computed_nodes(graph, options.form)),
      needs_gradient_(find_values_with_gradients(graph, options.form)),
      concats_(graph, traits.channel_block),
      readers_(graph.consumers()),
      values_(graph.nodes().size()) {
  if (options.slots < 1) {
    throw ConfigError(
        error_text("engine.plan", "input slots (batch buffers)", "at least 1", std::to_string(options.slots), "1"));
  }
  plan.replicas = traits.replicas;
  const std::vector<Source> sources = sources_in_backward(graph, is_training() ? options.recompute : "none");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_alone = sources[i] == Source::Backward && !traits.writes_in_backward;
    values_[i].source = is_alone ? Source::OnDemand : sources[i];
  }
  if (type_ != DType::F32) plan.choices[std::string(kDtypeChoice)] = name_of(type_);
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

TensorId PlanBuilder::add_tensor(PlanTensor tensor) {
  plan.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(plan.tensors.size() - 1);
}

void PlanBuilder::build() {
  for (graph::NodeId id = 0; id < static_cast<graph::NodeId>(graph_.nodes().size()); ++id) {
    if (node(id).is_input()) {
      add_input(id);
    } else if (is_computed_.at(static_cast<std::size_t>(id))) {
      add_forward(id);
    }
  }
  add_outputs();
  plan.forward_end = static_cast<std::int32_t>(plan.entries.size());
  if (is_training() && graph_.output("loss") >= 0) add_backward_all();
  check_choices();
}

void PlanBuilder::check_choices() const {
  if (options_.choices.empty() || options_.choices == plan.choices) return;
  // At this point every choice of this plan was found among the stored choices, so any additional stored choice is an
  // error.
  const auto surplus =
      std::ranges::find_if(options_.choices, [&](const auto& choice) { return !plan.choices.contains(choice.first); });
  throw ConfigError(error_text("engine.plan", "stored plan", "entries for this model only",
                               surplus == options_.choices.end() ? "other entries" : surplus->first,
                               "the model and options that the run began with"));
}

void PlanBuilder::add_input(graph::NodeId id) {
  const InputSpec& spec = inputs[input_tensors.size()];
  const Layout layout{.dtype = spec.dtype};
  const TensorId slot = add_tensor({.name = spec.name,
                                    .bytes = spec.bytes,
                                    .storage = Storage::Input,
                                    .layout = name_of(spec.shape, layout),
                                    .dtype = spec.dtype});
  input_tensors.push_back(slot);
  define_as(id, {slot, spec.shape, layout});
  if (spec.dtype == DType::F32) return;
  const Located pixels = value(id);
  const Located& values = define(id, input_layout(id));
  emit(node(id),
       {.what = "normalise",
        .kind = "normalise",
        .pass = Pass::Auxiliary,
        .reads = {pixels.tensor},
        .writes = {values.tensor}},
       normalise(pixels, values, pixel_scales(*options_.input_norm)));
}

void PlanBuilder::add_outputs() {
  for (const auto& [name, id] : graph_.outputs()) {
    const Located plain = value_in(id, Layout{});
    const TensorId output = kept("output:" + name, static_cast<std::size_t>(plain.shape.elements()) * sizeof(float));
    output_tensors.emplace_back(name, output);
    emit(node(id), {.what = "output", .kind = "copy", .reads = {plain.tensor}, .writes = {output}},
         copy(plain.tensor, output, plain.shape.elements()));
  }
}

void PlanBuilder::add_backward_all() {
  const graph::NodeId loss = graph_.output("loss");
  for (graph::NodeId id = static_cast<graph::NodeId>(graph_.nodes().size()) - 1; id >= 0; --id) {
    if (node(id).is_input() || !needs_gradient(id)) continue;
    const bool is_shared = shared_norms_.contains(id) && shared_norms_.at(id).gradient >= 0;
    if (id == loss || has_gradient(id) || is_shared || is_virtual(id)) add_backward(id);
  }
  for (const ValueState& value : values_) RG_ASSERT(value.waiting.empty());
}

const std::vector<graph::NodeId>& PlanBuilder::readers(graph::NodeId id) const {
  return readers_.at(static_cast<std::size_t>(id));
}

const Located& PlanBuilder::value(graph::NodeId id) const {
  RG_ASSERT(state(id).located.tensor >= 0);
  return state(id).located;
}

const Located& PlanBuilder::define(graph::NodeId id, Layout layout) {
  state(id).located = tensor(node(id).name, node(id).shape, layout);
  return state(id).located;
}

Located PlanBuilder::value_in(graph::NodeId id, Layout layout) {
  const Located here = value(id);
  if (here.shape.rank() != 4 || here.layout == layout) return here;
  for (const Located& copy : state(id).copies) {
    if (copy.layout == layout) return copy;
  }
  const Located copy = reordered(node(id), here, layout);
  state(id).copies.push_back(copy);
  return copy;
}

// Adds one entry that changes either the order or the type of the elements, not both.
Located PlanBuilder::copy_of(const graph::Node& node, const Located& from, Layout layout) {
  const std::string what = from.layout.dtype == layout.dtype ? "reorder" : "convert";
  const std::string name = plan.tensors.at(static_cast<std::size_t>(from.tensor)).name;
  const Located to = tensor(name + "/" + name_of(from.shape, layout), from.shape, layout);
  emit(node, {.what = what, .kind = what, .pass = Pass::Auxiliary, .reads = {from.tensor}, .writes = {to.tensor}},
       from.layout.dtype == layout.dtype ? reorder(from, to) : convert(from, to));
  return to;
}

Located PlanBuilder::reordered(const graph::Node& node, const Located& from, Layout layout) {
  if (from.shape.rank() != 4 || from.layout == layout) return from;
  // Reorder in f32, so that reordering kernels need to support only one type.
  const Located wide = from.layout.dtype == DType::F32 ? from : copy_of(node, from, from.layout.as(DType::F32));
  const Layout wide_layout = layout.as(DType::F32);
  const Located ordered = wide.layout == wide_layout ? wide : copy_of(node, wide, wide_layout);
  return layout.dtype == DType::F32 ? ordered : copy_of(node, ordered, layout);
}

Located PlanBuilder::tensor(std::string name, const Shape& shape, Layout layout) {
  const TensorId id = add_tensor({.name = std::move(name),
                                  .bytes = stored_bytes(shape, layout),
                                  .layout = name_of(shape, layout),
                                  .dtype = layout.dtype});
  return {id, shape, layout};
}

TensorId PlanBuilder::scratch(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .layout = "scratch"});
}

TensorId PlanBuilder::replicated_scratch(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .storage = Storage::Workspace, .layout = "scratch"});
}

TensorId PlanBuilder::kept(std::string name, std::size_t bytes) {
  return add_tensor({.name = std::move(name), .bytes = bytes, .storage = Storage::Kept, .layout = "plain"});
}

PlanBuilder::ParameterPlace& PlanBuilder::place(const graph::Node& node, std::string_view name) {
  const std::string full = node.name + "." + std::string(name);
  const auto found =
      std::ranges::find_if(node.parameters, [&](std::int32_t index) { return graph_.parameter(index).name == full; });
  RG_ASSERT(found != node.parameters.end());
  return places.at(static_cast<std::size_t>(*found));
}

graph::NodeId PlanBuilder::folded_into(graph::NodeId id) const {
  if (is_training() || readers(id).size() != 1 || graph::is_output(graph_, id)) return -1;
  const graph::NodeId reader = readers(id)[0];
  const graph::Op& layer = node(id).op;
  const bool is_convolution = std::holds_alternative<graph::Conv2d>(layer);
  const auto* norm = std::get_if<graph::BatchNorm>(&node(reader).op);
  const auto* relu = std::get_if<graph::Relu>(&node(reader).op);
  const bool is_folded =
      (norm != nullptr && norm->folded && node(reader).inputs[0] == id && is_convolution) ||
      (relu != nullptr && relu->folded && (is_convolution || std::holds_alternative<graph::Linear>(layer)));
  return is_folded ? reader : -1;
}

PlanEntry PlanBuilder::entry_of(const graph::Node& node, Emission& emission) const {
  PlanEntry entry;
  entry.name = node.name + "/" + emission.what;
  entry.kind = std::move(emission.kind);
  entry.node = graph_.find(node.name);
  entry.pass = emission.pass;
  entry.implementation = std::move(emission.implementation);
  entry.flops = emission.flops;
  entry.reads = std::move(emission.reads);
  entry.writes = std::move(emission.writes);
  return entry;
}

void PlanBuilder::emit_preparation(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel) {
  plan.preparations.push_back(entry_of(node, emission));
  preparation_kernels.push_back(std::move(kernel));
}

void PlanBuilder::emit(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel) {
  const auto index = static_cast<std::int32_t>(plan.entries.size());
  PlanEntry entry = entry_of(node, emission);
  for (const std::vector<TensorId>* ids : {&entry.reads, &entry.writes}) {
    for (const TensorId id : *ids) {
      PlanTensor& touched = plan.tensors.at(static_cast<std::size_t>(id));
      if (touched.first < 0) touched.first = index;
      touched.last = index;
    }
  }
  for (const auto& [source, target] : emission.in_place) in_place.push_back({index, source, target});
  plan.entries.push_back(std::move(entry));
  kernels.push_back(std::move(kernel));
}

void PlanBuilder::emit(const graph::Node& node, Emission emission, NamedKernel named) {
  emission.implementation = std::move(named.implementation);
  emit(node, std::move(emission), std::move(named.kernel));
}

void PlanBuilder::emit_forward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads, const Located& dst,
                               NamedKernel named, TensorId overwritten) {
  Emission emission{.what = "forward", .kind = op + "_forward", .reads = std::move(reads), .writes = {dst.tensor}};
  if (overwritten >= 0) emission.in_place = {{overwritten, dst.tensor}};
  emit(node(id), std::move(emission), std::move(named));
}

void PlanBuilder::emit_backward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads,
                                const Located& diff_src, NamedKernel named, TensorId overwritten) {
  Emission emission{.what = "backward",
                    .kind = op + "_backward",
                    .pass = Pass::BackwardData,
                    .reads = std::move(reads),
                    .writes = {diff_src.tensor}};
  if (overwritten >= 0) emission.in_place = {{overwritten, diff_src.tensor}};
  emit(node(id), std::move(emission), std::move(named));
  contribute(node(id).inputs[0], diff_src);
}

void PlanBuilder::contribute(graph::NodeId id, const Located& gradient) {
  if (needs_gradient(id)) state(id).gradients.push_back(gradient);
}

std::vector<Located> PlanBuilder::gradients(graph::NodeId id, Layout layout) {
  // Adds the shared gradient to the value's gradients, once; later calls find it there.
  const auto shared = shared_norms_.find(id);
  if (shared != shared_norms_.end() && shared->second.gradient >= 0) contribute(id, finish_shared_norm(id));
  std::vector<Located> all = state(id).gradients;
  for (Located& one : all) one = reordered(node(id), one, layout);
  return all;
}

Located PlanBuilder::gradient(graph::NodeId id, Layout layout) {
  const std::vector<Located> all = gradients(id, layout);
  RG_ASSERT(!all.empty());
  if (all.size() == 1) return all[0];
  const Located total = tensor("d:" + node(id).name, all[0].shape, layout);
  std::vector<TensorId> terms;
  for (const Located& one : all) terms.push_back(one.tensor);
  emit(node(id),
       {.what = "gradient_sum",
        .kind = "gradient_sum",
        .pass = Pass::BackwardData,
        .reads = terms,
        .writes = {total.tensor},
        .in_place = {{all[0].tensor, total.tensor}}},
       sum(terms, total));
  return total;
}

bool PlanBuilder::is_missing(graph::NodeId id) const {
  return state(id).source != Source::Kept && !state(id).is_again && needs_gradient(id);
}

void PlanBuilder::make_available(graph::NodeId id) {
  if (is_missing(id) && state(id).source == Source::OnDemand) recomputed(id, add_again(id));
}

Located PlanBuilder::value_again(graph::NodeId id, Layout layout) {
  make_available(id);
  RG_ASSERT(!is_missing(id));
  return value_in(id, layout);
}

void PlanBuilder::when_available(graph::NodeId id, std::function<void()> emit_later) {
  make_available(id);
  if (is_missing(id)) {
    state(id).waiting.push_back(std::move(emit_later));
  } else {
    emit_later();
  }
}

void PlanBuilder::recomputed(graph::NodeId id, const Located& located) {
  ValueState& value = state(id);
  value.located = located;
  value.is_again = true;
  value.copies.clear();
  const std::vector<std::function<void()>> waiting = std::exchange(value.waiting, {});
  for (const auto& emit_later : waiting) emit_later();
}

}  // namespace roentgen::engine
