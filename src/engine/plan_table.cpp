// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan_table.h"

#include <algorithm>
#include <string>

#include "graph/passes/pass_list.h"

namespace roentgen::engine {
namespace {

// Layout of an entry's result: that of the first written tensor that is not scratch.
std::string layout_of_result(const PlanEntry& entry, const Plan& plan) {
  for (const TensorId id : entry.writes) {
    const std::string& layout = plan.tensors.at(static_cast<std::size_t>(id)).layout;
    if (!layout.empty() && layout != "scratch") return layout;
  }
  return "";
}

}  // namespace

Value choice_table(const Plan& plan) {
  Value table = Value::array();
  for (const auto& [key, choice] : plan.choices) {
    Value row = Value::Table{{"name", key}, {"algorithm", choice}};
    const auto entry = std::ranges::find(plan.entries, key, &PlanEntry::name);
    const bool has_entry = entry != plan.entries.end();
    row.set("kernel", has_entry ? Value(entry->implementation) : Value());
    row.set("layout", has_entry ? Value(layout_of_result(*entry, plan)) : Value());
    table.push_back(std::move(row));
  }
  return table;
}

Value entry_table(const Plan& plan) {
  Value table = Value::array();
  for (const PlanEntry& entry : plan.entries) {
    std::size_t bytes = 0;
    for (const std::vector<TensorId>* ids : {&entry.reads, &entry.writes}) {
      for (const TensorId id : *ids) {
        const PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(id));
        if (tensor.layout != "scratch") bytes += tensor.bytes;
      }
    }
    table.push_back(Value::Table{{"name", entry.name},
                                 {"kind", entry.kind},
                                 {"implementation", entry.implementation},
                                 {"flops", entry.flops},
                                 {"bytes", bytes}});
  }
  return table;
}

Value role_table(const Plan& plan) {
  Value table = Value::array();
  for (const auto& [name, role] : plan.norm_roles) table.push_back(Value::Table{{"name", name}, {"role", role}});
  return table;
}

Value effect_table(const graph::Graph& graph, std::string_view fuse, const Plan& plan) {
  Value table = Value::array();
  for (const auto& [name, count] : graph::pass_effects(graph, fuse, graph::Purpose::Training)) {
    table.push_back(Value::Table{{"name", std::string(name)}, {"kind", "pass"}, {"times", count}});
  }
  for (const auto& [name, count] : plan.fused) {
    table.push_back(Value::Table{{"name", name}, {"kind", "fusion"}, {"times", count}});
  }
  return table;
}

}  // namespace roentgen::engine
