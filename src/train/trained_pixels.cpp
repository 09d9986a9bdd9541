// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trained_pixels.h"

#include <algorithm>
#include <utility>

namespace roentgen::train {

TrainedPixels::TrainedPixels(std::int64_t samples, std::vector<std::string> before)
    : hashes_(samples), is_seen_(static_cast<std::size_t>(samples), false), before_(std::move(before)) {}

void TrainedPixels::add(std::span<const std::uint32_t> samples) {
  for (const std::uint32_t sample : samples) is_seen_.at(sample) = true;
}

std::vector<std::string> TrainedPixels::list() const {
  std::vector<std::string> texts = before_;
  for (std::uint32_t sample = 0; sample < is_seen_.size(); ++sample) {
    const std::uint64_t hash = is_seen_[sample] ? hashes_.get(sample) : 0;
    if (hash != 0) texts.push_back(data::pixel_hash_text(hash));
  }
  std::ranges::sort(texts);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
  return texts;
}

}  // namespace roentgen::train
