// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The choice of an engine by name; in a target of its own, since it needs all of them.
#include "engine/engine_list.h"

#include <string>

#include "core/error.h"
#include "engine/engine.h"

namespace roentgen::engine {

std::unique_ptr<Engine> make_engine(std::string_view name) {
#define RG_ENGINE_CASE(engine) \
  if (name == #engine) return make_##engine##_engine();
  RG_ENGINE_LIST(RG_ENGINE_CASE)
#undef RG_ENGINE_CASE
  std::string known;
  for (const std::string_view other : engine_names()) known += (known.empty() ? "one of " : ", ") + std::string(other);
  throw ConfigError(error_text("engine.list", "engine", known, name, "roentgen doctor, which says what each needs"));
}

}  // namespace roentgen::engine
