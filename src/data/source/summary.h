// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts images, patients and labels of a listed data set.
#pragma once

#include "data/source/dataset.h"

namespace roentgen::data {

/// Fills dataset.summaries and notes labels without a positive image. The hash of a split's list covers base names if
/// these are distinct (as in published lists), else ids. Throws DataError if a label is unknown for all images; with
/// UnknownLabels::Mask only if all labels are.
void summarise(Dataset& dataset, UnknownLabels unknown);

}  // namespace roentgen::data
