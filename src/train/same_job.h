// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that all ranks train with the same data, recipe and options.
#pragma once

namespace roentgen::train {

struct CheckpointInfo;
struct TrainJob;

/// Throws ConfigError on all ranks if the data, recipe or options of a rank differ from rank 0's. Includes
/// require_same_images(). All ranks must call it.
/// @param info description of the job (describe_run())
void require_same_job(const TrainJob& job, const CheckpointInfo& info);

}  // namespace roentgen::train
