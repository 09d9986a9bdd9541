// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NamesIterator: implementation of the stages `files` and `samples`. For src/data/stage only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/stage/stage.h"

namespace roentgen::data {

/// Returns an element for each of `count` files or samples, in order.
class NamesIterator final : public StageIterator {
 public:
  /// @param indices indices of the elements, which must outlive the object; empty: 0, 1, 2, ...
  explicit NamesIterator(std::size_t count, std::span<const std::uint32_t> indices = {})
      : count_(count), indices_(indices) {}
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    at_ = 0;
  }

 private:
  bool advance(Element& out) override {
    if (at_ == count_) return false;
    const std::uint32_t index = indices_.empty() ? static_cast<std::uint32_t>(at_) : indices_[at_];
    out = {.index = index, .epoch = epoch_, .draw_epoch = epoch_};
    ++at_;
    return true;
  }

  const std::size_t count_;
  const std::span<const std::uint32_t> indices_;
  std::uint32_t epoch_ = 0;
  std::size_t at_ = 0;
};

}  // namespace roentgen::data
