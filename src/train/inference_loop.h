// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs inference over a source of batches and uploads the next batch while the current one computes.
#pragma once

#include <optional>
#include <utility>

#include "data/stage/batch.h"
#include "engine/engine.h"

namespace roentgen::train {

/// Runs every batch of `source`, whose slots are those of `executable`, compiled for inference. A slot is returned once
/// its batch is queued, so two slots keep workers and device busy.
/// @param describe returns the data about a batch that `take` needs; called while the slot still holds the batch
/// @param take receives that data once the forward is queued; the executable's outputs are then those of the batch
template <typename Describe, typename Take>
void run_inference(engine::Executable& executable, data::BatchSource& source, const Describe& describe,
                   const Take& take) {
  const auto next = [&] {
    std::optional<data::Batch> batch = source.next();
    if (batch) executable.bind_slot(batch->slot);
    return batch;
  };
  std::optional<data::Batch> batch = next();
  while (batch) {
    executable.forward();
    auto described = describe(*batch);
    source.release(batch->slot);
    batch = next();
    take(std::move(described));
  }
}

}  // namespace roentgen::train
