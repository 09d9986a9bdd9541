// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cores of each rank, in the form that ranks exchange and the log prints.
#pragma once

#include <string>

#include "runtime/core_list.h"

namespace roentgen::cli {

/// Cores of one rank.
struct RankPlace {
  /// Cores except those for communication.
  runtime::CoreList cores;
  /// Cores for communication; empty: it shares `cores`.
  runtime::CoreList communication;
  /// Some of `cores`, for input alone; empty: input and computing share all of these.
  runtime::CoreList input;
  /// Number of compute threads.
  int threads = 0;
  /// "cuda:0 NVIDIA H200", the card that computes; empty: the cores do.
  std::string card{};
};

/// Serialised form for other ranks.
[[nodiscard]] std::string bytes_of(const RankPlace& place);
[[nodiscard]] RankPlace parse_rank_place(const std::string& bytes);
/// "cuda:0 NVIDIA H200, cores 0-28, input 29, communication 30"; absent groups are left out. `cores` are for computing.
[[nodiscard]] std::string text_of(const RankPlace& place);

}  // namespace roentgen::cli
