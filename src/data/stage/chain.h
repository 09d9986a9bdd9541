// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chain: the stages of a pipeline before the batch, run by the Loader, or alone to compute the order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pipeline.h"
#include "data/stage/stage.h"

namespace roentgen::data {

/// Whether the pipeline repeats the data.
[[nodiscard]] bool has_repeat(const Pipeline& pipeline);

/// The files that hold `samples` (indices), in the order in which the samples name them first.
[[nodiscard]] FileTable file_table(const Dataset& dataset, const std::vector<std::uint32_t>& samples);

/// The context must outlive it. One thread.
class Chain {
 public:
  Chain(const Pipeline& pipeline, const StageContext& context);

  /// The next element; false at the end of all passes.
  [[nodiscard]] bool next(Element& out) { return last_->next(out); }
  /// Counters of each stage, in order; zero for stages that the Loader runs itself. Thread-safe.
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  std::unique_ptr<StageIterator> last_;
  /// Owned by the one behind it; null for stages that do nothing here.
  std::vector<std::pair<std::string, const StageIterator*>> stages_;
};

/// Elements that one pass over the data (that of context.first_epoch) gives to this rank, without doing any work.
[[nodiscard]] std::int64_t elements_per_epoch(const Pipeline& pipeline, const StageContext& context);

/// Batches of an epoch, the same on every rank. With a repeat: as many whole ones as the rank with the fewest elements
/// has; the others begin their next pass earlier. Without: as many as the rank with the most elements needs; other
/// ranks add padding.
[[nodiscard]] std::int64_t batches_per_epoch(const Pipeline& pipeline, const StageContext& context);

/// Indices of the samples that the first `batches` batches of each rank hold which belong to pass `epoch`, ascending.
/// Without doing any work.
[[nodiscard]] std::vector<std::uint32_t> samples_seen(const Pipeline& pipeline, const StageContext& context,
                                                      std::int64_t batches, std::uint32_t epoch);

}  // namespace roentgen::data
