// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cores and card of each rank, which ranks send to each other and the log prints.
#pragma once

#include <string>

#include "runtime/core_list.h"

namespace roentgen::cli {

/// Cores and card of one rank.
struct RankPlace {
  /// Cores for computing and input, without those for communication.
  runtime::CoreList cores;
  /// Cores for communication; empty: communication shares `cores`.
  runtime::CoreList communication;
  /// Part of `cores` that only input uses; empty: input and computing share `cores`.
  runtime::CoreList input;
  /// Number of compute threads.
  int threads = 0;
  /// Number of sockets that the cores belong to.
  int sockets = 1;
  /// Card that computes, such as "cuda:0 NVIDIA H200"; empty: the cores compute.
  std::string card{};
};

/// Returns the serialised form, which other ranks read with parse_rank_place().
[[nodiscard]] std::string bytes_of(const RankPlace& place);
[[nodiscard]] RankPlace parse_rank_place(const std::string& bytes);
/// Returns text such as "cuda:0 NVIDIA H200, cores 0-28, input 29, communication 30"; empty groups are left out.
/// `cores` lists those for computing.
[[nodiscard]] std::string text_of(const RankPlace& place);

}  // namespace roentgen::cli
