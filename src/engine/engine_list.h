// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of engines: X(name, has_several_devices) declares `std::unique_ptr<Engine> make_<name>_engine(int)`,
// which the room engine/<name> (or engine/<name>_absent.cpp) defines. "auto" is the last one that can train here.
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

/// Engine "cuda" that plans for a described card and computes nothing: its description() names the card. plan() needs
/// cuDNN, and no device. ConfigError for an unknown card (engine/cuda/cards.h), DeviceError without the toolkit.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_planner(const std::string& card);

/// An engine's name, and what its devices are.
struct EngineName {
  std::string_view name;             ///< "cpu"
  bool has_several_devices = false;  ///< "cuda:1" names one of them
};

/// Names of all engines, in the order of the list: those this build or machine lacks as well.
[[nodiscard]] inline std::vector<EngineName> engine_names() {
#define RG_ENGINE_NAME(name, has_several_devices) EngineName{#name, has_several_devices},
  return {RG_ENGINE_LIST(RG_ENGINE_NAME)};
#undef RG_ENGINE_NAME
}

}  // namespace roentgen::engine
