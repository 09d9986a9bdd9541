// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Share of unreadable images, as the key train.max_bad takes it.
#pragma once

#include <cstdint>

namespace roentgen::data {

/// Smallest share, of two or three digits, that admits so many of the images: at most 1.
[[nodiscard]] double share_admitting(std::int64_t bad, std::int64_t images);

}  // namespace roentgen::data
