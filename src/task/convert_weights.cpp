// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/convert_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "data/transform/preprocess.h"
#include "graph/text.h"
#include "models/model.h"
#include "task/fitting_model.h"
#include "train/load_checkpoint.h"
#include "train/recipe.h"
#include "train/weights_file.h"

namespace roentgen::task {
namespace {

constexpr std::int64_t kImageNetClasses = 1000;
// Side in pixels of the images that torchxrayvision's ResNets were trained with.
constexpr std::int64_t kXrvResNet_px = 512;

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text("task.weights", what, expected, got, remedy));
}

std::int64_t outputs_of(const graph::Graph& graph) { return graph.node(graph.output("logits")).shape[1]; }

void check_labels(const std::vector<std::string>& labels, std::int64_t outputs, std::string_view what) {
  if (std::ssize(labels) != outputs) {
    refuse(what, counted(outputs, "label") + ", one per output", std::to_string(labels.size()), "--labels A,B,...");
  }
  std::set<std::string_view> known;
  for (const std::string& label : labels) {
    if (label.empty()) refuse(what, "labels with names", "an empty name", "--labels A,B,...");
    if (!known.insert(label).second) refuse(what, "different labels", label + " twice", "--labels A,B,...");
  }
}

/// Builds a checkpoint from foreign weights, part by part.
class Conversion {
 public:
  Conversion(const ForeignWeights& asked, train::WeightsFile file)
      : asked_(asked), file_(std::move(file)), fitting_(fit_model(file_.tensors, asked.model, file_.what)) {}

  ConvertedWeights run() && {
    train::CheckpointInfo info;
    info.loss = loss();
    info.labels = labels();
    const data::Preprocess preprocess = this->preprocess();
    info.preprocess = preprocess.to_value();
    info.recipe = fmt::format("[model]\nname = \"{}\"\n\n[loss]\nname = \"{}\"\n", fitting_.name, info.loss);
    info.graph = graph::print_graph_any_batch(graph_of(info, preprocess));
    train::require_sound(file_.tensors, fitting_.graph.parameters(), file_.what);
    sort_tensors();
    return {.checkpoint = {.info = std::move(info), .tensors = std::move(file_.tensors), .what = file_.what},
            .model = fitting_.name,
            .notes = std::move(file_.notes)};
  }

 private:
  std::string loss() {
    if (!asked_.loss.empty()) {
      if (asked_.loss != "sigmoid" && asked_.loss != "softmax") {
        refuse("--loss", "sigmoid or softmax", asked_.loss, "sigmoid for findings that may occur together");
      }
      return asked_.loss;
    }
    const bool is_imagenet = outputs_of(fitting_.graph) == kImageNetClasses;
    const std::string loss = is_imagenet ? "softmax" : "sigmoid";
    file_.notes.push_back(fmt::format("loss {}, as the file names none: outputs {} each other", loss,
                                      is_imagenet ? "exclude" : "do not exclude"));
    return loss;
  }

  std::vector<std::string> labels() {
    const std::int64_t outputs = outputs_of(fitting_.graph);
    std::vector<std::string> labels = asked_.labels;
    if (labels.empty() && std::ssize(file_.labels) == outputs) {
      labels = file_.labels;
      drop_unnamed(labels);
    } else if (labels.empty() && is_xrv() && outputs == std::ssize(train::torchxrayvision_labels())) {
      labels = train::torchxrayvision_labels();
    } else if (labels.empty()) {
      for (std::int64_t i = 0; i < outputs; ++i) labels.push_back(fmt::format("class_{}", i));
      file_.notes.push_back(fmt::format("labels class_0 to class_{}, as the file names none", outputs - 1));
    }
    check_labels(labels, outputs - dropped_, file_.what);
    return labels;
  }

  // Removes outputs named "", which torchxrayvision uses if its training data had no label for them.
  void drop_unnamed(std::vector<std::string>& labels) {
    dropped_ = std::ranges::count(labels, "");
    if (dropped_ == 0) return;
    const graph::Node& head = fitting_.graph.node(fitting_.graph.output("logits"));
    for (const std::int32_t id : head.parameters) {
      train::NamedTensor& tensor =
          *std::ranges::find(file_.tensors, fitting_.graph.parameter(id).name, &train::NamedTensor::name);
      const auto row = tensor.values.size() / labels.size();
      std::vector<float> kept;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto begin = tensor.values.begin() + static_cast<std::ptrdiff_t>(i * row);
        if (!labels[i].empty()) kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
      }
      tensor.values = std::move(kept);
      tensor.shape[0] -= dropped_;
    }
    std::erase(labels, "");
    file_.notes.push_back(counted(dropped_, "output") + " without a name omitted");
  }

  [[nodiscard]] bool is_xrv() const {
    return asked_.preset.empty() ? file_.is_torchxrayvision : asked_.preset == "xrv";
  }

  data::Preprocess preprocess() {
    const auto channels = static_cast<int>(fitting_.graph.node(fitting_.graph.find("image")).shape[1]);
    const bool is_inception = fitting_.name == "googlenet" || fitting_.name.starts_with("inception");
    data::Preprocess preprocess;
    if (!asked_.preset.empty() || is_xrv()) {
      preprocess = data::with_channels(data::preset(is_xrv() ? "xrv" : asked_.preset), channels);
    } else if (channels == 3) {
      preprocess = data::preset("imagenet");
      if (is_inception) preprocess.mean = preprocess.stddev = {0.5, 0.5, 0.5};
    } else {
      refuse(file_.what, "weights stored with their preprocessing", "weights only, for one channel",
             "--preset xrv for torchxrayvision's weights, or --preset unit");
    }
    preprocess.size_px = models::own_image_px(fitting_.name);
    if (is_xrv() && fitting_.name.starts_with("resnet")) preprocess.size_px = kXrvResNet_px;
    preprocess.jpeg = data::JpegSize::Exact;
    if (asked_.preset.empty()) {
      file_.notes.push_back("preprocessing " + preprocess.text() + ", as the file names none");
    }
    return preprocess;
  }

  // Builds the network for this image size and the remaining outputs.
  [[nodiscard]] graph::Graph graph_of(const train::CheckpointInfo& info, const data::Preprocess& preprocess) const {
    return models::build_model({.name = fitting_.name,
                                .labels = std::ssize(info.labels),
                                .channels = preprocess.channels,
                                .image_px = preprocess.size_px,
                                .batch = 1,
                                .auxiliary = fitting_.auxiliary});
  }

  // Sorts the tensors in the network's order.
  void sort_tensors() {
    std::vector<train::NamedTensor> sorted;
    for (const graph::Parameter& parameter : fitting_.graph.parameters()) {
      sorted.push_back(std::move(*std::ranges::find(file_.tensors, parameter.name, &train::NamedTensor::name)));
    }
    file_.tensors = std::move(sorted);
  }

  const ForeignWeights& asked_;
  train::WeightsFile file_;
  const FittingModel fitting_;
  std::int64_t dropped_ = 0;
};

}  // namespace

ConvertedWeights convert_weights(const ForeignWeights& weights) {
  train::require_checkpoint(weights.file);
  train::WeightsFile file = train::read_weights_file(weights.file);
  if (!file.info) return Conversion(weights, std::move(file)).run();
  if (!weights.model.empty() || !weights.labels.empty() || !weights.preset.empty() || !weights.loss.empty()) {
    refuse(file.what, "weights of another program", "a checkpoint of Roentgen",
           "omitting model, labels, preset and loss");
  }
  return {.checkpoint = {.info = std::move(*file.info), .tensors = std::move(file.tensors), .what = file.what},
          .model = {},
          .notes = {}};
}

}  // namespace roentgen::task
