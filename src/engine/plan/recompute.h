// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects values of a step that are dropped after forward and recomputed in backward. Only values that take one pass
// over memory qualify. These are results of batch norms, which need only their input and the statistics that backward
// keeps anyway, and concatenations of such results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace roentgen::engine {

/// Source of a value in backward.
enum class Source : std::uint8_t {
  Kept,      ///< it was never dropped
  Backward,  ///< its own op's backward writes it while it reads the input anyway; readers wait for that
  OnDemand,  ///< a separate entry computes it before its first reader
};

/// Source of the value of every node in backward, by CompileOptions::recompute: "none", "auto" or "all". ConfigError
/// for another word.
/// - "auto": values for which Source::Backward is enough. These are values that only convolutions need, and every
///   second sum of a chain of residual blocks, since the block before has to be there.
/// - "all": also whole chains of residual sums from the beginning of their stage, and concatenations, on demand.
[[nodiscard]] std::vector<Source> sources_in_backward(const graph::Graph& graph, std::string_view recompute);

}  // namespace roentgen::engine
