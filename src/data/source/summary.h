// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts the content of a listed data set.
#pragma once

#include "data/source/dataset.h"

namespace roentgen::data {

/// Fills dataset.summaries; notes labels without a positive. A list's hash is over base names where these are distinct
/// (as published lists are), else over ids. DataError when a label is known of no image, or with UnknownLabels::Mask
/// when none is of any.
void summarise(Dataset& dataset, UnknownLabels unknown);

}  // namespace roentgen::data
