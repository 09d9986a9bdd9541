// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SameBatches: a batch source that always returns the same slot, for steps whose images do not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/stage/batch.h"

namespace roentgen::bench {

/// Batch source that returns slot 0 of an executable, unchanged, for every batch.
class SameBatches final : public data::BatchSource {
 public:
  explicit SameBatches(std::int64_t batch) : samples_(static_cast<std::size_t>(batch)) {}
  [[nodiscard]] std::optional<data::Batch> next() override {
    return data::Batch{.slot = 0, .samples = samples_, .valid = std::ssize(samples_)};
  }
  void release(int /*slot*/) override {}

 private:
  std::vector<std::uint32_t> samples_;
};

}  // namespace roentgen::bench
