// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sum of gradients over batches: target += source, or target = source for the first batch.
#pragma once

#include <string_view>
#include <vector>

namespace roentgen::engine {

/// Options of gradient accumulation, which ignores lr, step and scale of UpdateWork.
struct Accumulate {
  bool is_first = false;  ///< overwrites the target instead of adding to it

  static constexpr bool kIsLayerwise = false;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors: none.
  [[nodiscard]] std::vector<std::string_view> state() const { return {}; }
};

}  // namespace roentgen::engine
