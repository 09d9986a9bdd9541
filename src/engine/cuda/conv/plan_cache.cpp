// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/conv/plan_cache.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::engine::cuda {
namespace {
namespace fs = std::filesystem;
using Plans = std::map<std::string, std::string>;

constexpr std::int64_t kVersion = 1;
// Largest size of the file: enough for the problems of thousands of networks.
constexpr std::uint64_t kMostBytes = 64U << 20;

struct Contents {
  Plans plans;
  std::string problem;  // reason why the file is not used; empty: it is used
};

// Returns the plans of a parsed file.
Contents contents_of(const Value& table, const std::string& device) {
  constexpr std::string_view kForm = "it is not a file of cuDNN plans";
  if (!table.is_table()) return {{}, std::string(kForm)};
  const Value* const version = table.find("version");
  const Value* const named = table.find("device");
  const Value* const plans = table.find("plans");
  if (version == nullptr || !version->is_integer() || named == nullptr || !named->is_string() || plans == nullptr ||
      !plans->is_table()) {
    return {{}, std::string(kForm)};
  }
  if (version->as_integer() != kVersion) return {{}, fmt::format("it has version {}", version->as_integer())};
  if (named->as_string() != device) return {{}, fmt::format("it is for {}, not {}", named->as_string(), device)};
  Contents contents;
  for (const auto& [problem, plan] : plans->as_table()) {
    if (!plan.is_string()) return {{}, std::string(kForm)};
    contents.plans[problem] = plan.as_string();
  }
  return contents;
}

// Returns the plans of a file; none if it does not exist.
Contents read(const fs::path& file, const std::string& device) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  const auto text = io::read_text(file, kMostBytes);
  if (!text.ok()) return {{}, text.error()};
  const auto table = io::parse_json(text.value(), file.string());
  if (!table.ok()) return {{}, table.error()};
  return contents_of(table.value(), device);
}
}  // namespace

PlanCache::PlanCache(fs::path file, std::string device) : file_(std::move(file)), device_(std::move(device)) {}

std::optional<std::string> PlanCache::find(const std::string& problem) {
  if (file_.empty()) return std::nullopt;
  if (!kept_) {
    Contents contents = read(file_, device_);
    kept_ = std::move(contents.plans);
    if (!contents.problem.empty()) {
      log::warning(fmt::format("cuDNN plans in {} are not used: {}", file_.string(), contents.problem));
    }
  }
  const auto found = kept_->find(problem);
  return found == kept_->end() ? std::nullopt : std::optional(found->second);
}

void PlanCache::add(const std::string& problem, const std::string& plan) { added_[problem] = plan; }

void PlanCache::save() {
  if (file_.empty() || added_.empty()) return;
  // Another process may have added plans since find() read the file.
  Plans all = std::move(read(file_, device_).plans);
  for (const auto& [problem, plan] : added_) all[problem] = plan;
  Value plans = Value::table();
  for (const auto& [problem, plan] : all) plans.set(problem, plan);
  const Value table = Value::Table{{"version", kVersion}, {"device", device_}, {"plans", std::move(plans)}};
  try {
    std::error_code failed;
    fs::create_directories(file_.parent_path(), failed);
    io::write_file_atomically(file_, io::to_json(table) + "\n");
  } catch (const DataError& error) {
    log::warning(fmt::format("cuDNN plans are not stored: {}", error.what()));
  }
  kept_ = std::move(all);
  added_.clear();
}

}  // namespace roentgen::engine::cuda
