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

/// How backward comes by a value.
enum class Source : std::uint8_t {
  Kept,      ///< it was never dropped
  Backward,  ///< its own op's backward writes it while it reads the input anyway; who needs it waits for that
  OnDemand,  ///< an entry of its own computes it before the first that needs it
};

/// A way for every node of a graph that is trained, by CompileOptions::recompute: "none", "auto" or "all". ConfigError
/// for another word.
/// - "auto": values for which Source::Backward is enough: what convolutions alone need, and every second sum of a chain
///   of residual blocks, since the block before has to be there.
/// - "all": also whole chains of residual sums from the beginning of their stage, and concatenations, on demand.
[[nodiscard]] std::vector<Source> sources_in_backward(const graph::Graph& graph, std::string_view recompute);

}  // namespace roentgen::engine
