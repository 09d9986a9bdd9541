// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How a training run ended, and what its weights can be used for.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::train {
class RunFolder;
struct Recipe;
struct TrainOutcome;
}  // namespace roentgen::train

namespace roentgen::cli {

/// What --json of `roentgen train` holds: docs/formats/run.md.
[[nodiscard]] Value outcome_value(const train::TrainOutcome& outcome, const train::RunFolder& folder);

/// A line about a network that torchvision cannot make, for before it is trained: its weights load there as tensors
/// only. Empty where they load into torchvision's model.
[[nodiscard]] std::string torchvision_note(const train::Recipe& recipe);

}  // namespace roentgen::cli
