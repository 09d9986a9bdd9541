// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Described cards: properties by which cuDNN plans for a card that this machine lacks.
#pragma once

#include <cstddef>
#include <string>

namespace roentgen::engine::cuda {

/// A card as cuDNN describes it. Plain value.
struct Card {
  std::string name;              ///< "NVIDIA H200"
  int compute_capability = 0;    ///< 90 for 9.0
  int multiprocessors = 0;       ///< number of streaming multiprocessors
  std::size_t memory_bytes = 0;  ///< memory of the whole card
  std::string properties;        ///< JSON text of cuDNN's device property descriptor
};

/// Names of the cards that the program describes: "h100, h200".
[[nodiscard]] std::string card_names();

/// The described card of that name, or the card of a file that tools/gpu/card_properties.py wrote. Throws ConfigError
/// for another name, an unreadable file, or one that lacks a property.
/// @param text one of card_names(), or a path that ends in .json
[[nodiscard]] Card find_card(const std::string& text);

}  // namespace roentgen::engine::cuda
