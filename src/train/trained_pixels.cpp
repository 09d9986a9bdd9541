// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trained_pixels.h"

#include <algorithm>

#include "train/ranks.h"

namespace roentgen::train {

TrainedPixels::TrainedPixels(std::int64_t samples, const std::vector<std::string>& before)
    : hashes_(samples), is_seen_(static_cast<std::size_t>(samples), false) {
  constexpr int kHex = 16;
  for (const std::string& text : before) known_.push_back(std::stoull(text, nullptr, kHex));
}

void TrainedPixels::add(std::span<const std::uint32_t> samples) {
  for (const std::uint32_t sample : samples) {
    if (is_seen_.at(sample)) continue;
    is_seen_[sample] = true;
    news_.push_back(sample);
  }
}

std::vector<std::string> TrainedPixels::list(const Ranks& ranks) {
  std::vector<std::uint64_t> own;
  for (const std::uint32_t sample : news_) {
    if (const std::uint64_t hash = hashes_.get(sample); hash != 0) own.push_back(hash);
  }
  news_.clear();
  const std::vector<std::uint64_t> all = gather_on_first(ranks, own, {.name = "images trained on"});
  known_.insert(known_.end(), all.begin(), all.end());
  std::ranges::sort(known_);
  known_.erase(std::ranges::unique(known_).begin(), known_.end());
  std::vector<std::string> texts(known_.size());
  std::ranges::transform(known_, texts.begin(), data::pixel_hash_text);
  return texts;
}

}  // namespace roentgen::train
