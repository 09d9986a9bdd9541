// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of schedules: X(name) declares make_<name>_schedule(options), which schedule/<name>.cpp defines. A
// schedule covers steps warmup_steps ... total_steps - 1; schedule.cpp adds the warm-up before it.
#pragma once

#include "train/schedule/schedule.h"

#define RG_SCHEDULE_LIST(X) \
  X(constant)               \
  X(multistep)              \
  X(cosine)                 \
  X(poly)                   \
  X(plateau)

namespace roentgen::train {

#define RG_SCHEDULE_FACTORY(name) std::unique_ptr<Schedule> make_##name##_schedule(const ScheduleOptions& options);
RG_SCHEDULE_LIST(RG_SCHEDULE_FACTORY)
#undef RG_SCHEDULE_FACTORY

/// Advice in the error about a setting that is out of range.
inline constexpr std::string_view kSeeDefaults =
    "a value in that range, such as the default that roentgen train --keys shows";

/// Progress of the schedule at `step`, from 0 after warm-up to 1: (step - warmup) / (total - warmup).
[[nodiscard]] double progress(const ScheduleOptions& options, std::int64_t step);

}  // namespace roentgen::train
