// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the per-sample work of the stages interleave and map. For src/data/stage only.
#pragma once

#include <cstdint>
#include <memory>

#include "data/stage/batch_rows.h"
#include "data/stage/stage.h"

namespace roentgen::data {

/// Work on a sample: RowFiller::read or RowFiller::map.
using SampleStep = void (RowFiller::*)(Element&, SampleLoader&) const;

/// Applies `step` to every element of the previous stage. Uses `parallel` threads that work ahead by as many elements;
/// 1: the pulling thread does the work. context.work must not be null.
[[nodiscard]] std::unique_ptr<StageIterator> with_step(std::unique_ptr<StageIterator> upstream, SampleStep step,
                                                       std::int64_t parallel, const StageContext& context);

}  // namespace roentgen::data
