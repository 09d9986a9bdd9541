// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "graph/loss.h"
#include "graph/passes/rewrite.h"
#include "graph/text.h"
#include "models/model.h"
#include "tests/parity/formula.h"

namespace roentgen::parity {
namespace {
graph::Graph parsed_graph(const Golden& golden) {
  std::ifstream file(golden_path(golden.graph));
  std::ostringstream text;
  text << file.rdbuf();
  const graph::Symbols symbols{
      .batch = golden.image[0], .channels = golden.image[1], .image_px = golden.image[2], .labels = golden.labels};
  return graph::with_loss(graph::parse_graph(text.str(), golden.graph, symbols).or_throw<ConfigError>(), {});
}

/// Sets all dropout rates to 0, because no two programs draw the same masks.
graph::Graph without_dropout(const graph::Graph& graph) {
  return graph::rewrite(graph, [&](graph::NodeId id) {
    graph::Replacement same = graph::keep(graph, id);
    if (auto* dropout = std::get_if<graph::Dropout>(&same.op)) dropout->probability = 0.0;
    return same;
  });
}

std::int64_t input_index(const engine::Executable& executable, std::string_view name) {
  const auto& inputs = executable.inputs();
  const auto spec = std::find_if(inputs.begin(), inputs.end(), [&](const auto& s) { return s.name == name; });
  RG_ASSERT(spec != inputs.end() && spec->dtype == DType::F32);
  return spec - inputs.begin();
}

const Shape& input_shape(const engine::Executable& executable, std::string_view name) {
  return executable.inputs()[static_cast<std::size_t>(input_index(executable, name))].shape;
}

void fill_slot(engine::Executable& executable, std::string_view name, const std::vector<float>& values) {
  const std::span<std::byte> slot = executable.slot(input_index(executable, name), 0);
  RG_ASSERT(slot.size() == values.size() * sizeof(float));
  std::memcpy(slot.data(), values.data(), slot.size());
}

/// Adds the squared error of every gradient. Fails unless network and golden file have the same parameters.
void add_gradient_errors(const engine::Executable& executable, const GoldenPass& golden,
                         std::map<std::string, double>& squares) {
  const auto& parameters = executable.graph().parameters();
  std::size_t trained = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!graph::is_trained(parameters[i].role)) continue;
    ++trained;
    const std::vector<float> gradient = executable.store_gradient(static_cast<std::int32_t>(i));
    squares[parameters[i].name] +=
        std::pow(relative_error(parameters[i].name, gradient, golden.gradients.at(parameters[i].name)), 2.0);
  }
  RG_ASSERT(trained == golden.gradients.size());
}

std::map<std::string, double> running_errors(const engine::Executable& executable, const Golden& golden) {
  std::map<std::string, double> errors;
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (graph::is_trained(parameters[i].role)) continue;
    const std::vector<float> values = executable.store(static_cast<std::int32_t>(i));
    errors[parameters[i].name] = relative_error(parameters[i].name, values, golden.running.at(parameters[i].name));
  }
  RG_ASSERT(errors.size() == golden.running.size());
  return errors;
}
}  // namespace

graph::Graph model_graph(std::string_view model, const Shape& image, std::int64_t labels, std::int64_t width) {
  const models::ModelConfig config{.name = std::string(model),
                                   .labels = labels,
                                   .channels = image[1],
                                   .image_px = image[2],
                                   .batch = image[0],
                                   .width = width};
  return graph::with_loss(without_dropout(models::build_model(config)), {});
}

graph::Graph graph_of(const Golden& golden) {
  if (golden.model.empty()) return parsed_graph(golden);
  return model_graph(golden.model, golden.image, golden.labels, golden.width);
}

void load_formula(engine::Executable& executable) {
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    executable.load(static_cast<std::int32_t>(i), parameter_values(parameters[i]));
  }
}

void feed(engine::Executable& executable, std::int64_t index) {
  const Batch batch = make_batch(index, input_shape(executable, "image"), input_shape(executable, "labels")[1]);
  fill_slot(executable, "image", batch.image);
  fill_slot(executable, "labels", batch.labels);
  fill_slot(executable, "mask", batch.mask);
  executable.bind_slot(0);
}

double loss_of(const engine::Executable& executable) { return executable.read("loss")[0]; }

Comparison compare_training(const Golden& golden, engine::Executable& executable) {
  Comparison comparison;
  for (std::size_t b = 0; b < golden.training.size(); ++b) {
    feed(executable, static_cast<std::int64_t>(b));
    executable.forward();
    executable.backward({});
    const GoldenPass& pass = golden.training[b];
    comparison.logits_max_abs =
        std::max(comparison.logits_max_abs, max_difference(executable.read("logits"), pass.logits));
    comparison.loss_max_abs = std::max(comparison.loss_max_abs, std::abs(loss_of(executable) - pass.loss));
    add_gradient_errors(executable, pass, comparison.gradients);
    if (b == 0) comparison.running = running_errors(executable, golden);
  }
  for (auto& [name, square] : comparison.gradients) {
    square = std::sqrt(square / static_cast<double>(golden.training.size()));
  }
  return comparison;
}

std::vector<double> values_of(const std::map<std::string, double>& map) {
  std::vector<double> values;
  for (const auto& [name, value] : map) values.push_back(value);
  return values;
}

}  // namespace roentgen::parity
