// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where in the data a resumed run goes on, by the same ranks or by others. Of the trainer, not for others.
#pragma once

#include "core/shape.h"
#include "data/stage/loader.h"
#include "train/resume.h"
#include "train/trainer.h"

namespace roentgen::train {

/// What loader_options() gives, told where the run stands. With the ranks and the batch of all legs before, that is the
/// batch after the last one; else what no rank has had yet, and then state's legs, step in the epoch and loss are those
/// of the present group. ConfigError as data::resume_elsewhere.
[[nodiscard]] data::LoaderOptions resumed_loader_options(const TrainJob& job, DType dtype, RunState& state);

}  // namespace roentgen::train
