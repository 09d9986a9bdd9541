// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Described cards: GPU properties from which cuDNN can plan for a card that this machine lacks.
#pragma once

#include <cstddef>
#include <string>

namespace roentgen::engine::cuda {

/// A GPU as cuDNN describes it.
struct Card {
  std::string name;              ///< name from the driver, such as "NVIDIA H200"
  int compute_capability = 0;    ///< 10 * major + minor, such as 90 for 9.0
  int multiprocessors = 0;       ///< number of streaming multiprocessors
  std::size_t memory_bytes = 0;  ///< memory of the whole card
  std::string properties;        ///< JSON text of cuDNN's device property descriptor
};

/// Returns the names of the cards that the program knows: "h100, h200".
[[nodiscard]] std::string card_names();

/// Returns a known card by name, or the card in a file that tools/gpu/card_properties.py wrote. Throws ConfigError if
/// the name is unknown, or the file is unreadable or lacks a property.
/// @param text one of card_names(), or a path that ends in .json
[[nodiscard]] Card find_card(const std::string& text);

}  // namespace roentgen::engine::cuda
