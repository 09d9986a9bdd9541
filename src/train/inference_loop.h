// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inference over a source of batches, in the order that keeps a device busy: it uploads the next batch while it
// computes.
#pragma once

#include <optional>
#include <utility>

#include "data/stage/batch.h"
#include "engine/engine.h"

namespace roentgen::train {

/// Runs every batch of `source`, whose slots are those of `executable`, of inference form. Slots are given back once
/// their batch is queued, so that two of them keep workers and device busy.
/// @param describe gives what `take` needs of a batch; its slot is still held
/// @param take gets that once the forward of the batch is queued: the executable's outputs are those of the batch
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
