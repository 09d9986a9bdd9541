// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "train/optimizer/optimizer_list.h"

namespace roentgen::train {
namespace {

using Factory = std::unique_ptr<Optimizer> (*)(const OptimizerOptions&, std::int64_t);

struct Entry {
  std::string_view name;
  Factory make;
};

#define RG_OPTIMIZER_ENTRY(name) Entry{#name, &make_##name},
constexpr Entry kEntries[] = {RG_OPTIMIZER_LIST(RG_OPTIMIZER_ENTRY)};
#undef RG_OPTIMIZER_ENTRY

constexpr std::string_view kSeeDefaults = "a value in that range, such as the default that roentgen train --keys shows";

void check(std::string_view option, double value, double low, double high) {
  if (value >= low && value < high) return;
  throw ConfigError(error_text("train.optimizer", option, fmt::format("at least {} and below {}", low, high),
                               fmt::to_string(value), kSeeDefaults));
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const OptimizerOptions& options,
                                          std::int64_t elements) {
  check("momentum", options.momentum, 0.0, 1.0);
  check("beta1", options.beta1, 0.0, 1.0);
  check("beta2", options.beta2, 0.0, 1.0);
  check("epsilon", options.epsilon, 0.0, 1.0);
  check("trust", options.trust, 1e-12, 1e6);
  check("threads", options.threads, 1, 1 << 16);
  const auto* const entry = std::ranges::find(kEntries, name, &Entry::name);
  if (entry != std::end(kEntries)) return entry->make(options, elements);
  throw ConfigError(error_text("train.optimizer", "name", "an optimizer that exists", name,
                               fmt::format("one of {}", fmt::join(optimizer_names(), ", "))));
}

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

}  // namespace roentgen::train
