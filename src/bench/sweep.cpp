// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "bench/harness.h"
#include "bench/speed.h"
#include "bench/stop_error.h"
#include "core/error.h"
#include "core/log.h"

namespace roentgen::bench {
namespace {

/// A setting with its estimated cost, or the reason why it cannot run.
struct Planned {
  SweepSetting setting;
  std::optional<SweepNeeds> needs{};
  double cost = 0.0;
  std::string failed{};
};

/// Calls a function and returns the reason of its failure; empty if it succeeds. Throws StopError.
template <typename Function>
std::string failure_of(Function function) {
  try {
    function();
  } catch (const StopError&) {
    throw;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception&) {  // another process has printed its text
    return "its processes failed with the message above";
  }
  return {};
}

Value failed_row(const Planned& planned) {
  Value row = to_value(planned.setting);
  for (const char* key : {"images_per_s", "uncertainty", "jitter", "variation"}) row.set(key, Value());
  row.set("planned_bytes", planned.needs ? Value(planned.needs->planned_bytes) : Value());
  for (const char* key : {"steady", "threads", "oversubscribed"}) row.set(key, Value());
  row.set("failed", planned.failed);
  return row;
}

Value measured_row(const Planned& planned, const Value& result) {
  Value row = to_value(planned.setting);
  for (const char* key : {"images_per_s", "uncertainty", "jitter", "variation"}) row.set(key, result.at(key));
  row.set("planned_bytes", planned.needs->planned_bytes);
  row.set("steady", signs_of_unsteady_speed(measurements_in(result.at("samples").at("step_s"))).empty());
  for (const char* key : {"threads", "oversubscribed"}) row.set(key, result.at(key));
  row.set("failed", "");
  for (const char* key : {"warnings", "disturbance", "calibration", "samples"}) row.set(key, result.at(key));
  return row;
}

bool is_failed(const Value& row) { return row.at("images_per_s").is_null(); }

std::vector<Planned> plan_all(const std::vector<SweepSetting>& settings, const SweepRun& run) {
  std::vector<Planned> all;
  for (const SweepSetting& setting : settings) {
    Planned& planned = all.emplace_back(Planned{.setting = setting});
    planned.failed = failure_of([&] { planned.needs = run.plan(setting); });
    if (planned.needs) planned.cost = sweep_cost(setting, *planned.needs, run);
  }
  std::ranges::stable_sort(all, {}, &Planned::cost);
  return all;
}

/// Returns the known row of a setting; null if there is none.
const Value* known_row(const Value::Array& known, const SweepSetting& setting) {
  const Value::Table own = to_value(setting).as_table();
  const auto found = std::ranges::find_if(known, [&](const Value& row) {
    return !is_failed(row) &&
           std::ranges::all_of(own, [&](const auto& entry) { return row.at(entry.first) == entry.second; });
  });
  return found == known.end() ? nullptr : &*found;
}

/// Estimates the time left from the cost and time of the tests so far.
std::string time_left_text(double done_cost, double done_s, double left_cost) {
  if (done_cost <= 0.0) return {};
  return fmt::format(", about {:.0f} s left", done_s * left_cost / done_cost);
}

bool is_steady(const Value& row) { return !is_failed(row) && row.at("steady").as_bool(); }

bool is_within_jitter(const Value& faster, const Value& slower) {
  const double jitter = std::max(faster.at("jitter").as_double(), slower.at("jitter").as_double());
  return faster.at("images_per_s").as_double() - slower.at("images_per_s").as_double() <= jitter;
}

}  // namespace

std::vector<SweepSetting> sweep_settings(const SweepLists& lists, bool has_nccl) {
  const std::vector<std::string> none(1);
  std::vector<SweepSetting> settings;
  for (const std::int64_t batch : lists.batches) {
    for (const std::string& fuse : lists.fuses) {
      for (const std::string& dtype : lists.dtypes) {
        for (const std::int64_t ranks : lists.ranks) {
          for (const std::string& gdr : has_nccl&& ranks > 1 ? lists.gdrs : none) {
            settings.push_back({.batch = batch, .fuse = fuse, .dtype = dtype, .ranks = ranks, .gdr = gdr});
          }
        }
      }
    }
  }
  return settings;
}

std::string setting_text(const SweepSetting& setting) {
  return fmt::format("batch {}, fuse {}, dtype {}, ranks {}{}{}", setting.batch, setting.fuse, setting.dtype,
                     setting.ranks, setting.gdr.empty() ? "" : ", gdr ", setting.gdr);
}

Value to_value(const SweepSetting& setting) {
  return Value::Table{{"batch", setting.batch},
                      {"fuse", setting.fuse},
                      {"dtype", setting.dtype},
                      {"ranks", setting.ranks},
                      {"gdr", setting.gdr.empty() ? Value() : Value(setting.gdr)}};
}

SweepSetting setting_of(const Value& row) {
  const Value& gdr = row.at("gdr");
  return {.batch = row.at("batch").as_integer(),
          .fuse = row.at("fuse").as_string(),
          .dtype = row.at("dtype").as_string(),
          .ranks = row.at("ranks").as_integer(),
          .gdr = gdr.is_null() ? std::string() : gdr.as_string()};
}

double sweep_cost(const SweepSetting& setting, const SweepNeeds& needs, const SweepRun& run) {
  const double of_all_ranks = needs.flops * static_cast<double>(run.steps * setting.ranks);
  return run.has_own_devices ? of_all_ranks / static_cast<double>(setting.ranks) : of_all_ranks;
}

Value::Array run_sweep(const std::vector<SweepSetting>& settings, const SweepRun& run) {
  std::vector<Planned> all = plan_all(settings, run);
  double left_cost = 0.0, done_cost = 0.0, done_s = 0.0;
  for (const Planned& planned : all) left_cost += planned.cost;
  Value::Array rows;
  for (Planned& planned : all) {
    const std::string place =
        fmt::format("sweep {} of {}: {}", &planned - all.data() + 1, all.size(), setting_text(planned.setting));
    const Value* const known = known_row(run.known, planned.setting);
    if (planned.failed.empty() && known != nullptr) {
      log::info(place + ", measured before");
      rows.push_back(*known);
    } else if (planned.failed.empty()) {
      log::info(
          fmt::format("{}, {:.3g} TFLOP{}", place, planned.cost / 1e12, time_left_text(done_cost, done_s, left_cost)));
      const auto begin = Clock::now();
      planned.failed = failure_of([&] { rows.push_back(measured_row(planned, run.run(planned.setting))); });
      done_s += seconds_since(begin);
      done_cost += planned.cost;
    }
    left_cost -= planned.cost;
    if (!planned.failed.empty()) {
      log::warning(fmt::format("{} failed: {}", place, planned.failed));
      rows.push_back(failed_row(planned));
    }
    if (run.keep) run.keep(rows);
  }
  std::ranges::stable_sort(rows, std::greater<>(),
                           [](const Value& row) { return is_failed(row) ? 0.0 : row.at("images_per_s").as_double(); });
  return rows;
}

SweepChoice choose_row(const Value::Array& rows) {
  if (rows.empty() || is_failed(rows.front())) return {.text = "no setting could be measured"};
  const auto steady = std::ranges::find_if(rows, is_steady);
  if (steady == rows.end()) {
    const SweepSetting fastest = setting_of(rows.front());
    return {.verdict = SweepVerdict::Unsteady,
            .setting = fastest,
            .text = fmt::format("no winner: no speed was steady; {} was the fastest", setting_text(fastest))};
  }
  const SweepSetting fastest = setting_of(*steady);
  std::string text = setting_text(fastest);
  if (steady != rows.begin()) text += "; faster settings were not steady";
  const auto rival = std::find_if(steady + 1, rows.end(),
                                  [&](const Value& row) { return is_steady(row) && is_within_jitter(*steady, row); });
  if (rival == rows.end()) return {SweepVerdict::Winner, fastest, "winner: " + text};
  return {SweepVerdict::InsideJitter, fastest,
          fmt::format("no winner: {} was the fastest, but the difference to {} is inside the jitter", text,
                      setting_text(setting_of(*rival)))};
}

}  // namespace roentgen::bench
