// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "engine/engine.h"
#include "io/safetensors.h"

namespace roentgen::train {
namespace {

constexpr std::string_view kCounter = "num_batches_tracked";
constexpr std::string_view kMean = "running_mean";

std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(kShown, names.size()));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

template <typename Named>
std::unordered_map<std::string_view, const Named*> by_name(const std::vector<Named>& all) {
  std::unordered_map<std::string_view, const Named*> map;
  for (const Named& each : all) map[each.name] = &each;
  return map;
}

}  // namespace

std::vector<NamedTensor> weights_of(const engine::Executable& executable) {
  std::vector<NamedTensor> weights;
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    weights.push_back({.name = parameters[i].name,
                       .shape = parameters[i].shape,
                       .values = executable.store(static_cast<std::int32_t>(i))});
  }
  return weights;
}

void write_weights(const std::filesystem::path& path, const std::vector<NamedTensor>& weights, std::int64_t updates,
                   const std::map<std::string, std::string>& metadata) {
  std::vector<io::TensorToWrite> tensors;
  // Writes the 8-byte scalars "num_batches_tracked" first, so that every tensor is aligned to its element size.
  for (const NamedTensor& weight : weights) {
    if (!weight.name.ends_with(kMean) || weight.name.starts_with(kOptimizerPrefix)) continue;
    const std::string module = weight.name.substr(0, weight.name.size() - kMean.size());
    tensors.push_back({.name = module + std::string(kCounter),
                       .dtype = DType::I64,
                       .shape = Shape{},
                       .bytes = std::as_bytes(std::span(&updates, 1))});
  }
  for (const NamedTensor& weight : weights) {
    tensors.push_back({.name = weight.name,
                       .dtype = DType::F32,
                       .shape = weight.shape,
                       .bytes = std::as_bytes(std::span(weight.values))});
  }
  io::write_safetensors(path, tensors, metadata);
}

std::string LoadReport::text() const {
  std::string text;
  const auto add = [&](const std::vector<std::string>& names, std::string_view kind) {
    if (names.empty()) return;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", names.size(), kind, some(names));
  };
  add(missing, "missing");
  add(unexpected, "unexpected");
  add(misshapen, "of another shape");
  return text.empty() ? "all tensors fit" : text;
}

LoadReport compare(const std::vector<NamedTensor>& tensors, const std::vector<graph::Parameter>& parameters) {
  const auto named = by_name(tensors);
  LoadReport report;
  std::unordered_set<std::string_view> wanted;
  for (const graph::Parameter& parameter : parameters) {
    wanted.insert(parameter.name);
    const auto found = named.find(parameter.name);
    if (found == named.end()) {
      report.missing.push_back(parameter.name);
    } else if (found->second->shape != parameter.shape) {
      report.misshapen.push_back(
          fmt::format("{}: {}, not {}", parameter.name, found->second->shape.text(), parameter.shape.text()));
    }
  }
  for (const NamedTensor& tensor : tensors) {
    if (!wanted.contains(tensor.name)) report.unexpected.push_back(tensor.name);
  }
  return report;
}

void require_fit(const LoadReport& report, const graph::Graph& graph, std::string_view what) {
  if (report.is_clean()) return;
  throw ConfigError(error_text("train.checkpoint", what,
                               fmt::format("the {} tensors of {}", graph.parameters().size(), graph.name()),
                               report.text(), "--partial to load the tensors that fit"));
}

void require_sound(const std::vector<NamedTensor>& tensors, const std::vector<graph::Parameter>& parameters,
                   std::string_view what) {
  const auto named = by_name(parameters);
  for (const NamedTensor& tensor : tensors) {
    const auto found = named.find(tensor.name);
    if (found == named.end() || found->second->shape != tensor.shape) continue;
    const bool is_variance = found->second->role == graph::Role::RunningVariance;
    const auto bad = std::find_if(tensor.values.begin(), tensor.values.end(),
                                  [&](float value) { return !std::isfinite(value) || (is_variance && value < 0.0F); });
    if (bad == tensor.values.end()) continue;
    throw ConfigError(error_text("train.checkpoint", fmt::format("{}: {}", what, tensor.name),
                                 is_variance ? "finite variances, at least 0" : "finite values",
                                 fmt::format("{} at element {}", *bad, bad - tensor.values.begin()),
                                 "an earlier checkpoint, or a complete copy of the file"));
  }
}

LoadReport load_weights(const std::vector<NamedTensor>& tensors, engine::Executable& executable, std::string_view what,
                        Strictness strictness) {
  const auto& parameters = executable.graph().parameters();
  LoadReport report = compare(tensors, parameters);
  if (strictness == Strictness::Strict) require_fit(report, executable.graph(), what);
  require_sound(tensors, parameters, what);
  const auto named = by_name(tensors);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto found = named.find(parameters[i].name);
    if (found == named.end() || found->second->shape != parameters[i].shape) continue;
    executable.load(static_cast<std::int32_t>(i), found->second->values);
  }
  return report;
}

std::vector<NamedTensor> read_tensors(const io::SafetensorsReader& reader, std::string_view skip_prefix) {
  std::vector<NamedTensor> tensors;
  for (const io::TensorInfo& info : reader.tensors()) {
    if (info.name.ends_with(kCounter)) continue;
    if (!skip_prefix.empty() && info.name.starts_with(skip_prefix)) continue;
    tensors.push_back(
        {.name = info.name, .shape = info.shape, .values = reader.read_f32(info.name).or_throw<DataError>()});
  }
  return tensors;
}

}  // namespace roentgen::train
