// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shards: assignment of gradient buckets to parameter servers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/arena.h"

namespace roentgen::train {

/// Throws ConfigError if there are more servers than gradient buckets.
void require_buckets(std::int64_t buckets, int servers);

/// Divides buckets among servers: each bucket, from the largest on, is assigned to the server with the fewest elements
/// so far. Deterministic. Throws like require_buckets().
/// @return index of the server of each bucket
[[nodiscard]] std::vector<int> assign_buckets(std::span<const engine::ArenaRange> buckets, int servers);

/// Returns the buckets of one server, ascending.
[[nodiscard]] std::vector<std::int64_t> buckets_of(std::span<const int> assigned, int server);

}  // namespace roentgen::train
