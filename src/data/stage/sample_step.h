// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Work of the stages interleave and map on every sample. For src/data/stage only.
#pragma once

#include <cstdint>
#include <memory>

#include "data/stage/batch_rows.h"
#include "data/stage/stage.h"

namespace roentgen::data {

/// RowFiller::read or RowFiller::map.
using SampleStep = void (RowFiller::*)(Element&, SampleLoader&) const;

/// Applies `step` to every element of the previous stage, by `parallel` threads that work as many elements ahead; 1: by
/// the thread that pulls. context.work must not be null.
[[nodiscard]] std::unique_ptr<StageIterator> with_step(std::unique_ptr<StageIterator> upstream, SampleStep step,
                                                       std::int64_t parallel, const StageContext& context);

}  // namespace roentgen::data
