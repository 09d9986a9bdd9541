// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How a training run ended, as JSON.
#pragma once

#include "core/value.h"

namespace roentgen::train {

class RunFolder;
struct TrainOutcome;

/// Contents of --json of `roentgen train`: docs/formats/run.md.
[[nodiscard]] Value outcome_value(const TrainOutcome& outcome, const RunFolder& folder);

}  // namespace roentgen::train
