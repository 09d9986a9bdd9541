// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: a network of one linear layer, which the reference interpreter runs fast.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/reference/reference_engine_testing.h"
#include "graph/builder.h"

namespace roentgen::train {

using engine::reference::ReferenceEngine;
using engine::reference::ReferenceExecutable;
using engine::reference::ReferenceForm;

/// Graph image -> flatten -> linear, with the parameters "fc.weight" (labels, image_px^2) and "fc.bias" (labels).
inline graph::Graph flat_model(std::int64_t batch, std::int64_t image_px, std::int64_t labels) {
  graph::Builder builder("flat");
  const auto image = builder.input("image", Shape{batch, 1, image_px, image_px});
  const auto flat = builder.add("flat", graph::Flatten{}, {image});
  const auto logits = builder.add("fc", graph::Linear{.out_features = labels}, {flat});
  builder.output("logits", logits);
  return std::move(builder).build();
}

}  // namespace roentgen::train
