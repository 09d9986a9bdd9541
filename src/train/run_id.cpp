// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <random>

#include "core/log.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::train {
namespace {

constexpr std::size_t kDigits = 16;

// Returns the contents of environment.json; an empty table if it is missing or invalid.
Value environment_of(const RunFolder& run) {
  auto environment = io::read_json(run.environment());
  return environment && environment.value().is_table() ? std::move(environment).value() : Value::table();
}

}  // namespace

std::string new_run_id() {
  std::random_device device;
  return fmt::format("{:016x}", std::uniform_int_distribution<std::uint64_t>()(device));
}

std::string run_id(const RunFolder& run) {
  const Value environment = environment_of(run);
  const Value* id = environment.find(kRunIdKey);
  if (id == nullptr || !id->is_string()) return {};
  const std::string& text = id->as_string();  // checked, because it becomes a part of paths
  const bool is_id = text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_id ? text : "";
}

void ensure_run_id(const RunFolder& run) {
  if (!run_id(run).empty()) return;
  Value environment = environment_of(run);
  if (environment.as_table().empty() && std::filesystem::exists(run.environment())) {
    log::warning(run.environment().string() + " is damaged, so it is replaced by one with only a run_id");
  }
  environment.set(kRunIdKey, new_run_id());
  io::write_file_atomically(run.environment(), io::to_json(environment) + "\n");
}

}  // namespace roentgen::train
