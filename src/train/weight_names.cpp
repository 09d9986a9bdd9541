// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/weight_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace roentgen::train {
namespace {

using namespace std::string_view_literals;

// Prefixes to drop, each with the dot after it. Names of model families may be followed by a number and "_bn".
constexpr std::array kPrefixes{"module"sv, "model"sv, "_orig_mod"sv, "googlenet"sv, "inception_v3"sv, "inception_v4"sv};
constexpr std::array kFamilies{"densenet"sv, "resnet"sv, "vgg"sv};

/// Renaming rule: replaces `from` by `to`.
struct Rename {
  std::string_view within;  // applies to names that contain this text; if empty, to names that begin with `from`
  std::string_view from;
  std::string_view to;
};

// Renaming rules in addition to kPrefixes. At most one rule is applied to a name.
constexpr std::array kRenames{
    Rename{"", "classifier.0.", "classifier."},  // last layer inside nn.Sequential
    Rename{"", "fc.0.", "fc."},
    Rename{".denselayer", ".norm.1.", ".norm1."},  // old layer names in torchvision's DenseNet files
                                                   // 0.3
    Rename{".denselayer", ".norm.2.", ".norm2."},
    Rename{".denselayer", ".conv.1.", ".conv1."},
    Rename{".denselayer", ".conv.2.", ".conv2."},
    Rename{"", "pre_logits.fc1.", "classifier.0."},  // VGG in timm
    Rename{"", "pre_logits.fc2.", "classifier.3."},
    Rename{"", "head.fc.", "classifier.6."},
};

bool is_prefix(std::string_view word) {
  if (std::ranges::find(kPrefixes, word) != kPrefixes.end()) return true;
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (word.ends_with("_bn")) word.remove_suffix(3);
  return std::ranges::any_of(kFamilies, [&](std::string_view family) {
    return word.starts_with(family) && is_number(word.substr(family.size()));
  });
}

std::string_view without_prefixes(std::string_view name) {
  std::size_t dot = name.find('.');
  while (dot != std::string_view::npos && is_prefix(name.substr(0, dot))) {
    name.remove_prefix(dot + 1);
    dot = name.find('.');
  }
  return name;
}

}  // namespace

std::string torchvision_name(std::string_view name) {
  std::string result(without_prefixes(name));
  for (const Rename& rule : kRenames) {
    const std::size_t at = result.find(rule.from);
    const bool applies = rule.within.empty() ? at == 0 : result.find(rule.within) < at;
    if (at != std::string::npos && applies) return result.replace(at, rule.from.size(), rule.to);
  }
  return result;
}

bool is_operating_points(std::string_view name) { return without_prefixes(name) == "op_threshs"; }

Result<std::int64_t> rename_tensors(std::vector<NamedTensor>& tensors, const std::vector<graph::Parameter>& parameters,
                                    std::string_view what) {
  std::unordered_map<std::string_view, const graph::Parameter*> by_name;
  for (const graph::Parameter& parameter : parameters) by_name[parameter.name] = &parameter;
  std::int64_t renamed = 0;
  std::unordered_map<std::string, std::string> taken;  // torchvision's name -> name in the file
  for (NamedTensor& tensor : tensors) {
    const std::string_view plain = without_prefixes(tensor.name);
    std::string name = by_name.contains(plain) ? std::string(plain) : torchvision_name(tensor.name);
    const auto [entry, is_new] = taken.try_emplace(name, tensor.name);
    if (!is_new) {
      return failure("train.import", std::string(what) + ": " + name, "one tensor of that name",
                     entry->second + " and " + tensor.name, "a file with one of these tensors");
    }
    const auto parameter = by_name.find(name);
    if (parameter != by_name.end() && parameter->second->shape.rank() == 2 && tensor.shape.rank() == 4 &&
        parameter->second->shape.elements() == tensor.shape.elements()) {
      tensor.shape = parameter->second->shape;
    }
    if (name == tensor.name) continue;
    tensor.name = std::move(name);
    ++renamed;
  }
  return renamed;
}

}  // namespace roentgen::train
