// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cost of a graph before any engine lowers it: the table of `roentgen inspect --model`.
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
  std::string node;  ///< name of the node
  std::string op;    ///< name of the op
  Shape output;      ///< shape of the value
  /// Elements of trained parameters.
  std::int64_t parameters = 0;
  /// Multiply-adds of one forward over the batch.
  std::int64_t multiply_adds = 0;
  /// Bytes of the output, held as f32. An engine keeps less (virtual concatenation, in-place ReLU): see its memory
  /// report.
  std::int64_t activation_bytes = 0;
};

/// All nodes, inputs included, and their sums.
struct Summary {
  std::string name;              ///< name of the graph
  std::vector<SummaryRow> rows;  ///< rows in the order of the nodes
  std::int64_t parameters = 0;   ///< elements of all trained parameters
  /// Elements of running statistics, which are saved and not trained.
  std::int64_t state_elements = 0;
  std::int64_t multiply_adds = 0;     ///< multiply-adds of one forward over the batch
  std::int64_t activation_bytes = 0;  ///< bytes of all values, held as f32
};

/// Rows and sums of a graph.
[[nodiscard]] Summary summarise(const Graph& graph);
/// A table with one line a node and the totals behind, columns aligned, newline at the end.
[[nodiscard]] std::string to_text(const Summary& summary);
/// {"name", "parameters", "state_elements", "multiply_adds", "activation_bytes", "nodes": [{"node", "op", "shape",
/// "parameters", "multiply_adds", "activation_bytes"}]}.
[[nodiscard]] Value to_value(const Summary& summary);

}  // namespace roentgen::graph
