// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures the links between the GPUs of several ranks by averages over NCCL.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "dist/communicator.h"
#include "dist/nccl_averages.h"

namespace roentgen::dist {

/// Settings of a measurement of GPU links.
struct CardTest {
  /// Size of the values that are averaged, in bytes; a multiple of 4.
  std::size_t bytes = std::size_t{64} << 20U;
  int times = 10;                           ///< number of measurements after a warm-up, at least 1
  std::chrono::milliseconds limit{60'000};  ///< timeout of each wait
};

/// Speed of the links between GPUs.
struct CardLinks {
  std::string library{};  ///< "NCCL 2.28.9"
  /// Bandwidth of each GPU, which sends and receives at the same time, in bytes per second. A ring of n ranks moves
  /// 2 (n - 1) / n of the values (Patarasuk and Yuan 2009). 0 with one rank.
  double bytes_per_s = 0.0;
  double latency_s = 0.0;  ///< time of averaging a single value
};

/// Averages values of all ranks on their devices, and returns the best speeds. All ranks must call it together.
/// Throws ConfigError with the reason if the ranks cannot average by NCCL, CommError if it fails, and DeviceError if
/// the result is wrong.
[[nodiscard]] CardLinks measure_card_links(Communicator& group, const GradientDevice& where, const CardTest& test);

}  // namespace roentgen::dist
