// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/plural.h"
#include "train/weight_names.h"
#include "train/weights_file.h"

namespace roentgen::train {
namespace {

NamedTensor* find(std::vector<NamedTensor>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_fold(std::string_view what, std::string_view expected, std::string_view got) {
  throw ConfigError(error_text("train.import", what, expected, got, "another model.name or preprocess.channels"));
}

// Finds the first convolution, which reads the input "image".
graph::NodeId input_convolution(const graph::Graph& model) {
  const graph::NodeId image = model.find("image");
  for (std::size_t i = 0; i < model.nodes().size(); ++i) {
    const graph::Node& node = model.nodes()[i];
    if (std::find(node.inputs.begin(), node.inputs.end(), image) == node.inputs.end()) continue;
    return std::holds_alternative<graph::Conv2d>(node.op) ? static_cast<graph::NodeId>(i) : -1;
  }
  return -1;
}

// Subtracts the constant b in a later node: from the bias of the convolution, or from the running mean of the batch
// norm that follows.
void move_constant(std::vector<NamedTensor>& tensors, const graph::Graph& model, graph::NodeId convolution,
                   const std::vector<double>& constant) {
  const std::string& name = model.node(convolution).name;
  NamedTensor* bias = find(tensors, name + ".bias");
  const double sign = bias != nullptr ? 1.0 : -1.0;
  NamedTensor* holder = bias;
  if (holder == nullptr) {
    const auto consumers = model.consumers();
    for (const graph::NodeId reader : consumers[static_cast<std::size_t>(convolution)]) {
      if (std::holds_alternative<graph::BatchNorm>(model.node(reader).op)) {
        holder = find(tensors, model.node(reader).name + ".running_mean");
      }
    }
  }
  if (holder == nullptr || holder->values.size() != constant.size()) {
    refuse_fold(name, "a bias or a following batch norm, to convert the normalisation of the input", "neither");
  }
  for (std::size_t i = 0; i < constant.size(); ++i) {
    holder->values[i] = static_cast<float>(static_cast<double>(holder->values[i]) + sign * constant[i]);
  }
}

bool has_same_input(const data::Preprocess& a, const data::Preprocess& b) {
  return a.channels == b.channels && a.mean == b.mean && a.stddev == b.stddev;
}

void fold(ImportSource& source, const ImportTarget& target, std::vector<std::string>& notes) {
  if (has_same_input(source.preprocess, target.preprocess)) return;
  const graph::NodeId convolution = input_convolution(target.model);
  if (convolution < 0)
    refuse_fold(source.what, "a convolution as first layer, to convert the normalisation of the input", "none");
  NamedTensor* weights = find(source.tensors, target.model.node(convolution).name + ".weight");
  // load_weights() reports such a tensor as missing or misshapen.
  if (weights == nullptr || weights->shape.rank() != 4) return;
  if (weights->shape[1] != source.preprocess.channels) {
    refuse_fold(source.what + ": " + weights->name,
                fmt::format("{} input channels, as in the preprocessing of the file", source.preprocess.channels),
                weights->shape.text());
  }
  const std::vector<double> constant = fold_input(*weights, source.preprocess, target.preprocess);
  move_constant(source.tensors, target.model, convolution, constant);
  notes.push_back(fmt::format("{}: input normalisation converted from \"{}\" to \"{}\"", weights->name,
                              source.preprocess.text(), target.preprocess.text()));
}

// Finds the nodes whose outputs are logits, of the model and of its auxiliary classifiers.
std::vector<graph::NodeId> heads_of(const graph::Graph& model) {
  std::vector<graph::NodeId> heads;
  if (const graph::NodeId logits = model.output("logits"); logits >= 0) heads.push_back(logits);
  for (const graph::Node& node : model.nodes()) {
    if (std::holds_alternative<graph::Auxiliary>(node.op)) heads.push_back(node.inputs[0]);
  }
  return heads;
}

// Replaces the parameters of a node that gives logits by random ones if the number or the names of labels differ.
void reset_head(ImportSource& source, const ImportTarget& target, graph::NodeId head, std::vector<std::string>& notes) {
  bool is_other = !source.labels.empty() && source.labels != target.labels;
  for (const std::int32_t id : target.model.node(head).parameters) {
    const graph::Parameter& parameter = target.model.parameter(id);
    const NamedTensor* tensor = find(source.tensors, parameter.name);
    is_other = is_other || (tensor != nullptr && tensor->shape.rank() > 0 && tensor->shape[0] != parameter.shape[0]);
  }
  if (!is_other) return;
  for (const std::int32_t id : target.model.node(head).parameters) {
    const graph::Parameter& parameter = target.model.parameter(id);
    NamedTensor* tensor = find(source.tensors, parameter.name);
    if (tensor == nullptr) continue;
    tensor->shape = parameter.shape;
    tensor->values = graph::initial_values(parameter, target.seed);
  }
  notes.push_back(fmt::format("{} re-initialised, because the labels differ", target.model.node(head).name));
}

}  // namespace

std::vector<double> fold_input(NamedTensor& weights, const data::Preprocess& from, const data::Preprocess& to) {
  const std::int64_t OC = weights.shape[0];
  const std::int64_t IC = weights.shape[1];
  const std::int64_t area = weights.shape[2] * weights.shape[3];
  const std::int64_t channels = to.channels;
  if (IC != from.channels || (IC != channels && channels != 1)) {
    refuse_fold(weights.name, fmt::format("{} input channels", channels), weights.shape.text());
  }
  std::vector<double> sums(static_cast<std::size_t>(OC * channels * area));
  std::vector<double> constant(static_cast<std::size_t>(OC));
  for (std::int64_t oc = 0; oc < OC; ++oc) {
    for (std::int64_t ic = 0; ic < IC; ++ic) {
      const auto source = static_cast<std::size_t>(ic);
      const std::size_t kept = channels == 1 ? 0 : source;
      const double scale = to.stddev[kept] / from.stddev[source];
      const double shift = (to.mean[kept] - from.mean[source]) / from.stddev[source];
      for (std::int64_t k = 0; k < area; ++k) {
        const auto weight = static_cast<double>(weights.values[static_cast<std::size_t>((oc * IC + ic) * area + k)]);
        sums[static_cast<std::size_t>((oc * channels + static_cast<std::int64_t>(kept)) * area + k)] += weight * scale;
        constant[static_cast<std::size_t>(oc)] += weight * shift;
      }
    }
  }
  weights.shape[1] = channels;
  weights.values.resize(sums.size());
  std::transform(sums.begin(), sums.end(), weights.values.begin(), [](double sum) { return static_cast<float>(sum); });
  return constant;
}

Import adapt(ImportSource source, const ImportTarget& target) {
  Import result{.tensors = {}, .notes = std::move(source.notes)};
  const std::int64_t renamed =
      rename_tensors(source.tensors, target.model.parameters(), source.what).or_throw<ConfigError>();
  if (renamed > 0)
    result.notes.push_back(fmt::format("{} renamed to current torchvision names", counted(renamed, "tensor")));
  fold(source, target, result.notes);
  for (const graph::NodeId head : heads_of(target.model)) reset_head(source, target, head, result.notes);
  result.tensors = std::move(source.tensors);
  return result;
}

ImportSource read_import(const std::filesystem::path& path, std::string_view preset) {
  WeightsFile file = read_weights_file(path);
  ImportSource source{.tensors = std::move(file.tensors),
                      .labels = std::move(file.labels),
                      .preprocess = {},
                      .what = std::move(file.what),
                      .notes = std::move(file.notes)};
  if (file.info) {
    source.labels = file.info->labels;
    source.preprocess = data::preprocess_from_value(file.info->preprocess);
    if (!preset.empty() && !has_same_input(data::preset(preset), source.preprocess)) {
      throw ConfigError(error_text("train.import", source.what, source.preprocess.text() + ", as stored in the file",
                                   "train.init_preset = " + std::string(preset), "omitting --init-preset"));
    }
    return source;
  }
  if (preset.empty() && file.is_torchxrayvision) preset = "xrv";
  if (preset.empty()) {
    throw ConfigError(error_text("train.import", source.what, "weights stored with their preprocessing", "weights only",
                                 "--init-preset imagenet for torchvision's weights"));
  }
  source.preprocess = data::preset(preset);
  return source;
}

}  // namespace roentgen::train
