// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/folding.h"

#include <type_traits>

#include "core/error.h"

namespace roentgen::engine::cpu {

bool lower_folded(graph::NodeId id, const Folding& folding, Lowering& lowering) {
  return std::visit(
      [&](const auto& op) {
        using Layer = std::decay_t<decltype(op)>;
        if constexpr (std::is_same_v<Layer, graph::Conv2d> || std::is_same_v<Layer, graph::Linear>) {
          if (lower_with(op, id, folding, lowering)) return true;
          lower_with(op, id, {.result = id}, lowering);
        } else {
          RG_ASSERT(false);
        }
        return false;
      },
      lowering.node(id).op);
}

}  // namespace roentgen::engine::cpu
