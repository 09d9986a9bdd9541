// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "models/model.h"

#include <array>

#include "core/error.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
constexpr std::int64_t kSmallestImagePx = 32;
constexpr std::int64_t kWidthStep = 8;
constexpr std::int64_t kLargestWidth = 4096;

struct Entry {
  std::string_view name;
  std::int64_t torchvision_parameters;
  std::int64_t image_px;
  std::string_view summary;
  graph::Graph (*build)(const ModelConfig&);
};

#define RG_MODEL_ENTRY(name, parameters, image_px, summary) Entry{#name, parameters, image_px, summary, &name},
constexpr std::array kModels{RG_MODEL_LIST(RG_MODEL_ENTRY)};
#undef RG_MODEL_ENTRY

consteval bool names_are_distinct() {
  for (std::size_t i = 0; i < kModels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kModels[i].name == kModels[j].name) return false;
    }
  }
  return true;
}
static_assert(names_are_distinct(), "a model is listed twice in model_list.h");

const Entry& find(std::string_view name) {
  std::string known;
  for (const Entry& entry : kModels) {
    if (entry.name == name) return entry;
    known.append(known.empty() ? "" : ", ").append(entry.name);
  }
  throw ConfigError(error_text("models.model", "model", "one of " + known, "'" + std::string(name) + "'",
                               "one of these, or the path of a graph text"));
}

void require(bool holds, std::string_view setting, std::string_view expected, std::int64_t got) {
  if (!holds) throw ConfigError(error_text("models.model", setting, expected, std::to_string(got), "another value"));
}
}  // namespace

graph::Graph build_model(const ModelConfig& config) {
  const Entry& entry = find(config.name);
  require(config.labels >= 1, "labels", "at least 1", config.labels);
  require(config.channels == 1 || config.channels == 3, "channels", "1 or 3", config.channels);
  require(config.image_px >= kSmallestImagePx, "image size", "at least 32 px", config.image_px);
  require(config.batch >= 1, "batch", "at least 1", config.batch);
  require(config.width >= kWidthStep && config.width <= kLargestWidth && config.width % kWidthStep == 0, "width",
          "a multiple of 8, at most 4096", config.width);
  require(config.dilated_stages >= 0 && config.dilated_stages <= 3, "dilated stages", "0 to 3", config.dilated_stages);
  return entry.build(config);
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kModels) names.push_back(entry.name);
  return names;
}

std::int64_t torchvision_parameter_count(std::string_view name) { return find(name).torchvision_parameters; }

std::int64_t own_image_px(std::string_view name) { return find(name).image_px; }

std::string_view model_summary(std::string_view name) { return find(name).summary; }

Stem parse_stem(std::string_view word) {
  if (word == "imagenet") return Stem::ImageNet;
  if (word == "small") return Stem::Small;
  throw ConfigError(error_text("models.model", "stem", "imagenet or small", "'" + std::string(word) + "'",
                               "--set model.stem=imagenet"));
}

ResNetStride parse_resnet_stride(std::string_view word) {
  if (word == "v1.5") return ResNetStride::V1_5;
  if (word == "v1") return ResNetStride::V1;
  throw ConfigError(error_text("models.model", "variant of ResNet (model.resnet)", "v1.5 or v1",
                               "'" + std::string(word) + "'", "--set model.resnet=v1.5"));
}

}  // namespace roentgen::models
