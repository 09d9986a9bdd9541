// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How a training run ended, for machines.
#pragma once

#include "core/value.h"

namespace roentgen::train {
class RunFolder;
struct TrainOutcome;
}  // namespace roentgen::train

namespace roentgen::cli {

/// What --json of `roentgen train` holds: docs/formats/run.md.
[[nodiscard]] Value outcome_value(const train::TrainOutcome& outcome, const train::RunFolder& folder);

}  // namespace roentgen::cli
