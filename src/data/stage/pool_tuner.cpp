// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pool_tuner.h"

#include <fmt/core.h>

#include "core/plural.h"
#include "runtime/cores.h"

namespace roentgen::data {

PoolTuner::PoolTuner(const PoolPlan& plan)
    : plan_(plan), workers_(plan.workers), reads_(plan.readers), ahead_(plan.batches_ahead) {}

bool PoolTuner::observe(const BatchTimes& times, std::int64_t ready) {
  if (plan_.is_read_tuned) reads_.observe(times, workers());
  if (has_settled_) return false;
  if (plan_.is_read_tuned && !reads_.is_settled()) return false;
  if (plan_.is_tuned && !workers_.is_settled()) {
    BatchTimes of_threads = times;
    if (readers() == 0) of_threads.work_s += times.blocked_s;  // without readers, decoding threads wait for storage
    workers_.observe(of_threads);
  } else if (plan_.is_prefetch_tuned && !ahead_.is_settled()) {
    ahead_.observe(times, ready);
  }
  has_settled_ = (!plan_.is_tuned || workers_.is_settled()) && (!plan_.is_prefetch_tuned || ahead_.is_settled());
  return has_settled_;
}

std::string PoolTuner::text() const {
  std::string text = fmt::format("pipeline settled: {} of {}", workers(), counted(plan_.workers, "decoding thread"));
  if (readers() > 0) text += fmt::format(", {} that read files ahead", readers());
  if (plan_.batches_ahead > 0)
    text += fmt::format(", {} of {} ahead", ahead(), counted(plan_.batches_ahead, "batch", "batches"));
  if (!plan_.is_tuned) return text;
  return text + fmt::format(" (rule of thumb: {})", counted(runtime::available_cores(), "thread"));
}

}  // namespace roentgen::data
