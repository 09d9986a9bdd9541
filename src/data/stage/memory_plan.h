// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a pipeline holds in memory at most, stage by stage, before anything is read: so that one that does not fit is
// refused in the first second, not killed in the third hour. Pages of a DiskCache are the system's and not counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Of one sample on its way.
struct SampleBytes {
  std::uint64_t file = 0;     ///< bytes as stored
  std::uint64_t decoded = 0;  ///< bytes of its pixels
};

/// The largest of up to `looked_at` of `samples` (indices), evenly spread, by their headers; what cannot be read is
/// left out. Reads their files.
/// @param channels of the decoded image: 1, or 3 where the file has colours
[[nodiscard]] SampleBytes largest_sample(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                         int channels, int looked_at = 16);

/// What decides how much is held.
struct MemoryNeeds {
  std::int64_t samples = 0;  ///< samples that are read
  SampleBytes sample;        ///< the largest sample
  std::int64_t batch = 1;    ///< rows of a batch
  /// Of a batch: image, labels and mask (slot_bytes() and 8 bytes a label).
  std::uint64_t row_bytes = 0;
  /// Threads of a map_and_batch that names no number, and files that are read ahead of them.
  int workers = 1;
  int readers = 0;  ///< files read ahead
  int slots = 2;    ///< batches held at a time
};

/// One of those that hold.
struct MemoryUse {
  /// "shuffle(buffer=500)", "2 decoding threads", "3 batches".
  std::string what;
  std::uint64_t bytes = 0;  ///< most that it holds
};

/// Files that may be read ahead of the decoding threads: as many as an eighth of what is left holds, at most 32.
[[nodiscard]] int readers_within(std::uint64_t left_bytes, const SampleBytes& sample);

/// What each stage holds at most; those that hold names only are left out. A thread that reads counts three times a
/// file, one that decodes three times the decoded image besides: input, output, and the codec's own.
[[nodiscard]] std::vector<MemoryUse> memory_uses(const Pipeline& pipeline, const MemoryNeeds& needs);

/// Sum over all uses.
[[nodiscard]] std::uint64_t total_bytes(const std::vector<MemoryUse>& uses);
/// "3 batches 27.6 MiB, 2 decoding threads 9.1 MiB", the largest first.
[[nodiscard]] std::string text_of(std::vector<MemoryUse> uses);

/// What is left of the budget. ConfigError "[data.memory] pipeline: expected at most ..." naming what takes how much.
[[nodiscard]] std::uint64_t require_fits(const std::vector<MemoryUse>& uses, std::uint64_t budget_bytes);

/// What all input of a process may take: `asked_mib`, where that is not 0; else half of what the machine has left
/// (`available_bytes`; 0: unknown, and then without end), in equal shares for the `local_ranks` processes of one run on
/// this machine.
[[nodiscard]] std::uint64_t input_budget_bytes(std::int64_t asked_mib, std::uint64_t available_bytes, int local_ranks);

/// What is to share a budget.
struct MemoryWishes {
  /// Of as many slots as there may be; without readers, who get some of what is left.
  MemoryNeeds needs;
  /// At least 1; no fewer slots, even where they do not fit.
  int fewest_slots = 2;
  /// Beside the pipeline: validation, say.
  std::vector<MemoryUse> others{};
  /// For decoded images in memory, of what is left.
  std::uint64_t cache_bytes = 0;
};
/// How it is shared.
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
/// As many slots as fit, then readers_within(). ConfigError as require_fits().
[[nodiscard]] MemoryShares share_memory(const Pipeline& pipeline, MemoryWishes wishes, std::uint64_t budget_bytes);

}  // namespace roentgen::data
