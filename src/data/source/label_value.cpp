// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/label_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "data/source/finding_names.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::pair<std::string_view, LabelValue>, 29> kWords{{
    {"true", LabelValue::Positive},       {"yes", LabelValue::Positive},
    {"y", LabelValue::Positive},          {"positive", LabelValue::Positive},
    {"pos", LabelValue::Positive},        {"ja", LabelValue::Positive},
    {"j", LabelValue::Positive},          {"wahr", LabelValue::Positive},
    {"positiv", LabelValue::Positive},    {"false", LabelValue::Negative},
    {"no", LabelValue::Negative},         {"n", LabelValue::Negative},
    {"negative", LabelValue::Negative},   {"neg", LabelValue::Negative},
    {"nein", LabelValue::Negative},       {"falsch", LabelValue::Negative},
    {"negativ", LabelValue::Negative},    {"u", LabelValue::Uncertain},
    {"uncertain", LabelValue::Uncertain}, {"", LabelValue::Empty},
    {"nan", LabelValue::Empty},           {"na", LabelValue::Empty},
    {"n/a", LabelValue::Empty},           {"none", LabelValue::Empty},
    {"null", LabelValue::Empty},          {"unknown", LabelValue::Empty},
    {"unmentioned", LabelValue::Empty},   {"unbekannt", LabelValue::Empty},
    {"unklar", LabelValue::Uncertain},
}};

}  // namespace

std::optional<LabelValue> parse_label_value(std::string_view text) {
  const std::string word = lower_case(stripped(text));
  for (const auto& [known, value] : kWords) {
    if (word == known) return value;
  }
  double number = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (number == 1.0) return LabelValue::Positive;
  if (number == 0.0) return LabelValue::Negative;
  if (number == -1.0) return LabelValue::Uncertain;
  return std::nullopt;
}

float label_number(LabelValue value, const LabelPolicy& policy) {
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  switch (value) {
    case LabelValue::Positive:
      return 1.0F;
    case LabelValue::Negative:
      return 0.0F;
    case LabelValue::Empty:
      return policy.blank == Blank::Negative ? 0.0F : kUnknown;
    case LabelValue::Uncertain:
      break;
  }
  if (policy.uncertain == Uncertain::Ignore) return kUnknown;
  return policy.uncertain == Uncertain::One ? 1.0F : 0.0F;
}

LabelPolicy policy_of(const SourceOptions& options, std::string_view label) {
  for (const auto& [name, policy] : options.label_policies) {
    if (name == label) return policy;
  }
  const std::string key = finding_key(label);
  for (const auto& [name, policy] : options.label_policies) {
    if (finding_key(name) == key) return policy;
  }
  return options.policy;
}

void check_label_policies(const SourceOptions& options, const std::vector<std::string>& labels) {
  if (options.unknown_labels == UnknownLabels::Mask) return;
  for (const auto& [name, policy] : options.label_policies) {
    const std::string key = finding_key(name);
    if (std::ranges::none_of(labels, [&key](const auto& label) { return finding_key(label) == key; })) {
      throw ConfigError(error_text("data.labels", "data.label_policy of \"" + name + "\"", "one of the labels in use",
                                   "a name other than " + first_names(labels, labels.size()), "one of these names"));
    }
  }
}

}  // namespace roentgen::data
