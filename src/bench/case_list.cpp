// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/case_list.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace roentgen::bench {

std::vector<NamedCase> make_cases() {
  std::vector<NamedCase> cases;
#define RG_MAKE_CASE(name, identifier) cases.push_back({name, make_##identifier##_case()});
  RG_CASE_LIST(RG_MAKE_CASE)
#undef RG_MAKE_CASE
  return cases;
}

Case& find_case(const std::vector<NamedCase>& cases, std::string_view name) {
  const auto found = std::ranges::find(cases, name, &NamedCase::name);
  if (found != cases.end()) return *found->value;
  std::string known;
  for (const NamedCase& each : cases) known += (known.empty() ? "" : ", ") + std::string(each.name);
  throw ConfigError(error_text("bench.case", "case", "one of " + known, name, "roentgen bench --list"));
}

}  // namespace roentgen::bench
