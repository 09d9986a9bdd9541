// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Calls a function with the concrete type of an op.
#pragma once

#include <type_traits>
#include <variant>

#include "graph/op_list.h"

namespace roentgen::graph {

/// Calls visit(op) with the concrete type of the op; does nothing for Input.
template <typename Visit>
void visit_op(const Op& op, const Visit& visit) {
  std::visit(
      [&](const auto& one) {
        if constexpr (!std::is_same_v<decltype(one), const Input&>) visit(one);
      },
      op);
}

}  // namespace roentgen::graph
