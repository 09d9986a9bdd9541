// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the entries of a plan: in order, with the time of each, telling of buckets as they become final.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/plan_builder.h"
#include "runtime/stream.h"

namespace roentgen::engine {

/// Kernels of a plan, in the order of one stream. One thread. Allocates nothing once it is made.
class StepRunner {
 public:
  /// Takes the kernels of `builder`, whose gradients lie in `buckets` buckets. Plan, device and stream must outlive it;
  /// kernels queue their work on the stream, or have done it when they return.
  StepRunner(PlanBuilder& builder, const Plan& plan, std::size_t buckets, runtime::Device& device,
             runtime::Stream& stream);

  /// Binds all kernels.
  void bind(const Addresses& addresses);
  /// Binds kernels that read an input again.
  void bind_inputs(const Addresses& addresses);

  /// Runs the plan's preparations, which may allocate, unless they were run since parameters_changed().
  void prepare();
  void parameters_changed() { is_prepared_ = false; }
  void forward() { run(0, plan_.forward_end, {}); }
  /// Calls `on_bucket` for every bucket, if it is set: those that nothing depends on at the end.
  void backward(const BucketCallback& on_bucket);

  /// Host time of each entry since the last reset: of work that is only queued, the time that queuing takes.
  [[nodiscard]] const std::vector<EntryTime>& times() const { return times_; }
  void reset_times();
  /// Best time of one entry run alone `repeats` times, until its work is done, in seconds.
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats);

 private:
  void run(std::int32_t begin, std::int32_t end, const BucketCallback& on_bucket);
  // Tells of buckets up to `ready`, those told of before left out.
  void announce(std::int64_t ready, const BucketCallback& on_bucket);

  const Plan& plan_;
  runtime::Stream& stream_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Kernel>> preparations_;
  std::vector<std::int32_t> input_readers_;
  /// One a bucket.
  std::vector<std::unique_ptr<runtime::Event>> events_;
  std::int64_t announced_ = 0;
  bool is_prepared_ = false;
  std::vector<EntryTime> times_;
};

}  // namespace roentgen::engine
