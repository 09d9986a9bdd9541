// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Upper bound of a pipeline's memory, stage by stage, before any data are read. A pipeline that does not fit is refused
// at the start instead of being killed hours later. Memory pages of a DiskCache belong to the system and are not
// counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Memory of one sample in bytes.
struct SampleBytes {
  std::uint64_t file = 0;     ///< bytes of its file
  std::uint64_t decoded = 0;  ///< bytes of its decoded pixels
};

/// Returns the largest sizes among up to `looked_at` evenly spread `samples` (indices), taken from their headers. Reads
/// their files; skips those that cannot be read.
/// @param channels channels of the decoded image: 1, or 3 if the file has colours
[[nodiscard]] SampleBytes largest_sample(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                         int channels, int looked_at = 16);

/// Sizes and numbers that determine the memory of a pipeline.
struct MemoryNeeds {
  std::int64_t samples = 0;  ///< number of samples that are read
  SampleBytes sample;        ///< the largest sample
  std::int64_t batch = 1;    ///< number of rows in a batch
  /// Bytes of a batch row: image, labels and mask (slot_bytes() plus 8 bytes per label).
  std::uint64_t row_bytes = 0;
  /// Threads of a map_and_batch stage without a number, and files read ahead of them.
  int workers = 1;
  int readers = 0;  ///< files read ahead
  int slots = 2;    ///< number of batches held at a time
};

/// Memory of one part of the input pipeline.
struct MemoryUse {
  /// Description such as "shuffle(buffer=500)", "2 decoding threads" or "3 batches".
  std::string what;
  std::uint64_t bytes = 0;  ///< upper bound of its memory
};

/// Number of files that may be read ahead of the decoding threads: as many as fit into an eighth of `left_bytes`, at
/// most 32.
[[nodiscard]] int readers_within(std::uint64_t left_bytes, const SampleBytes& sample);

/// Upper bound of each stage's memory; stages that hold only names are omitted. A reading thread counts as three times
/// a file. A decoding thread counts in addition three times the decoded image: input, output, and the codec's own
/// buffers.
[[nodiscard]] std::vector<MemoryUse> memory_uses(const Pipeline& pipeline, const MemoryNeeds& needs);

/// Sum of all uses.
[[nodiscard]] std::uint64_t total_bytes(const std::vector<MemoryUse>& uses);
/// Text such as "3 batches 27.6 MiB, 2 decoding threads 9.1 MiB", with the largest first.
[[nodiscard]] std::string text_of(std::vector<MemoryUse> uses);

/// Returns the unused part of the budget. Throws ConfigError that lists the uses if they exceed the budget.
[[nodiscard]] std::uint64_t require_fits(const std::vector<MemoryUse>& uses, std::uint64_t budget_bytes);

/// Memory budget in bytes for all input of a process. It is `asked_mib` if that is not 0. Otherwise it is half of the
/// machine's free memory (`available_bytes`; 0: unknown, so no limit), divided equally among the run's `local_ranks`
/// processes on this machine.
[[nodiscard]] std::uint64_t input_budget_bytes(std::int64_t asked_mib, std::uint64_t available_bytes, int local_ranks);

/// Memory requests that share a budget.
struct MemoryWishes {
  /// Needs of the pipeline, with the largest possible number of slots. Readers are not included; they get a part of the
  /// unused memory.
  MemoryNeeds needs;
  /// Smallest number of slots, at least 1, which is used even if it does not fit.
  int fewest_slots = 2;
  /// Memory used outside the pipeline, such as by validation.
  std::vector<MemoryUse> others{};
  /// Desired bytes for the cache of decoded images in memory, taken from the unused part of the budget.
  std::uint64_t cache_bytes = 0;
  /// Number of processes that share the cache, at least 1; each contributes the same part of its budget.
  int cache_sharers = 1;
};
/// Division of a budget among the requests.
struct MemoryShares {
  std::uint64_t budget_bytes = 0;  ///< budget that was shared
  int slots = 0;                   ///< number of batches held at a time
  /// Value for MemoryNeeds::readers: number of files read ahead.
  int readers = 0;
  /// Bytes for decoded images: this process's part of the cache.
  std::uint64_t cache_bytes = 0;
  std::vector<MemoryUse> uses;  ///< memory of the pipeline and of other parts of the program
  /// Text such as "input memory: 31.2 of 40.0 MiB: 8 batches 27.6 MiB, ...".
  [[nodiscard]] std::string text() const;
};
/// Chooses the largest number of slots that fits, then the number of readers (readers_within()). Throws ConfigError as
/// require_fits() does.
[[nodiscard]] MemoryShares share_memory(const Pipeline& pipeline, MemoryWishes wishes, std::uint64_t budget_bytes);

}  // namespace roentgen::data
