// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of all commands: X(name) declares make_<name>_command(), which cli/<name>.cpp defines.
#pragma once

#include <memory>

#include "cli/command.h"

#define RG_COMMAND_LIST(X) \
  X(synth)                 \
  X(train)                 \
  X(eval)                  \
  X(predict)               \
  X(compare)               \
  X(inspect)               \
  X(convert)               \
  X(convert_weights)       \
  X(copy_local)            \
  X(look)                  \
  X(export)                \
  X(report)                \
  X(schedule)              \
  X(init)                  \
  X(recipes)               \
  X(models)                \
  X(bench)                 \
  X(doctor)

namespace roentgen::cli {

#define RG_COMMAND_FACTORY(name) std::unique_ptr<Command> make_##name##_command();
RG_COMMAND_LIST(RG_COMMAND_FACTORY)
#undef RG_COMMAND_FACTORY

}  // namespace roentgen::cli
