// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `autobatch`: finds the largest batch whose training step fits into a given memory. It plans instead of running,
// which allocates no activations. Then it runs one step at that batch to confirm the plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Options of the case `autobatch`.
struct AutobatchOptions {
  /// Model, image, channels, labels, threads, engine, fuse, algorithms and recompute. The batch in it is ignored; it is
  /// the result.
  NetworkOptions network{};
  /// Memory that the whole process may use; on a device, the device memory that the plan may use.
  std::size_t budget_bytes = 0;
  /// Largest batch to consider.
  std::int64_t most = 65536;
  /// True: runs a step at the resulting batch to confirm it.
  bool is_confirmed = true;
};

/// A planned batch, and the memory that the process, or the plan on a device, needs for it.
struct PlannedBatch {
  std::int64_t batch = 0;
  std::size_t bytes = 0;
  /// Peak memory in a step at this batch; nullopt if no step was run.
  std::optional<std::size_t> measured_bytes{};
  /// True if the planned memory fits into the budget and, if a step was run, its measured memory too.
  [[nodiscard]] bool fits(std::size_t budget_bytes) const {
    return std::max(bytes, measured_bytes.value_or(0)) <= budget_bytes;
  }
};
/// Largest batch from 1 to `most` that needs at most `budget_bytes`; 0 if there is none. Memory grows nearly in
/// proportion to the batch, so the next guess lies on the line through the last two. Adds every plan to `tried`,
/// including the batch after the answer unless that exceeds `most`.
[[nodiscard]] std::int64_t largest_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                                         std::size_t budget_bytes, std::int64_t most, std::vector<PlannedBatch>& tried);

/// Batch to try next after a step at `planned` used `excess_bytes` more than allowed. It is smaller by as many images
/// as take `excess_bytes`, and by at least one. The memory of one image is estimated from `smallest` and `planned`.
/// Requires planned.batch > smallest.batch.
[[nodiscard]] std::int64_t batch_below(const PlannedBatch& planned, const PlannedBatch& smallest,
                                       std::size_t excess_bytes);

/// Largest batch whose measured step stays within the budget. Starts at the batch found by planning and goes down; 0 if
/// not even one image fits. Adds its plans and measurements to `tried`, whose batches ascend from 1.
[[nodiscard]] std::int64_t confirmed_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                                           const std::function<std::size_t(std::int64_t)>& peak_bytes,
                                           std::size_t budget_bytes, std::vector<PlannedBatch>& tried);

/// Parses a memory size such as "8GiB", "500 MiB", "2GB" or "1048576" into bytes. The number may have a fraction; the
/// unit is KiB, MiB, GiB, kB, MB, GB or none. Throws ConfigError that names `option`.
[[nodiscard]] std::size_t parse_bytes(std::string_view option, std::string_view text);

/// Finds the batch by planning, then runs one step. If the step uses more than the budget, tries smaller batches until
/// one fits. Returns a table:
///   case, model, image_px, channels, labels, threads, device, fuse, algorithms, dtype, recompute
///   budget_bytes
///   process_bytes    what the process held when it had planned, kernels included, and 16 MiB for running; beside the
///                    plan; 0 on a device
///   batch            the largest that fits
///   needed_bytes     for it: process_bytes, plan and the state of SGD with momentum
///   tried            [{batch, needed_bytes, fits}] ascending; fits: by plan and, where one was run, by its step
///   confirmed        {step_ms, images_per_s, peak_bytes: the most that the process held, or was planned on a device,
///                    fits}; null unless asked
/// Throws ConfigError if an option is out of range or not even one image fits. Throws DeviceError if the batch needs
/// more than the device's free memory.
[[nodiscard]] Value run_autobatch(const AutobatchOptions& options);

}  // namespace roentgen::bench
