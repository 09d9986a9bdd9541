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

/// Summary of one node.
struct SummaryRow {
  std::string node;  ///< name of the node
  std::string op;    ///< name of the op
  Shape output;      ///< shape of the output value
  /// Number of elements in the node's trained parameters.
  std::int64_t parameters = 0;
  /// Multiply-adds of one forward pass over the whole batch.
  std::int64_t multiply_adds = 0;
  /// Bytes of the output, stored as f32. An engine may store less (virtual concat, in-place ReLU); see its memory
  /// report.
  std::int64_t activation_bytes = 0;
};

/// Summary of a graph: all nodes including inputs, and their sums.
struct Summary {
  std::string name;              ///< name of the graph
  std::vector<SummaryRow> rows;  ///< one row per node, in order
  std::int64_t parameters = 0;   ///< elements of all trained parameters
  /// Number of elements in running statistics, which are saved but not trained.
  std::int64_t state_elements = 0;
  std::int64_t multiply_adds = 0;     ///< multiply-adds of one forward pass over the whole batch
  std::int64_t activation_bytes = 0;  ///< bytes of all outputs, stored as f32
};

/// Summarises all nodes of a graph.
[[nodiscard]] Summary summarise(const Graph& graph);
/// Text table with one line per node, followed by the sums. Ends with a newline.
[[nodiscard]] std::string to_text(const Summary& summary);
/// Returns the summary for JSON: {"name", "parameters", "state_elements", "multiply_adds", "activation_bytes", "nodes":
/// [{"node", "op", "shape", "parameters", "multiply_adds", "activation_bytes"}]}.
[[nodiscard]] Value to_value(const Summary& summary);

}  // namespace roentgen::graph
