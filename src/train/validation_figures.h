// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What an epoch's record says of its validation. Not for others than the training loop.
#pragma once

namespace roentgen::eval {
struct EvalTable;
}

namespace roentgen::train {

class Ranks;
struct EpochRecord;
struct PredictResult;

/// Sets the figures of a validation; rank 0's on all ranks.
/// @param table of `result`; counts on rank 0 alone
void set_figures(EpochRecord& record, const Ranks& ranks, const PredictResult& result, const eval::EvalTable& table);

}  // namespace roentgen::train
