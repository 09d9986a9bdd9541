// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/recompute.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine {
namespace {
using graph::NodeId;

// Time at which a reader needs one of its inputs in backward.
enum class Need : std::uint8_t {
  Nothing,  // no need: the gradient does not depend on the value, or forward kept what the reader needs
  Later,    // for weight gradients, which may wait until the value is recomputed
  Result,   // when the reader recomputes its own dropped result
  Now,      // when the reader's backward runs, or unknown
};

Need need_of(const graph::Node& reader, std::size_t input) {
  return std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (std::is_same_v<Op, graph::Conv2d>) return Need::Later;
        if constexpr (std::is_same_v<Op, graph::BatchNorm>) return input == 0 ? Need::Now : Need::Result;
        if constexpr (std::is_same_v<Op, graph::Concat>) return op.is_virtual ? Need::Now : Need::Result;
        constexpr bool is_free = std::is_same_v<Op, graph::MaxPool> || std::is_same_v<Op, graph::AvgPool> ||
                                 std::is_same_v<Op, graph::GlobalAvgPool> || std::is_same_v<Op, graph::Relu> ||
                                 std::is_same_v<Op, graph::Add>;
        return is_free ? Need::Nothing : Need::Now;
      },
      reader.op);
}

class Choice {
 public:
  Choice(const graph::Graph& graph, bool is_all)
      : graph_(graph), is_all_(is_all), readers_(graph.consumers()), is_dropped_(graph.nodes().size(), false) {}

  std::vector<Source> sources() {
    const auto count = static_cast<NodeId>(graph_.nodes().size());
    for (NodeId id = 0; id < count; ++id) {
      is_dropped_[static_cast<std::size_t>(id)] =
          !graph::is_output(graph_, id) && !is_needed(id, Need::Now) && can_be_dropped(id);
    }
    std::vector<Source> sources(graph_.nodes().size(), Source::Kept);
    for (NodeId id = 0; id < count; ++id) {
      if (!is_dropped(id)) continue;
      const bool is_on_demand = is_concat(id) || is_needed_by_a_dropped_one(id);
      sources[static_cast<std::size_t>(id)] = is_on_demand ? Source::OnDemand : Source::Backward;
    }
    return sources;
  }

 private:
  [[nodiscard]] bool is_dropped(NodeId id) const { return is_dropped_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] bool is_concat(NodeId id) const { return std::holds_alternative<graph::Concat>(graph_.node(id).op); }
  [[nodiscard]] bool is_needed(NodeId id, Need need) const {
    return std::ranges::any_of(readers_[static_cast<std::size_t>(id)], [&](NodeId reader) {
      const graph::Node& node = graph_.node(reader);
      for (std::size_t input = 0; input < node.inputs.size(); ++input) {
        if (node.inputs[input] == id && need_of(node, input) == need) return true;
      }
      return false;
    });
  }
  // True if the result of a reader of this value was dropped: of a batch norm that adds the value, or of a
  // concatenation. Recomputing that result needs this value.
  [[nodiscard]] bool is_needed_by_a_dropped_one(NodeId id) const {
    return std::ranges::any_of(readers_[static_cast<std::size_t>(id)],
                               [this](NodeId reader) { return is_dropped(reader); });
  }
  // True for values that are available in backward even if nothing is recomputed from them.
  [[nodiscard]] bool is_there_anyway(NodeId id) const {
    if (is_dropped(id)) return false;
    const auto* norm = std::get_if<graph::BatchNorm>(&graph_.node(id).op);
    const bool is_its_own_mask = norm != nullptr && norm->relu && graph_.node(id).inputs.size() == 2;
    return is_its_own_mask || graph_.node(id).is_input() || is_needed(id, Need::Later) || is_needed(id, Need::Now);
  }
  // True if recomputing from this input needs no additional memory over the whole step.
  [[nodiscard]] bool is_cheap_input(NodeId id) const { return is_there_anyway(id) || (is_all_ && is_dropped(id)); }

  [[nodiscard]] bool can_be_dropped(NodeId id) const {
    const graph::Node& node = graph_.node(id);
    if (std::holds_alternative<graph::BatchNorm>(node.op)) {
      if (node.inputs.size() == 2) return is_cheap_input(node.inputs[1]);
      // Dropping the result of a batch norm with a single input pays if convolutions read it. With "all" and without a
      // ReLU, it also pays if a residual sum reads it.
      return is_needed(id, Need::Later) || (is_all_ && is_needed(id, Need::Result));
    }
    const auto* concat = std::get_if<graph::Concat>(&node.op);
    if (!is_all_ || concat == nullptr || concat->is_virtual || !is_needed(id, Need::Later)) return false;
    std::int64_t dear = 0;
    for (const NodeId input : node.inputs) dear += is_cheap_input(input) ? 0 : graph_.node(input).shape.elements();
    return 2 * dear <= node.shape.elements();
  }

  const graph::Graph& graph_;
  bool is_all_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> is_dropped_;
};
}  // namespace

std::vector<Source> sources_in_backward(const graph::Graph& graph, std::string_view recompute) {
  if (recompute == "none") return std::vector<Source>(graph.nodes().size(), Source::Kept);
  if (recompute != "auto" && recompute != "all") {
    throw ConfigError(error_text("engine.plan", "recompute", "auto, none or all", std::string(recompute), "auto"));
  }
  return Choice(graph, recompute == "all").sources();
}

}  // namespace roentgen::engine
