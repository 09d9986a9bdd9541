// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `autobatch`: the largest batch whose training step fits into a stated memory. Found by planning, which takes no
// memory for activations; then one step is run at it, which shows that the plan was right.
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

/// Options of the case.
struct AutobatchOptions {
  /// Model, image, channels, labels, threads, engine, fuse, algorithms and recompute. The batch is the result.
  NetworkOptions network{};
  /// Memory that the whole process may hold.
  std::size_t budget_bytes = 0;
  /// Largest batch to consider.
  std::int64_t most = 65536;
  /// Runs a step at the resulting batch.
  bool is_confirmed = true;
};

/// A planned batch, and the memory of the process with it.
struct PlannedBatch {
  std::int64_t batch = 0;
  std::size_t bytes = 0;
  /// Memory that the process held, where a step was run.
  std::optional<std::size_t> measured_bytes{};
  /// Whether it fits by its plan and, where the step was run, by the step.
  [[nodiscard]] bool fits(std::size_t budget_bytes) const {
    return std::max(bytes, measured_bytes.value_or(0)) <= budget_bytes;
  }
};
/// The largest batch from 1 to `most` that needs at most `budget_bytes`; 0: none. Memory grows nearly in proportion to
/// the batch, so the next guess lies on the line through the last two. Adds every plan to `tried`, including the batch
/// after the answer, unless that is beyond `most`.
[[nodiscard]] std::int64_t largest_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                                         std::size_t budget_bytes, std::int64_t most, std::vector<PlannedBatch>& tried);

/// The batch to try after a step at `planned` held `excess_bytes` more than allowed. It is smaller by the images that
/// hold so many bytes, and at least by one. The bytes of an image follow from `smallest` and `planned`. `planned.batch`
/// > `smallest.batch`.
[[nodiscard]] std::int64_t batch_below(const PlannedBatch& planned, const PlannedBatch& smallest,
                                       std::size_t excess_bytes);

/// The largest batch, starting at the one from plans and going down, whose step stays within the budget; 0: not even
/// one image does. Adds its plans and measurements to `tried`, whose batches ascend from 1.
[[nodiscard]] std::int64_t confirmed_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                                           const std::function<std::size_t(std::int64_t)>& peak_bytes,
                                           std::size_t budget_bytes, std::vector<PlannedBatch>& tried);

/// Bytes of "8GiB", "500 MiB", "2GB", "1048576": a whole or broken number with a unit of KiB, MiB, GiB, kB, MB, GB or
/// none. ConfigError naming `option`.
[[nodiscard]] std::size_t parse_bytes(std::string_view option, std::string_view text);

/// Plans, then runs one step; where that holds more than the budget, one at a smaller batch, until one fits. The
/// result, a table:
///   case, model, image_px, channels, labels, threads, device, fuse, algorithms, dtype, recompute
///   budget_bytes
///   process_bytes    what the process held when it had planned, kernels included, and 16 MiB for running; beside the
///                    plan
///   batch            the largest that fits
///   needed_bytes     of the process with it: process_bytes, plan and the state of SGD with momentum
///   tried            [{batch, needed_bytes, fits}] ascending; fits: by plan and, where one was run, by its step
///   confirmed        {step_ms, images_per_s, peak_bytes: the most that the process held, fits}; null unless asked
/// ConfigError on options out of range and where not even one image fits.
[[nodiscard]] Value run_autobatch(const AutobatchOptions& options);

}  // namespace roentgen::bench
