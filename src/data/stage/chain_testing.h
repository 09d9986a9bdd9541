// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for tests of stages: the order that a pipeline produces, without images.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "data/stage/chain.h"
#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Settings of an OrderOf.
struct OrderOptions {
  std::int64_t samples = 10;
  /// Number of samples in each file; empty: one per file.
  std::vector<std::int64_t> files{};
  std::uint64_t seed = 7;
  ShardOptions shard{};
  std::uint32_t epochs = 1;
};

/// Computes the order of a pipeline over synthetic samples 0, 1, 2, ...
class OrderOf {
 public:
  explicit OrderOf(std::string_view pipeline, OrderOptions options = {})
      : pipeline_(parse_pipeline(pipeline)), options_(std::move(options)) {
    std::uint32_t next = 0;
    std::vector<std::int64_t> sizes = options_.files;
    if (sizes.empty()) sizes.assign(static_cast<std::size_t>(options_.samples), 1);
    for (const std::int64_t size : sizes) {
      files_.emplace_back();
      for (std::int64_t i = 0; i < size; ++i) files_.back().push_back(next++);
    }
    samples_.resize(next);
    std::iota(samples_.begin(), samples_.end(), 0U);
  }

  [[nodiscard]] StageContext context() const {
    return {.samples = samples_,
            .files = &files_,
            .seed = options_.seed,
            .shard = options_.shard,
            .epochs = options_.epochs};
  }
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  /// Returns at most `most` elements.
  [[nodiscard]] std::vector<Element> elements(std::size_t most = 100000) const {
    const StageContext now = context();
    Chain chain(pipeline_, now);
    std::vector<Element> elements;
    for (Element element; elements.size() < most && chain.next(element);) elements.push_back(element);
    return elements;
  }
  /// Indices of at most `most` elements; padding is 999.
  [[nodiscard]] std::vector<std::uint32_t> indices(std::size_t most = 100000) const {
    std::vector<std::uint32_t> indices;
    for (const Element& element : elements(most)) indices.push_back(element.is_padding ? 999 : element.index);
    return indices;
  }
  [[nodiscard]] std::int64_t batches() const { return batches_per_epoch(pipeline_, context()); }

 private:
  Pipeline pipeline_;
  OrderOptions options_;
  FileTable files_;
  std::vector<std::uint32_t> samples_;
};

/// Samples of all ranks in one epoch, by batch and then by rank, without padding.
inline std::vector<std::uint32_t> of_all_ranks(std::string_view pipeline, OrderOptions options) {
  std::vector<std::vector<std::uint32_t>> ranks;
  for (options.shard.rank = 0; options.shard.rank < options.shard.ranks; ++options.shard.rank) {
    ranks.push_back(OrderOf(pipeline, options).indices());
  }
  std::vector<std::uint32_t> all;
  const auto batch = static_cast<std::size_t>(options.shard.batch);
  for (std::size_t begin = 0; begin < ranks.front().size(); begin += batch) {
    for (const auto& rank : ranks) {
      for (std::size_t i = begin; i < begin + batch; ++i) {
        if (rank.at(i) != 999) all.push_back(rank[i]);
      }
    }
  }
  return all;
}

}  // namespace roentgen::data
