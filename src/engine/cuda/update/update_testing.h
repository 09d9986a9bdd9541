// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of update rules against the double reference, on any device.
#pragma once

#include <variant>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/update/updates.h"
#include "engine/reference/update.h"
#include "engine/update/rule_cases_testing.h"

namespace roentgen::engine::cuda {
namespace update_testing {

/// Arenas of one update, with random elements in device memory.
struct Arenas {
  Arenas(runtime::Device& device, runtime::Stream& stream, std::int64_t elements, std::size_t states,
         std::uint32_t seed)
      : target(device, stream, elements), source(device, stream, elements) {
    const auto count = static_cast<std::size_t>(elements);
    target.upload(0, random_values(DType::F32, count, seed));
    source.upload(0, random_values(DType::F32, count, seed + 1));
    for (std::size_t i = 0; i < states; ++i) {
      owned.push_back(std::make_unique<Arena>(device, stream, elements));
      // Keeps E[g^2] > E[g]^2, as centered RMSProp assumes: values are 0.5 to 0.6, and their squares below 0.36.
      std::vector<float> values = random_values(DType::F32, count, seed + 2 + static_cast<std::uint32_t>(i), 0, 0.03F);
      for (float& value : values) value = 0.5F + std::abs(value);
      owned.back()->upload(0, values);
      state.push_back(owned.back().get());
    }
  }
  Arena target, source;
  std::vector<std::unique_ptr<Arena>> owned;
  std::vector<Arena*> state;
};

/// Runs the rule's kernel on the ranges of `work`.
inline void run(runtime::Device& device, runtime::Stream& stream, const UpdateRule& rule, const UpdateWork& work) {
  const std::vector<UpdatePart> parts = update_parts(work.ranges);
  const DeviceArray<UpdatePart> on_device(device, stream, parts);
  const DeviceArray<UpdateLayer> layers(device, stream, update_layers(work.ranges, parts));
  const DeviceArray<double> squares(device, stream, 2 * parts.size());
  const DeviceArray<float> factors(device, stream, work.ranges.size());
  const DeviceArray<StepState> state(device, stream, std::vector{StepState{.scale = static_cast<float>(work.scale)}});
  const UpdateCall call{.stream = stream,
                        .work = work,
                        .state = state.get(),
                        .parts = on_device.get(),
                        .part_count = std::ssize(parts),
                        .layers = layers.get(),
                        .squares = squares.get(),
                        .factors = factors.get()};
  std::visit([&](const auto& one) { update(one, call); }, rule);
  stream.synchronize();
}

}  // namespace update_testing

/// Checks every rule on ranges of these lengths. Elements in the gaps between ranges must not change.
[[nodiscard]] inline Worst check_updates(runtime::Device& device, std::span<const std::int64_t> counts,
                                         std::uint32_t seed) {
  Worst worst;
  const auto stream = device.make_stream();
  std::vector<UpdateRange> ranges;
  std::int64_t size = 0;
  for (const std::int64_t count : counts) {
    const bool is_layer = ranges.size() % 2 == 0;
    ranges.push_back({.begin = size, .count = count, .weight_decay = is_layer ? 1e-2 : 0.0, .is_layer = is_layer});
    size += count + 3;  // a gap of 3 leaves the next range unaligned
  }
  for (const RuleCase& tested : rule_cases()) {
    const UpdateRule& rule = tested.rule;
    const std::size_t states = state_of(rule).size();
    update_testing::Arenas got(device, *stream, size, states, seed), wanted(device, *stream, size, states, seed);
    const auto work = [&](update_testing::Arenas& arenas) {
      return UpdateWork{.target = arenas.target,
                        .source = arenas.source,
                        .state = arenas.state,
                        .ranges = ranges,
                        .lr = 0.01,
                        .step = 3,
                        .scale = is_optimizer(rule) ? 0.25 : 1.0};
    };
    update_testing::run(device, *stream, rule, work(got));
    reference::update(rule, work(wanted));
    const std::string name = tested.name + ", array ";
    for (std::size_t array = 0; array <= states; ++array) {
      const std::vector<float> a = (array == 0 ? got.target : *got.state[array - 1]).values();
      const std::vector<float> b = (array == 0 ? wanted.target : *wanted.state[array - 1]).values();
      // Allows for a few float32 operations on values near 1.
      for (std::size_t i = 0; i < a.size(); ++i) worst.add(name + std::to_string(array), i, a[i], b[i], 0x1p-20);
    }
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
