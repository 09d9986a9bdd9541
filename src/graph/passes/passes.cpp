// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/comma_list.h"
#include "core/error.h"
#include "graph/passes/pass_list.h"

namespace roentgen::graph {
namespace {
enum class Use { Always, Inference };

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&);
  Use use;
};
#define RG_PASS_ROW(name, use) Pass{#name, &name, Use::use},
constexpr Pass kPasses[] = {RG_PASS_LIST(RG_PASS_ROW)};
#undef RG_PASS_ROW

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names = pass_names();
  names.insert(names.end(), fusion_names().begin(), fusion_names().end());
  return names;
}

void require_known(std::string_view name, std::string_view part) {
  if (has(pass_names(), name) || has(fusion_names(), name)) return;
  std::string known;
  for (const std::string_view each : all_names()) known.append(known.empty() ? "" : ", ").append(each);
  throw ConfigError(error_text("graph.passes", "fuse",
                               "on, off, names, or on,-NAME (all but NAME); the names are " + known,
                               part.empty() ? "an empty name" : part, "on"));
}

// Returns the names of the enabled passes and fusions.
std::vector<std::string_view> chosen_names(std::string_view choice) {
  if (choice == "off") return {};
  std::vector<std::string_view> chosen = comma_parts(choice);
  if (chosen.front() != "on") {
    for (const std::string_view name : chosen) require_known(name, name);
    return chosen;
  }
  std::vector<std::string_view> names = all_names();
  for (const std::string_view part : std::span(chosen).subspan(1)) {
    require_known(part.starts_with('-') ? part.substr(1) : "", part);
    std::erase(names, part.substr(1));
  }
  return names;
}

// Runs the chosen passes and calls `visit` with each pass, the graph before it and the graph after it.
template <typename Visit>
Graph run_each(const Graph& graph, std::string_view choice, Purpose purpose, const Visit& visit) {
  const std::vector<std::string_view> chosen = chosen_names(choice);
  Graph result = graph;
  for (const Pass& pass : kPasses) {
    if (pass.use == Use::Inference && purpose == Purpose::Training) continue;
    if (!has(chosen, pass.name)) continue;
    Graph after = pass.run(result);
    visit(pass.name, result, after);
    result = std::move(after);
  }
  return result;
}

// Counts the nodes whose op or inputs differ from the equally named node in `before`.
std::int64_t count_changed(const Graph& before, const Graph& after) {
  return std::ranges::count_if(after.nodes(), [&](const Node& node) {
    const NodeId old = before.find(node.name);
    return old < 0 || !(before.node(old).op == node.op) || before.node(old).inputs.size() != node.inputs.size();
  });
}
}  // namespace

const std::vector<std::string_view>& pass_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Pass& pass : kPasses) all.push_back(pass.name);
    return all;
  }();
  return names;
}

const std::vector<std::string_view>& fusion_names() {
#define RG_FUSION_NAME(name) #name,
  static const std::vector<std::string_view> names{RG_FUSION_LIST(RG_FUSION_NAME)};
#undef RG_FUSION_NAME
  return names;
}

void check_passes(std::string_view choice) { static_cast<void>(chosen_names(choice)); }

std::vector<std::string_view> training_pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) {
    if (pass.use == Use::Always) names.push_back(pass.name);
  }
  return names;
}

Graph run_passes(const Graph& graph, std::string_view choice, Purpose purpose) {
  return run_each(graph, choice, purpose, [](std::string_view, const Graph&, const Graph&) {});
}

Fusions fusions_of(std::string_view choice, Purpose purpose) {
  const std::vector<std::string_view> chosen = chosen_names(choice);
  if (purpose == Purpose::Inference) return {};
  return {
#define RG_FUSION_IS_CHOSEN(name) .name = has(chosen, #name),
      RG_FUSION_LIST(RG_FUSION_IS_CHOSEN)
#undef RG_FUSION_IS_CHOSEN
  };
}

std::vector<std::pair<std::string_view, std::int64_t>> pass_effects(const Graph& graph, std::string_view choice,
                                                                    Purpose purpose) {
  std::vector<std::pair<std::string_view, std::int64_t>> effects;
  static_cast<void>(
      run_each(graph, choice, purpose, [&](std::string_view name, const Graph& before, const Graph& after) {
        const std::int64_t changed = count_changed(before, after);
        if (changed > 0) effects.emplace_back(name, changed);
      }));
  return effects;
}

}  // namespace roentgen::graph
