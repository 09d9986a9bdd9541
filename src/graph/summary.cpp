// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/summary.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace roentgen::graph {
namespace {
using Line = std::array<std::string, 6>;

/// Formats a number with commas: "25,557,032".
std::string with_commas(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string table_text(const std::vector<Line>& lines) {
  std::array<std::size_t, 6> widths{};
  for (const Line& line : lines) {
    for (std::size_t column = 0; column < line.size(); ++column) {
      widths[column] = std::max(widths[column], line[column].size());
    }
  }
  std::string text;
  for (const Line& line : lines) {
    for (std::size_t column = 0; column < line.size(); ++column) {
      const std::string padding(widths[column] - line[column].size(), ' ');
      const bool is_number = column >= 3;
      text += is_number ? "  " + padding + line[column] : line[column] + padding + (column < 2 ? "  " : "");
    }
    text += '\n';
  }
  return text;
}
}  // namespace

Summary summarise(const Graph& graph) {
  Summary summary;
  summary.name = graph.name();
  for (const Node& node : graph.nodes()) {
    SummaryRow row{.node = node.name,
                   .op = std::string(op_name(node.op)),
                   .output = node.shape,
                   .multiply_adds = node.multiply_adds,
                   .activation_bytes = node.shape.elements() * static_cast<std::int64_t>(size_of(DType::F32))};
    for (const std::int32_t id : node.parameters) {
      const Parameter& parameter = graph.parameter(id);
      (is_trained(parameter.role) ? row.parameters : summary.state_elements) += parameter.shape.elements();
    }
    summary.parameters += row.parameters;
    summary.multiply_adds += row.multiply_adds;
    summary.activation_bytes += row.activation_bytes;
    summary.rows.push_back(std::move(row));
  }
  return summary;
}

std::string to_text(const Summary& summary) {
  std::vector<Line> lines{{"node", "op", "output", "parameters", "multiply-adds", "activation bytes"}};
  for (const SummaryRow& row : summary.rows) {
    lines.push_back({row.node, row.op, row.output.text(), with_commas(row.parameters), with_commas(row.multiply_adds),
                     with_commas(row.activation_bytes)});
  }
  lines.push_back({"total", "", "", with_commas(summary.parameters), with_commas(summary.multiply_adds),
                   with_commas(summary.activation_bytes)});
  return "graph " + summary.name + "\n" + table_text(lines) +
         "state (running statistics): " + with_commas(summary.state_elements) + " elements\n";
}

Value to_value(const Summary& summary) {
  Value nodes = Value::array();
  for (const SummaryRow& row : summary.rows) {
    Value shape = Value::array();
    for (const std::int64_t dim : row.output.dims()) shape.push_back(dim);
    nodes.push_back(Value::Table{{"node", row.node},
                                 {"op", row.op},
                                 {"shape", std::move(shape)},
                                 {"parameters", row.parameters},
                                 {"multiply_adds", row.multiply_adds},
                                 {"activation_bytes", row.activation_bytes}});
  }
  return Value::Table{{"name", summary.name},
                      {"parameters", summary.parameters},
                      {"state_elements", summary.state_elements},
                      {"multiply_adds", summary.multiply_adds},
                      {"activation_bytes", summary.activation_bytes},
                      {"nodes", std::move(nodes)}};
}

}  // namespace roentgen::graph
