// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that all ranks train the same: data, recipe, options.
#pragma once

namespace roentgen::train {

struct TrainJob;

/// ConfigError where a rank's data, recipe or options are not rank 0's. Compares what require_same_images() does.
void require_same_job(const TrainJob& job);

}  // namespace roentgen::train
