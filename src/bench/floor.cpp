// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/floor.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/error.h"

namespace roentgen::bench {
namespace {
constexpr int kRepeats = 4;
}  // namespace

Floor::Floor(engine::Executable& executable) : executable_(executable) {
  const std::vector<engine::PlanEntry>& entries = executable.plan().entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].kind.starts_with("conv2d_") && !entries[i].kind.starts_with("linear_")) continue;
    best_s_.emplace(static_cast<std::int32_t>(i), std::numeric_limits<double>::infinity());
  }
}

void Floor::measure() {
  is_measured_ = true;
  try {
    for (auto& [entry, best_s] : best_s_) best_s = std::min(best_s, executable_.time_entry(entry, kRepeats));
  } catch (const DeviceError&) {
    best_s_.clear();
  }
}

std::optional<double> Floor::seconds() const {
  if (best_s_.empty() || !is_measured_) return std::nullopt;
  double sum_s = 0.0;
  for (const auto& [entry, best_s] : best_s_) sum_s += best_s;
  return sum_s;
}

std::optional<double> Floor::seconds(std::int32_t entry) const {
  const auto found = best_s_.find(entry);
  return found == best_s_.end() || !is_measured_ ? std::nullopt : std::optional(found->second);
}

}  // namespace roentgen::bench
