// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs steps of whole networks on the emulated CUDA engine. Test code only.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "engine/conformance/conformance.h"
#include "graph/loss.h"
#include "models/model.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::emulated {

inline constexpr std::uint64_t kSeed = 7;

/// A test case: a classifier of `labels` labels with a loss, random targets and no masked label.
[[nodiscard]] inline engine::conformance::Case with_targets(const std::string& name, graph::Graph model,
                                                            std::int64_t batch, std::int64_t labels) {
  engine::conformance::Case made{.name = "network." + name, .graph = graph::with_loss(std::move(model), {})};
  made.values["labels"] = engine::conformance::random_labels(batch * labels);
  made.values["mask"] = std::vector<float>(static_cast<std::size_t>(batch * labels), 1.0F);
  return made;
}

/// A test case: a network with 3 labels and a loss.
[[nodiscard]] inline engine::conformance::Case network(const std::string& name, std::int64_t batch, models::Stem stem,
                                                       std::int64_t width) {
  const models::ModelConfig config{
      .name = name, .labels = 3, .channels = 1, .image_px = 32, .batch = batch, .width = width, .stem = stem};
  return with_targets(name, models::build_model(config), batch, 3);
}

/// Fills a slot with random images and labels.
inline void fill_slot(engine::Executable& executable, int slot, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const auto& spec = executable.inputs()[i];
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), slot);
    if (spec.dtype == DType::U16) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
      continue;
    }
    std::vector<float> values(bytes.size() / sizeof(float));
    for (float& value : values) {
      value = spec.name == "mask"     ? 1.0F
              : spec.name == "labels" ? static_cast<float>(random.below(2))
                                      : static_cast<float>(random.normal());
    }
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
}

/// Parameters and losses after some steps of an optimizer with two slots.
struct Trained {
  std::vector<float> parameters;
  std::vector<float> losses;
};

/// Treatment of a slot after backward(): Kept leaves it unchanged, Reused fills it again at once, as the trainer may.
enum class Slots { Kept, Reused };

/// Trains as the trainer does: fills the next slot and reads the loss while the step may still run.
/// @param on_bucket receives each gradient bucket; empty: the backward is one piece
[[nodiscard]] inline Trained train(const engine::conformance::Case& tested, const engine::CompileOptions& options,
                                   EmulatedEngine engine, const engine::UpdateRule& rule, int steps,
                                   Slots slots = Slots::Reused, const engine::BucketCallback& on_bucket = {}) {
  const std::unique_ptr<engine::Executable> executable = engine.compile(tested.graph, options);
  initialise(*executable, kSeed);
  std::vector<std::unique_ptr<engine::Arena>> state;
  std::vector<engine::Arena*> arenas;
  for (std::size_t i = 0; i < state_of(rule).size(); ++i) {
    state.push_back(executable->make_arena(engine::ArenaKind::Trained));
    arenas.push_back(state.back().get());
  }
  std::vector<engine::UpdateRange> ranges;
  for (const auto& slice : executable->slices()) {
    ranges.push_back({.begin = slice.begin, .count = slice.count, .weight_decay = 1e-3, .is_layer = true});
  }
  Trained trained;
  fill_slot(*executable, 0, kSeed);
  for (int step = 0; step < steps; ++step) {
    executable->bind_slot(step % 2);
    executable->set_step(step);
    executable->begin_update();
    executable->forward();
    executable->backward(on_bucket);
    if (slots == Slots::Reused) std::ranges::fill(executable->slot(0, step % 2), std::byte{0xEE});
    executable->update(rule, {.target = executable->parameters(),
                              .source = executable->gradients(),
                              .state = arenas,
                              .ranges = ranges,
                              .lr = 0.05 / (1 + step),
                              .step = step + 1,
                              .clip_norm = 1.0});
    fill_slot(*executable, (step + 1) % 2, kSeed + static_cast<std::uint64_t>(step) + 1);
    trained.losses.push_back(executable->read("loss")[0]);
  }
  trained.parameters = executable->parameters().values();
  return trained;
}

}  // namespace roentgen::emulated
