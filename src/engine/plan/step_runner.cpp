// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/step_runner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace roentgen::engine {
namespace {
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point before, Clock::time_point after) {
  return std::chrono::duration<double>(after - before).count();
}
}  // namespace

StepRunner::StepRunner(PlanBuilder& builder, const Plan& plan, std::size_t buckets, runtime::Device& device,
                       runtime::Stream& stream)
    : plan_(plan),
      stream_(stream),
      kernels_(std::move(builder.kernels)),
      preparations_(std::move(builder.preparation_kernels)) {
  for (std::size_t i = 0; i < buckets; ++i) events_.push_back(device.make_event());
  for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
    times_.push_back({.entry = static_cast<std::int32_t>(i)});
    const bool reads_input = std::ranges::any_of(plan_.entries[i].reads, [&](TensorId id) {
      return plan_.tensors[static_cast<std::size_t>(id)].storage == Storage::Input;
    });
    if (reads_input) input_readers_.push_back(static_cast<std::int32_t>(i));
  }
  cut_backward();
}

void StepRunner::bind(const Addresses& addresses) {
  for (const auto& kernel : kernels_) kernel->bind(addresses);
  for (const auto& kernel : preparations_) kernel->bind(addresses);
}

void StepRunner::bind_inputs(const Addresses& addresses) {
  for (const std::int32_t entry : input_readers_) kernels_[static_cast<std::size_t>(entry)]->bind(addresses);
}

void StepRunner::prepare() {
  if (std::exchange(is_prepared_, true)) return;
  for (const auto& kernel : preparations_) kernel->run();
}

void StepRunner::cut_backward() {
  const auto end = static_cast<std::int32_t>(plan_.entries.size());
  std::int32_t begin = plan_.forward_end;
  for (std::int32_t i = begin; i + 1 < end; ++i) {
    const auto entry = static_cast<std::size_t>(i);
    const std::int32_t before = i > 0 ? plan_.bucket_ready[entry - 1] : 0;
    if (plan_.bucket_ready[entry] == before) continue;
    parts_.push_back({begin, i + 1});
    begin = i + 1;
  }
  parts_.push_back({begin, end});
}

void StepRunner::backward(const BucketCallback& on_bucket) {
  backward_by([this](std::size_t, EntryRange part) { run(part); }, on_bucket);
}

void StepRunner::run(EntryRange entries) {
  Clock::time_point before = Clock::now();
  for (std::int32_t i = entries.begin; i < entries.end; ++i) {
    const auto entry = static_cast<std::size_t>(i);
    kernels_[entry]->run();
    const Clock::time_point after = Clock::now();
    EntryTime& time = times_[entry];
    const double taken_s = seconds_between(before, after);
    time.seconds += taken_s;
    time.best_s = time.calls == 0 ? taken_s : std::min(time.best_s, taken_s);
    ++time.calls;
    before = after;
  }
}

void StepRunner::announce(std::size_t part, const BucketCallback& on_bucket) {
  const bool is_last = part + 1 == parts_.size();
  const std::int64_t ready =
      is_last ? std::ssize(events_) : plan_.bucket_ready[static_cast<std::size_t>(parts_[part].end) - 1];
  for (; announced_ < ready; ++announced_) {
    runtime::Event& event = *events_[static_cast<std::size_t>(announced_)];
    stream_.record(event);
    on_bucket(announced_, event);
  }
}

void StepRunner::reset_times() {
  for (EntryTime& time : times_) time = {.entry = time.entry};
}

double StepRunner::time_entry(std::int32_t entry, int repeats, int queued) {
  double best_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point before = Clock::now();
    for (int run = 0; run < queued; ++run) kernels_.at(static_cast<std::size_t>(entry))->run();
    stream_.synchronize();
    best_s = std::min(best_s, seconds_between(before, Clock::now()) / queued);
  }
  return best_s;
}

}  // namespace roentgen::engine
