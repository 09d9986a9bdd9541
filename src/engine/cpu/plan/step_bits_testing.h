// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs one training step on random inputs and returns the resulting bits. For tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/cpu/plan/executable.h"

namespace roentgen::engine::cpu {

/// Fills all inputs of slot 0 with random values: normal numbers; labels 0 or 1, none of them masked.
inline void fill_inputs(Executable& executable) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const std::string& name = executable.inputs()[i].name;
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), 0);
    Random random(11, RandomStage::Test, i);
    for (std::size_t k = 0; k + sizeof(float) <= bytes.size(); k += sizeof(float)) {
      auto value = static_cast<float>(random.normal());
      if (name == "labels") value = random.chance(0.5) ? 1.0F : 0.0F;
      if (name == "mask") value = 1.0F;
      std::memcpy(bytes.data() + k, &value, sizeof(float));
    }
  }
}

/// Runs a step and returns the gradient or running statistic of each parameter, in the order of the graph.
inline std::vector<std::vector<float>> bits_of_one_step(Executable& executable) {
  initialise(executable, 7);
  fill_inputs(executable);
  executable.forward();
  executable.backward(nullptr);
  std::vector<std::vector<float>> bits;
  for (std::size_t i = 0; i < executable.graph().parameters().size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const bool is_trained = graph::is_trained(executable.graph().parameter(index).role);
    bits.push_back(is_trained ? executable.store_gradient(index) : executable.store(index));
  }
  return bits;
}

}  // namespace roentgen::engine::cpu
