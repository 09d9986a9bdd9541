// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of ops. A new op needs graph/ops/x.{h,cpp}, plan entries in engine/cpu and engine/cuda, and one line
// here (its include and its X).
#pragma once

#include <variant>

#include "graph/ops/adaptive_avg_pool.h"
#include "graph/ops/add.h"
#include "graph/ops/auxiliary.h"
#include "graph/ops/avg_pool.h"
#include "graph/ops/batch_norm.h"
#include "graph/ops/concat.h"
#include "graph/ops/conv2d.h"
#include "graph/ops/dropout.h"
#include "graph/ops/flatten.h"
#include "graph/ops/linear.h"
#include "graph/ops/losses.h"
#include "graph/ops/max_pool.h"
#include "graph/ops/relu.h"
#include "graph/ops/sigmoid.h"
#include "graph/ops/silu.h"

#define RG_OP_LIST(X)    \
  X(Conv2d)              \
  X(BatchNorm)           \
  X(Relu)                \
  X(Silu)                \
  X(Sigmoid)             \
  X(MaxPool)             \
  X(AvgPool)             \
  X(GlobalAvgPool)       \
  X(AdaptiveAvgPool)     \
  X(Linear)              \
  X(Add)                 \
  X(Concat)              \
  X(Dropout)             \
  X(Flatten)             \
  X(Auxiliary)           \
  X(SigmoidCrossEntropy) \
  X(SoftmaxCrossEntropy)

namespace roentgen::graph {

/// Input of a graph: images, labels or mask. Not in the list of ops, because no engine computes it.
struct Input {
  friend bool operator==(const Input&, const Input&) = default;
};

#define RG_OP_ALTERNATIVE(Op) , Op
/// Any op in the list, or Input.
using Op = std::variant<Input RG_OP_LIST(RG_OP_ALTERNATIVE)>;
#undef RG_OP_ALTERNATIVE

}  // namespace roentgen::graph
