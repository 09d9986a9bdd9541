// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chain: the stages of a pipeline before the batch. The Loader runs them, or they run alone to compute the order of
// samples.
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

/// True if the pipeline contains a repeat stage.
[[nodiscard]] bool has_repeat(const Pipeline& pipeline);

/// Files that contain `samples` (indices), in the order in which the samples first refer to them.
[[nodiscard]] FileTable file_table(const Dataset& dataset, const std::vector<std::uint32_t>& samples);

/// Connected stages. The context must outlive the object. Not thread-safe.
class Chain {
 public:
  Chain(const Pipeline& pipeline, const StageContext& context);

  /// Returns the next element; false at the end of all passes.
  [[nodiscard]] bool next(Element& out) { return last_->next(out); }
  /// Counters of each stage, in order; zero for stages that the Loader implements. Thread-safe.
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  std::unique_ptr<StageIterator> last_;
  /// Names of stages and their iterators. Each iterator is owned by the next; null for stages that the Loader
  /// implements.
  std::vector<std::pair<std::string, const StageIterator*>> stages_;
};

/// Number of elements that this rank gets in one pass over the data (that of context.first_epoch). Computed without
/// reading files.
[[nodiscard]] std::int64_t elements_per_epoch(const Pipeline& pipeline, const StageContext& context);

/// Number of batches in an epoch, equal on all ranks. With a repeat stage, it is the number of full batches of the rank
/// with the fewest elements; other ranks begin their next pass earlier. Without repeat, it is the number that the rank
/// with the most elements needs; other ranks add padding.
[[nodiscard]] std::int64_t batches_per_epoch(const Pipeline& pipeline, const StageContext& context);

/// Indices (ascending) of those samples of pass `epoch` that lie in the first `batches` batches of any rank. Computed
/// without reading files.
[[nodiscard]] std::vector<std::uint32_t> samples_seen(const Pipeline& pipeline, const StageContext& context,
                                                      std::int64_t batches, std::uint32_t epoch);

}  // namespace roentgen::data
