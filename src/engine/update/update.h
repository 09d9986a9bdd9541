// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Work of an update rule (update_list.h), such as an optimizer step: the arenas it reads and writes, and the numbers of
// this step.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/arena.h"

namespace roentgen::engine {

/// Range of arena elements that share one weight decay.
struct UpdateRange {
  std::int64_t begin = 0;     ///< index of the first arena element
  std::int64_t count = 0;     ///< elements
  double weight_decay = 0.0;  ///< weight decay of these elements
  /// True if the range is all of one layer's weights. Rules that use the norm of a layer need this.
  bool is_layer = false;
};

/// One update of ranges of an arena. All arenas belong to one executable and have one ArenaKind.
struct UpdateWork {
  Arena& target;                        ///< arena to change: parameters, weight averages or gradient sums
  const Arena& source;                  ///< arena to read: gradients, or parameters if the target is their average
  std::span<Arena* const> state{};      ///< arenas of the rule's state, in the order of its state()
  std::span<const UpdateRange> ranges;  ///< ranges of the arenas to update
  double lr = 0.0;                      ///< learning rate of this step
  std::int64_t step = 1;                ///< number of the update from 1, for Adam's bias correction
  /// Factor for every element of `source` before it is used, such as 1 / accumulated batches.
  double scale = 1.0;
  /// Largest allowed L2 norm of the whole scaled source; 0: no limit. If the norm is larger, `scale` is multiplied by
  /// clip_norm / (norm + 1e-6), as in torch.nn.utils.clip_grad_norm_.
  double clip_norm = 0.0;
  /// Event of the device that the update waits for; null: only work queued earlier. The host does not wait.
  const runtime::Event* after = nullptr;
};

}  // namespace roentgen::engine
