// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that every built-in model has heat-maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/engine.h"
#include "graph/graph.h"
#include "models/model.h"
#include "train/heat_head.h"
#include "train/heatmap.h"

namespace roentgen::train {
namespace {
graph::Graph small_model(std::string_view name) {
  return models::build_model(
      {.name = std::string(name), .labels = 3, .image_px = 128, .batch = 1, .width = 8, .auxiliary = false});
}

TEST(HeatMapOfEveryModel, comes_from_its_last_features) {
  for (const std::string_view name : models::model_names()) {
    const HeatHead head = find_heat_head(small_model(name));
    EXPECT_EQ(head.method, name.starts_with("vgg") ? HeatMethod::GradCam : HeatMethod::Cam) << name;
  }
}

double bias_of(const engine::Executable& executable, const HeatHead& head, std::int64_t label) {
  for (const std::int32_t parameter : executable.graph().node(head.linear).parameters) {
    if (executable.graph().parameter(parameter).role != graph::Role::Bias) continue;
    return executable.store(parameter).at(static_cast<std::size_t>(label));
  }
  return 0.0;
}

double logit_of(const engine::Executable& executable, std::int64_t label) {
  return executable.read("logits")[static_cast<std::size_t>(label)];
}

void expect_mean_is_logit(const std::vector<float>& values, const engine::Executable& executable, const HeatHead& head,
                          std::int64_t label) {
  double sum = 0.0, size = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value);
    size += std::abs(static_cast<double>(value));
  }
  const auto cells = static_cast<double>(values.size());
  // Tolerance for sums of at most 1,500 products in float32.
  EXPECT_NEAR(sum / cells + bias_of(executable, head, label), logit_of(executable, label), 1e-5 * (1.0 + size / cells))
      << executable.graph().name();
}

TEST(HeatMapOfEveryModel, has_finite_cells_that_differ_and_of_a_pooled_head_average_to_the_logit) {
  for (const std::string_view name : models::model_names()) {
    graph::Graph graph = small_model(name);
    const HeatHead head = find_heat_head(graph);
    engine::CompileOptions options;
    options.form = engine::Form::Inference;
    options.threads = 1;
    const auto executable = engine::make_engine("cpu")->compile(with_features(std::move(graph), head), options);
    engine::initialise(*executable, 1);
    const auto slot = executable->slot(0, 0);
    const std::span pixels(reinterpret_cast<float*>(slot.data()), slot.size() / sizeof(float));
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::sin(0.05F * static_cast<float>(i % 997));
    executable->bind_slot(0);
    executable->forward();
    HeatMapper mapper(*executable, head);
    bool is_flat = true;
    for (std::int64_t label = 0; label < 3; ++label) {
      const std::vector<float> values = mapper.map(0, label).values;
      if (head.method == HeatMethod::Cam) expect_mean_is_logit(values, *executable, head, label);
      EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) << name;
      is_flat = is_flat && std::ranges::min(values) == std::ranges::max(values);
    }
    EXPECT_FALSE(is_flat) << name;
  }
}
}  // namespace
}  // namespace roentgen::train
