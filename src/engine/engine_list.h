// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of all engines. X(name, has_several_devices) declares `std::unique_ptr<Engine> make_<name>_engine(int)`, which
// engine/<name> or engine/<name>_absent.cpp defines. "auto" is the last engine of the list that can train on this
// machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define RG_ENGINE_LIST(X) \
  X(cpu, false)           \
  X(cuda, true)

namespace roentgen::engine {

class Engine;

#define RG_ENGINE_FACTORY(name, ...) \
  /** As make_engine() of that name and device number. */ std::unique_ptr<Engine> make_##name##_engine(int device);
RG_ENGINE_LIST(RG_ENGINE_FACTORY)
#undef RG_ENGINE_FACTORY

/// Makes an engine that only plans: for a described CUDA card, which its description() names. plan() needs cuDNN but no
/// GPU. Throws ConfigError for an unknown card (engine/cuda/cards.h) and DeviceError without the CUDA toolkit.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_planner(const std::string& card);

/// Name of an engine, and whether it can have several devices.
struct EngineName {
  std::string_view name;             ///< "cpu"
  bool has_several_devices = false;  ///< true if text such as "cuda:1" selects one of several devices
};

/// Returns all engines in the order of the list, including those that this build or machine lacks.
[[nodiscard]] inline std::vector<EngineName> engine_names() {
#define RG_ENGINE_NAME(name, has_several_devices) EngineName{#name, has_several_devices},
  return {RG_ENGINE_LIST(RG_ENGINE_NAME)};
#undef RG_ENGINE_NAME
}

}  // namespace roentgen::engine
