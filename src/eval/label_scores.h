// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects the samples of one label from predictions.
#pragma once

#include <cstddef>

#include "eval/auroc.h"
#include "eval/bootstrap.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Ranks the scores of the images whose truth for label number `label` is known. The units for resampling are the
/// patients, as `clusters` numbers them (make_clusters(predictions.patients)).
[[nodiscard]] RankedScores rank_label(const Predictions& predictions, std::size_t label, const Clusters& clusters);

}  // namespace roentgen::eval
