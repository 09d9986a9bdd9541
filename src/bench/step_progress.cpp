// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/step_progress.h"

#include <fmt/format.h>

#include "core/terminal.h"
#include "dist/launched.h"

namespace roentgen::bench {
namespace {

constexpr double kInterval_s = 5.0;

void show(const std::string& line) {
  terminal::has_progress() ? terminal::show_progress(line) : terminal::print_error(line);
}

}  // namespace

void StepProgress::update(const train::StepRecord& record) {
  if (seconds_since(shown_) < kInterval_s) return;
  shown_ = Clock::now();
  const double left_s = static_cast<double>(steps_ - record.step) * record.seconds;
  show(fmt::format("{}: step {} of {}, {:.1f} images/s, left {}", what_, record.step, steps_, record.images_per_s(),
                   train::duration_text(left_s)));
}

void StepProgress::end() const { terminal::clear_progress(); }

RepeatProgress::RepeatProgress(std::int64_t count) : count_(count) {
  const auto launched = dist::launched_rank();
  is_silent_ = launched && launched->rank != 0;
}

RepeatProgress::~RepeatProgress() {
  if (has_shown_) terminal::clear_progress();
}

void RepeatProgress::add() {
  ++done_;
  if (is_silent_ || done_ == count_ || seconds_since(shown_) < kInterval_s) return;
  shown_ = Clock::now();
  has_shown_ = true;
  show(repeat_text(done_, count_, seconds_since(begin_)));
}

std::string repeat_text(std::int64_t done, std::int64_t count, double elapsed_s) {
  const double left_s = elapsed_s / static_cast<double>(done) * static_cast<double>(count - done);
  return fmt::format("measurement {} of {}, left {}", done, count, train::duration_text(left_s));
}

}  // namespace roentgen::bench
