// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of engines: X(name) declares `std::unique_ptr<Engine> make_<name>_engine()`, which the room
// engine/<name> (or engine/<name>_absent.cpp) defines.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#define RG_ENGINE_LIST(X) \
  X(cpu)                  \
  X(cuda)

namespace roentgen::engine {

class Engine;

#define RG_ENGINE_FACTORY(name) /** As make_engine() of that name. */ std::unique_ptr<Engine> make_##name##_engine();
RG_ENGINE_LIST(RG_ENGINE_FACTORY)
#undef RG_ENGINE_FACTORY

/// Names of all engines, in the order of the list: those this build or machine lacks as well.
[[nodiscard]] inline std::vector<std::string_view> engine_names() {
#define RG_ENGINE_NAME(name) #name,
  return {RG_ENGINE_LIST(RG_ENGINE_NAME)};
#undef RG_ENGINE_NAME
}

}  // namespace roentgen::engine
