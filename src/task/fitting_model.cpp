// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/fitting_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/model.h"
#include "task/model.h"
#include "train/weight_names.h"

namespace roentgen::task {
namespace {

/// Network, with its differences from the weights.
struct Candidate {
  FittingModel model;
  train::LoadReport report;

  [[nodiscard]] std::size_t differences() const {
    return report.missing.size() + report.unexpected.size() + report.misshapen.size();
  }
};

// Copies names and shapes of tensors, without their values.
std::vector<train::NamedTensor> outlines_of(const std::vector<train::NamedTensor>& tensors) {
  std::vector<train::NamedTensor> outlines;
  for (const train::NamedTensor& tensor : tensors) {
    outlines.push_back({.name = tensor.name, .shape = tensor.shape, .values = {}});
  }
  return outlines;
}

// Size of one axis of a parameter's tensor; `other` if the tensor is missing or has fewer axes.
std::int64_t size_in(const std::vector<train::NamedTensor>& tensors, const graph::Parameter& parameter, int axis,
                     std::int64_t other) {
  const auto found = std::ranges::find(tensors, parameter.name, &train::NamedTensor::name);
  return found == tensors.end() || found->shape.rank() <= axis ? other : found->shape[axis];
}

// Compares one network with the tensors. Returns nullopt if two tensors would get the same name.
std::optional<Candidate> candidate_of(const train::ModelRecipe& recipe, std::vector<train::NamedTensor> outlines) {
  ModelShape shape{.batch = 1, .channels = 3, .image_px = own_image_px(recipe), .labels = 1000};
  const graph::Graph usual = make_model(recipe, shape);
  if (!train::rename_tensors(outlines, usual.parameters(), "")) return {};
  const graph::Node& head = usual.node(usual.output("logits"));
  shape.labels = std::max<std::int64_t>(size_in(outlines, usual.parameter(head.parameters[0]), 0, shape.labels), 1);
  if (size_in(outlines, usual.parameters().front(), 1, shape.channels) == 1) shape.channels = 1;
  graph::Graph graph = make_model(recipe, shape);
  train::LoadReport report = train::compare(outlines, graph.parameters());
  return Candidate{.model = {.name = recipe.name, .auxiliary = recipe.auxiliary, .graph = std::move(graph)},
                   .report = std::move(report)};
}

}  // namespace

FittingModel fit_model(std::vector<train::NamedTensor>& tensors, const std::string& name, std::string_view what) {
  std::vector<std::string> names;
  for (const std::string_view known : models::model_names()) names.emplace_back(known);
  if (!name.empty()) names = {name};
  const std::vector<train::NamedTensor> outlines = outlines_of(tensors);
  std::optional<Candidate> closest;
  for (const std::string& each : names) {
    for (const bool auxiliary : {true, false}) {
      auto candidate = candidate_of({.name = each, .auxiliary = auxiliary}, outlines);
      if (!candidate || (closest && candidate->differences() >= closest->differences())) continue;
      closest = std::move(candidate);
    }
    if (closest && closest->report.is_clean()) break;
  }
  if (!closest || !closest->report.is_clean()) {
    throw ConfigError(error_text("task.weights", what,
                                 closest ? "the tensors of " + closest->model.name : "weights of a known network",
                                 closest ? closest->report.text() : "unknown tensor names",
                                 fmt::format("weights of one of {}", fmt::join(models::model_names(), ", "))));
  }
  static_cast<void>(train::rename_tensors(tensors, closest->model.graph.parameters(), what).or_throw<ConfigError>());
  return std::move(closest->model);
}

}  // namespace roentgen::task
