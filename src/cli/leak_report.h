// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Results of the leak checks (eval/leak.h) as `eval` and `predict` tell them.
#pragma once

#include <span>
#include <string>

#include "eval/leak.h"

namespace roentgen::cli {

/// Prints `clean` where `leak` is empty; else throws DataError, or warns.
void report_leak(const std::string& leak, const std::string& clean, eval::OnOverlap on_overlap);

/// Counts `tested` images among those trained on, both by data::pixel_hash_text() ("": blank, or not read), and reports
/// it.
eval::PixelOverlap check_pixels(std::span<const std::string> training, std::span<const std::string> tested,
                                eval::OnOverlap on_overlap);

}  // namespace roentgen::cli
