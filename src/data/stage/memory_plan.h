// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Upper bound of a pipeline's memory, stage by stage, before anything is read. A pipeline that does not fit is refused
// at the start, not killed hours later. Pages of a DiskCache belong to the system and are not counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Sizes of one sample.
struct SampleBytes {
  std::uint64_t file = 0;     ///< bytes as stored
  std::uint64_t decoded = 0;  ///< bytes of its pixels
};

/// The largest of up to `looked_at` of `samples` (indices), evenly spread, by their headers; what cannot be read is
/// left out. Reads their files.
/// @param channels of the decoded image: 1, or 3 where the file has colours
[[nodiscard]] SampleBytes largest_sample(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                         int channels, int looked_at = 16);

/// Quantities that determine the memory of a pipeline.
struct MemoryNeeds {
  std::int64_t samples = 0;  ///< samples that are read
  SampleBytes sample;        ///< the largest sample
  std::int64_t batch = 1;    ///< rows of a batch
  /// Bytes of a batch row: image, labels and mask (slot_bytes() and 8 bytes a label).
  std::uint64_t row_bytes = 0;
  /// Threads of a map_and_batch that names no number, and files that are read ahead of them.
  int workers = 1;
  int readers = 0;  ///< files read ahead
  int slots = 2;    ///< batches held at a time
};

/// Memory of a stage.
struct MemoryUse {
  /// "shuffle(buffer=500)", "2 decoding threads", "3 batches".
  std::string what;
  std::uint64_t bytes = 0;  ///< most that it holds
};

/// Number of files that may be read ahead of the decoding threads: as many as an eighth of the rest holds, at most 32.
[[nodiscard]] int readers_within(std::uint64_t left_bytes, const SampleBytes& sample);

/// Upper bound of each stage's memory; stages that hold only names are left out. A reading thread counts three times a
/// file. A decoding thread also counts three times the decoded image: input, output, and the codec's own buffers.
[[nodiscard]] std::vector<MemoryUse> memory_uses(const Pipeline& pipeline, const MemoryNeeds& needs);

/// Sum over all uses.
[[nodiscard]] std::uint64_t total_bytes(const std::vector<MemoryUse>& uses);
/// "3 batches 27.6 MiB, 2 decoding threads 9.1 MiB", the largest first.
[[nodiscard]] std::string text_of(std::vector<MemoryUse> uses);

/// Returns the rest of the budget. Throws ConfigError "[data.memory] pipeline: expected at most ..." listing the uses.
[[nodiscard]] std::uint64_t require_fits(const std::vector<MemoryUse>& uses, std::uint64_t budget_bytes);

/// Memory budget for all input of a process: `asked_mib`, where that is not 0. Otherwise half of the machine's free
/// memory (`available_bytes`; 0: unknown, so no limit), in equal shares for the run's `local_ranks` processes on this
/// machine.
[[nodiscard]] std::uint64_t input_budget_bytes(std::int64_t asked_mib, std::uint64_t available_bytes, int local_ranks);

/// Consumers that share a budget.
struct MemoryWishes {
  /// Needs with the largest possible number of slots. Readers are not included; they get a part of the rest.
  MemoryNeeds needs;
  /// Fewest slots, at least 1, even where they do not fit.
  int fewest_slots = 2;
  /// Uses outside the pipeline, such as validation.
  std::vector<MemoryUse> others{};
  /// Budget for decoded images in memory, taken from the rest.
  std::uint64_t cache_bytes = 0;
};
/// Division of a budget.
struct MemoryShares {
  std::uint64_t budget_bytes = 0;  ///< budget that was shared
  int slots = 0;                   ///< batches held at a time
  /// MemoryNeeds::readers.
  int readers = 0;
  std::uint64_t cache_bytes = 0;  ///< bytes for decoded images
  std::vector<MemoryUse> uses;    ///< shares of the pipeline and of others
  /// "input memory: 31.2 of 40.0 MiB: 8 batches 27.6 MiB, ..."
  [[nodiscard]] std::string text() const;
};
/// Chooses the largest number of slots that fits, then calls readers_within(). Throws ConfigError as require_fits().
[[nodiscard]] MemoryShares share_memory(const Pipeline& pipeline, MemoryWishes wishes, std::uint64_t budget_bytes);

}  // namespace roentgen::data
