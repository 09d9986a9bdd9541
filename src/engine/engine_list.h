// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of engines: X(name) declares `std::unique_ptr<Engine> make_<name>_engine()`, which the room
// engine/<name> (or engine/<name>_absent.cpp) defines.
#pragma once

#include <memory>

#define RG_ENGINE_LIST(X) \
  X(cpu)                  \
  X(cuda)

namespace roentgen::engine {

class Engine;

#define RG_ENGINE_FACTORY(name) std::unique_ptr<Engine> make_##name##_engine();
RG_ENGINE_LIST(RG_ENGINE_FACTORY)
#undef RG_ENGINE_FACTORY

}  // namespace roentgen::engine
