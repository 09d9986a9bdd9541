// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <algorithm>

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

std::vector<std::string_view> split(std::string_view choice) {
  std::vector<std::string_view> names;
  while (!choice.empty()) {
    const std::size_t comma = choice.find(',');
    names.push_back(choice.substr(0, comma));
    choice = comma == std::string_view::npos ? std::string_view{} : choice.substr(comma + 1);
  }
  return names;
}

std::vector<std::string_view> chosen_passes(std::string_view choice) {
  if (choice == "off") return {};
  const std::vector<std::string_view> chosen = choice == "on" ? pass_names() : split(choice);
  for (const std::string_view name : chosen) {
    if (std::ranges::find(pass_names(), name) != pass_names().end()) continue;
    std::string known;
    for (const std::string_view pass : pass_names()) known.append(known.empty() ? "" : ", ").append(pass);
    throw ConfigError(error_text("graph.passes", "fuse", "on, off or names out of " + known, name, "on"));
  }
  return chosen;
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

void check_passes(std::string_view choice) { static_cast<void>(chosen_passes(choice)); }

std::vector<std::string_view> training_pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) {
    if (pass.use == Use::Always) names.push_back(pass.name);
  }
  return names;
}

Graph run_passes(const Graph& graph, std::string_view choice, Purpose purpose) {
  const std::vector<std::string_view> chosen = chosen_passes(choice);
  Graph result = graph;
  for (const Pass& pass : kPasses) {
    if (pass.use == Use::Inference && purpose == Purpose::Training) continue;
    if (std::ranges::find(chosen, pass.name) != chosen.end()) result = pass.run(result);
  }
  return result;
}

}  // namespace roentgen::graph
