// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects values that are dropped after forward and recomputed in backward. Only values that one pass over memory can
// recompute qualify. These are results of batch norms, and concatenations of such results. A batch norm needs only its
// input and the statistics that backward keeps anyway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace roentgen::engine {

/// How backward gets a value.
enum class Source : std::uint8_t {
  Kept,      ///< the value stays in memory after forward
  Backward,  ///< the backward of its own op recomputes it while it reads the input anyway; readers run after that
  OnDemand,  ///< a separate entry recomputes it before its first reader
};

/// Returns the Source of every node's value. `recompute` is CompileOptions::recompute: "none", "auto" or "all". Throws
/// ConfigError for any other text.
/// - "auto": recomputes values for which Source::Backward is enough: values that only convolutions need, and every
/// second sum in a chain of residual blocks. The sum of the block before must still be in memory.
/// - "all": recomputes also, on demand, concatenations and whole chains of residual sums from the start of their stage.
[[nodiscard]] std::vector<Source> sources_in_backward(const graph::Graph& graph, std::string_view recompute);

}  // namespace roentgen::engine
