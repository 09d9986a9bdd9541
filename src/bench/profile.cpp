// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/floor.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {
struct Row {
  std::string kind;
  std::int64_t calls = 0;
  double seconds = 0.0;
  double flops = 0.0;
  double bytes = 0.0;
};
}  // namespace

Value rate(double amount, double seconds) { return amount > 0.0 && seconds > 0.0 ? Value(amount / seconds) : Value(); }

std::vector<engine::EntryTime> times_of(engine::Executable& executable, const ProfiledRuns& runs, bool is_host) {
  std::vector<engine::EntryTime> times = executable.profile();
  if (is_host) return times;
  constexpr int kRepeats = 3;
  for (engine::EntryTime& time : times) {
    time.best_s = executable.time_entry(time.entry, kRepeats);
    time.calls = runs.count;
    time.seconds = time.best_s * static_cast<double>(runs.count);
  }
  return times;
}

Value profile_table(const engine::Executable& executable, std::span<const engine::EntryTime> times,
                    const ProfiledRuns& runs) {
  std::map<std::string, Row> by_kind;
  double kernels_s = 0.0;
  for (const engine::EntryTime& time : times) {
    const engine::PlanEntry& entry = executable.plan().entries.at(static_cast<std::size_t>(time.entry));
    Row& row = by_kind[entry.kind];
    row.calls += time.calls;
    row.seconds += time.seconds;
    row.flops += static_cast<double>(entry.flops) * static_cast<double>(time.calls);
    row.bytes += static_cast<double>(entry.bytes) * static_cast<double>(time.calls);
    kernels_s += time.seconds;
  }
  std::vector<Row> rows;
  for (auto& [kind, row] : by_kind) {
    if (row.calls == 0) continue;
    row.kind = kind;
    rows.push_back(row);
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  if (runs.optimizer_s) rows.push_back({.kind = "optimizer", .calls = runs.count, .seconds = *runs.optimizer_s});
  rows.push_back({.kind = "outside_kernels",
                  .calls = runs.count,
                  .seconds = runs.total_s - kernels_s - runs.optimizer_s.value_or(0.0)});
  Value table = Value::array();
  for (const Row& row : rows) {
    table.push_back(Value::Table{{"kind", row.kind},
                                 {"calls", row.calls / runs.count},
                                 {"ms", row.seconds * 1e3 / static_cast<double>(runs.count)},
                                 {"share", row.seconds / runs.total_s},
                                 {"gflops", rate(row.flops * 1e-9, row.seconds)},
                                 {"gb_per_s", rate(row.bytes * 1e-9, row.seconds)}});
  }
  return table;
}

Value layer_table(const engine::Executable& executable, std::span<const engine::EntryTime> times, const Floor* floor) {
  Value table = Value::array();
  for (const engine::EntryTime& time : times) {
    if (time.calls == 0) continue;
    const engine::PlanEntry& entry = executable.plan().entries.at(static_cast<std::size_t>(time.entry));
    const std::optional<double> floor_s = floor != nullptr ? floor->seconds(time.entry) : std::nullopt;
    table.push_back(Value::Table{{"name", entry.name},
                                 {"kind", entry.kind},
                                 {"implementation", entry.implementation},
                                 {"ms", time.seconds * 1e3 / static_cast<double>(time.calls)},
                                 {"best_ms", time.best_s * 1e3},
                                 {"floor_ms", floor_s ? Value(*floor_s * 1e3) : Value()},
                                 {"gflops", rate(static_cast<double>(entry.flops) * 1e-9, time.best_s)}});
  }
  return table;
}

}  // namespace roentgen::bench
