// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `autobatch`: finds the largest batch whose training step fits into a given memory. It plans batches without
// running them, so that no activations are allocated. Then it runs one step with the largest batch to confirm the plan.
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
  /// Model, image, channels, labels, threads, engine, fuse, algorithms and recompute. `batch` is ignored, because it is
  /// the result.
  NetworkOptions network{};
  /// Memory that the whole process may use; on a device, the device memory that the plan may use.
  std::size_t budget_bytes = 0;
  /// Largest batch to consider.
  std::int64_t most = 65536;
  /// True: runs a step with the resulting batch to confirm that it fits.
  bool is_confirmed = true;
};

/// A planned batch, and the memory that the process, or the plan on a device, needs for it.
struct PlannedBatch {
  std::int64_t batch = 0;
  std::size_t bytes = 0;
  /// Peak memory in a step at this batch; nullopt if no step was run.
  std::optional<std::size_t> measured_bytes{};
  /// True if the planned memory fits into the budget. If a step was run, its measured memory must fit too.
  [[nodiscard]] bool fits(std::size_t budget_bytes) const {
    return std::max(bytes, measured_bytes.value_or(0)) <= budget_bytes;
  }
};
/// Returns the largest batch from 1 to `most` that needs at most `budget_bytes`; 0 if there is none. Memory grows
/// nearly linearly with the batch, so each guess extrapolates the last two plans. Adds every plan to `tried`, also that
/// of the next larger batch unless it exceeds `most`.
[[nodiscard]] std::int64_t largest_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                                         std::size_t budget_bytes, std::int64_t most, std::vector<PlannedBatch>& tried);

/// Returns the batch to try next after a step at `planned` used `excess_bytes` more than allowed. It is smaller by as
/// many images as take `excess_bytes`, and by at least one. The memory of one image is estimated from `smallest` and
/// `planned`. Requires planned.batch > smallest.batch.
[[nodiscard]] std::int64_t batch_below(const PlannedBatch& planned, const PlannedBatch& smallest,
                                       std::size_t excess_bytes);

/// Returns the largest batch whose measured step stays within the budget; 0 if not even one image fits. Starts at the
/// batch found by planning and goes down. Adds its plans and measurements to `tried`, whose batches ascend from 1.
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
