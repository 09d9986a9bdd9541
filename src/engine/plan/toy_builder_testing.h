// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan builder of a toy engine, for tests: its kernels compute nothing and record that they were bound and run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/plan/plan_builder.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine {

/// Log of kernel calls, in order: "bind <entry>" and "run <entry>".
using ToyLog = std::vector<std::string>;

/// Builder whose convolutions read and write `conv_layout` and all other ops plain f32. Each parameter gradient has its
/// own plan entry.
class ToyBuilder final : public PlanBuilder {
 public:
  ToyBuilder(const graph::Graph& graph, const CompileOptions& options, Layout conv_layout, int replicas = 1)
      : PlanBuilder(graph, options, {.channel_block = 8, .replicas = replicas}), conv_layout_(conv_layout) {}

  /// Returns a kernel that logs its name when it is bound and when it runs.
  [[nodiscard]] std::unique_ptr<Kernel> noting(const std::string& name) const {
    return make_kernel([log = log, name](const Addresses&) {
      log->push_back("bind " + name);
      return [log, name] { log->push_back("run " + name); };
    });
  }
  [[nodiscard]] std::size_t replica_alignment(std::size_t) const override { return 256; }

  std::shared_ptr<ToyLog> log = std::make_shared<ToyLog>();

 protected:
  void add_forward(graph::NodeId id) override {
    const Layout layout = layout_of(id);
    Emission emission{.what = "forward", .kind = "toy"};
    for (const graph::NodeId input : node(id).inputs) emission.reads.push_back(value_in(input, layout).tensor);
    for (const std::int32_t index : node(id).parameters) {
      ParameterPlace& place = places[static_cast<std::size_t>(index)];
      const std::int64_t elements = graph().parameter(index).shape.elements();
      place.layout = padded_vector(elements, elements + 3);
      emission.reads.push_back(place.tensor);
    }
    emission.writes = {define(id, layout).tensor, replicated_scratch("scratch", 100)};
    emit(node(id), std::move(emission), noting(node(id).name + "/forward"));
  }
  void add_backward(graph::NodeId id) override {
    const Layout layout = layout_of(id);
    const bool is_loss = graph().output("loss") == id;
    const TensorId incoming = is_loss ? value(id).tensor : gradient(id, layout).tensor;
    for (const graph::NodeId input : node(id).inputs) {
      if (!needs_gradient(input)) continue;
      const Located diff_src = gradient_tensor(input, layout);
      emit(node(id), {.what = "backward_data", .kind = "toy", .reads = {incoming}, .writes = {diff_src.tensor}},
           noting(node(id).name + "/backward_data"));
      contribute(input, diff_src);
    }
    for (const std::int32_t index : node(id).parameters) {
      const TensorId gradient = places[static_cast<std::size_t>(index)].gradient;
      if (gradient < 0) continue;
      emit(node(id), {.what = "backward_weights", .kind = "toy", .reads = {incoming}, .writes = {gradient}},
           noting(node(id).name + "/backward_weights"));
    }
  }
  Located add_again(graph::NodeId id) override { return value(id); }
  Located finish_shared_norm(graph::NodeId id) override { return value(id); }
  NamedKernel copy(TensorId, TensorId, std::int64_t) override { return {noting("copy"), "toy"}; }
  NamedKernel reorder(const Located&, const Located&) override { return {noting("reorder"), "toy"}; }
  NamedKernel convert(const Located&, const Located&) override { return {noting("convert"), "toy"}; }
  NamedKernel sum(const std::vector<TensorId>&, const Located&) override { return {noting("sum"), "toy"}; }
  NamedKernel normalise(const Located&, const Located&, const std::vector<PixelScale>&) override {
    return {noting("normalise"), "toy"};
  }

 private:
  [[nodiscard]] Layout layout_of(graph::NodeId id) const {
    return std::holds_alternative<graph::Conv2d>(node(id).op) ? conv_layout_ : Layout{};
  }

  Layout conv_layout_;
};

/// Network with two convolution branches on one convolution, their sum, a linear layer and a loss. Batch 2, 3 labels.
inline graph::Graph toy_network() {
  graph::Builder b("toy");
  const graph::Conv2d conv{.out_channels = 8, .kernel = {3, 3}, .pad = {1, 1}, .bias = false};
  const graph::NodeId stem = b.add("stem", conv, {b.input("image", {2, 3, 6, 5})});
  const graph::NodeId sum = b.add("sum", graph::Add{}, {b.add("left", conv, {stem}), b.add("right", conv, {stem})});
  const graph::NodeId flat = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {sum})});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {flat}));
  return graph::with_loss(std::move(b).build(), {});
}

}  // namespace roentgen::engine
