// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Computes a value for train.max_bad, the allowed fraction of unreadable images.
#pragma once

#include <cstdint>

namespace roentgen::data {

/// Smallest fraction, rounded up to two or three digits, that allows `bad` unreadable images among `images`; at most 1.
[[nodiscard]] double share_admitting(std::int64_t bad, std::int64_t images);

}  // namespace roentgen::data
