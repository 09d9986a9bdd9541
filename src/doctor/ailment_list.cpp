// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/ailment_list.h"

#include <algorithm>
#include <array>

namespace roentgen::doctor {
namespace {

struct Ailment {
  std::string_view name;
  Level level = Level::Wrong;
  std::vector<Sign> (*signs)(const Inventory&) = nullptr;
};

#define RG_AILMENT(name, level) Ailment{#name, Level::level, ailments::name},
constexpr Ailment kAilments[] = {RG_AILMENT_LIST(RG_AILMENT)};
#undef RG_AILMENT

}  // namespace

std::vector<Finding> find_ailments(const Inventory& machine) {
  std::vector<Finding> findings;
  for (const auto& [name, level, signs] : kAilments) {
    for (Sign& sign : signs(machine)) {
      const Level found = sign.level.value_or(level);
      findings.push_back({.ailment = name, .level = found, .sign = std::move(sign)});
    }
  }
  return findings;
}

std::vector<std::string_view> ailment_names() {
  std::vector<std::string_view> names;
  for (const Ailment& ailment : kAilments) names.push_back(ailment.name);
  return names;
}

bool has_wrong(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) { return finding.level == Level::Wrong; });
}

Value to_value(const std::vector<Finding>& findings) {
  Value array = Value::array();
  for (const Finding& finding : findings) {
    array.push_back(Value::Table{{"ailment", finding.ailment},
                                 {"level", finding.level == Level::Wrong ? "wrong" : "advice"},
                                 {"text", finding.sign.text},
                                 {"remedy", finding.sign.remedy}});
  }
  return array;
}

}  // namespace roentgen::doctor
