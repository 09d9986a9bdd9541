// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Makes the engine for a device. A separate build target, because it needs all engines.
#include "engine/engine_list.h"

#include <string>

#include "core/error.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

std::unique_ptr<Engine> make_named(std::string_view name, int device) {
#define RG_ENGINE_CASE(engine, ...) \
  if (name == #engine) return make_##engine##_engine(device);
  RG_ENGINE_LIST(RG_ENGINE_CASE)
#undef RG_ENGINE_CASE
  throw ConfigError(error_text("engine.device", "engine", "a name in src/engine/engine_list.h", name, "--device auto"));
}

}  // namespace

std::string why_not_auto(std::string_view engine) {
  try {
    return make_named(engine, 0)->why_not_auto();
  } catch (const DeviceError& error) {
    return error.what();
  }
}

DeviceChoice resolve_device(const DeviceChoice& choice) {
  if (choice != DeviceChoice{}) return choice;
  const std::vector<EngineName> engines = engine_names();
  for (auto engine = engines.rbegin(); engine != engines.rend(); ++engine) {
    if (why_not_auto(engine->name).empty()) return {.engine = std::string(engine->name)};
  }
  throw DeviceError(error_text("engine.device", "device auto", "a device that can train on this machine", "none",
                               "roentgen doctor, which shows what each device needs"));
}

std::unique_ptr<Engine> make_engine(const DeviceChoice& choice) {
  const DeviceChoice device = resolve_device(choice);
  return make_named(device.engine, device.index.value_or(0));
}

std::unique_ptr<Engine> make_engine(std::string_view device) { return make_engine(parse_device(device)); }

std::unique_ptr<Engine> make_planner(std::string_view device, const std::string& card) {
  constexpr std::string_view kCuda = "cuda";
  constexpr const char* kDefaultCard = "h200";
  const DeviceChoice choice = resolve_device(parse_device(device));
  if (choice.engine != kCuda && !card.empty()) {
    throw ConfigError(error_text("engine.device", "--card " + card, "--device cuda", choice.text(), "--device cuda"));
  }
  if (choice.engine != kCuda) return make_engine(choice);
  if (!card.empty()) return make_cuda_planner(card);
  if (!choice.index && runtime::find_cuda_devices().devices.empty()) return make_cuda_planner(kDefaultCard);
  return make_engine(choice);
}

}  // namespace roentgen::engine
