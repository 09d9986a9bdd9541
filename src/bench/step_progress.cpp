// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/step_progress.h"

#include <fmt/format.h>

#include "core/terminal.h"

namespace roentgen::bench {
namespace {

constexpr double kInterval_s = 5.0;

}  // namespace

void StepProgress::update(const train::StepRecord& record) {
  if (seconds_since(shown_) < kInterval_s) return;
  shown_ = Clock::now();
  const double left_s = static_cast<double>(steps_ - record.step) * record.seconds;
  const std::string line = fmt::format("{}: step {} of {}, {:.1f} images/s, left {}", what_, record.step, steps_,
                                       record.images_per_s(), train::duration_text(left_s));
  terminal::has_progress() ? terminal::show_progress(line) : terminal::print_error(line);
}

void StepProgress::end() const { terminal::clear_progress(); }

}  // namespace roentgen::bench
