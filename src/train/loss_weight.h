// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// LossWeight: corrects the loss of an update that consists of several batches, on one or several ranks. The result is
// the loss of one batch with all their images.
#pragma once

#include <cstdint>
#include <span>

#include "engine/engine.h"

namespace roentgen::train {

/// Sums over batches of an update.
struct LossCount {
  double batch_divisor = 0.0;   ///< divisors of the losses of the batches
  double update_divisor = 0.0;  ///< contributions to the divisor of the update's loss, such as numbers of known labels
  /// Adds the batches of another count.
  LossCount& operator+=(const LossCount& other) {
    batch_divisor += other.batch_divisor;
    update_divisor += other.update_divisor;
    return *this;
  }
  /// Returns the factor of the mean of the batches' losses, and of their gradients; 1 if no label is known.
  [[nodiscard]] double factor() const { return update_divisor > 0.0 ? batch_divisor / update_divisor : 1.0; }
};

/// Counts the labels of batches. A loss with is_partial divides each batch by a constant (graph/ops/losses.h). So the
/// mean over all batches of an update, times LossCount::factor(), is the loss of one batch with all their images, for
/// every reduction. If all labels are known, or the loss is not partial, the factor is exactly 1, except for the
/// reduction Sum. Not thread-safe.
class LossWeight {
 public:
  /// @param executable executable with a loss and a mask; must outlive this object
  /// @param batches number of batches of an update, over all ranks that make it
  LossWeight(engine::Executable& executable, std::int64_t batches);

  /// Returns the count of the batch in a slot, which must not be refilled meanwhile. Reads its mask (N, K) or (N, 1).
  [[nodiscard]] LossCount of(int slot) const;

 private:
  enum class Rule : std::uint8_t { None, Labels, Images, Sum };

  engine::Executable& executable_;
  Rule rule_ = Rule::None;
  double batches_;
  std::int64_t mask_ = -1;    ///< index of the input
  std::int64_t columns_ = 1;  ///< labels of an image
};

}  // namespace roentgen::train
