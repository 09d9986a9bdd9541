// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Work of an update rule (update_list.h): the arenas it reads and writes, and the numbers of this step.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/arena.h"

namespace roentgen::engine {

/// Consecutive elements that share one weight decay.
struct UpdateRange {
  std::int64_t begin = 0;     ///< first arena element
  std::int64_t count = 0;     ///< elements
  double weight_decay = 0.0;  ///< weight decay of these elements
  /// True if the range is all of one layer's weights, for rules that use their norms.
  bool is_layer = false;
};

/// One update of some ranges. All arenas are of one executable and of one kind.
struct UpdateWork {
  Arena& target;                        ///< what changes: parameters, averages, sums of gradients
  const Arena& source;                  ///< what it changes by: gradients; parameters for averages
  std::span<Arena* const> state{};      ///< state of the rule, in the order of its state()
  std::span<const UpdateRange> ranges;  ///< parts to update
  double lr = 0.0;                      ///< learning rate of this step
  std::int64_t step = 1;                ///< 1 for the first update: Adam's bias correction
  /// Multiplies every element of `source` first: 1 / accumulated batches.
  double scale = 1.0;
  /// Largest L2 norm of the whole scaled source; 0: no limit. Above it, `scale` shrinks by
  /// clip_norm / (norm + 1e-6), as in torch.nn.utils.clip_grad_norm_.
  double clip_norm = 0.0;
  /// The work starts after this event of the device; null: after what is queued. The host does not wait.
  const runtime::Event* after = nullptr;
};

}  // namespace roentgen::engine
