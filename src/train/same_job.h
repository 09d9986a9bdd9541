// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that all ranks train the same: data, recipe, options.
#pragma once

namespace roentgen::train {

struct CheckpointInfo;
struct TrainJob;

/// Throws ConfigError on all ranks where the data, recipe or options of one are not rank 0's. Compares what
/// require_same_images() compares, too. All ranks call it.
/// @param info of the job (describe_run())
void require_same_job(const TrainJob& job, const CheckpointInfo& info);

}  // namespace roentgen::train
