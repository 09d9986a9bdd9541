// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a graph costs, before any engine sees it: the table of `roentgen inspect --model`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/shape.h"
#include "core/value.h"
#include "graph/graph.h"

namespace roentgen::graph {

/// One node.
struct SummaryRow {
  std::string node;
  std::string op;
  Shape output;
  /// Elements of trained parameters.
  std::int64_t parameters = 0;
  /// Of one forward over the batch.
  std::int64_t multiply_adds = 0;
  /// Of the output, held as f32. What an engine keeps is less (virtual concatenation, in-place ReLU): see its memory
  /// report.
  std::int64_t activation_bytes = 0;
};

/// All nodes, inputs included, and their sums.
struct Summary {
  std::string name;
  std::vector<SummaryRow> rows;
  std::int64_t parameters = 0;
  /// Elements of running statistics, which are saved and not trained.
  std::int64_t state_elements = 0;
  std::int64_t multiply_adds = 0;
  std::int64_t activation_bytes = 0;
};

[[nodiscard]] Summary summarise(const Graph& graph);
/// A table with one line a node and the totals behind, columns aligned, newline at the end.
[[nodiscard]] std::string to_text(const Summary& summary);
/// {"name", "parameters", "state_elements", "multiply_adds", "activation_bytes", "nodes": [{"node", "op", "shape",
/// "parameters", "multiply_adds", "activation_bytes"}]}.
[[nodiscard]] Value to_value(const Summary& summary);

}  // namespace roentgen::graph
