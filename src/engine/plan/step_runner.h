// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the entries of a plan in order, takes the time of each, and reports buckets when they become final.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/plan_builder.h"
#include "runtime/stream.h"

namespace roentgen::engine {

/// Entries [begin, end) of a plan.
struct EntryRange {
  std::int32_t begin = 0;  ///< first entry
  std::int32_t end = 0;    ///< behind the last entry
};

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
  void forward() { run({0, plan_.forward_end}); }
  /// Calls `on_bucket` for every bucket, if it is set: those that nothing depends on at the end.
  void backward(const BucketCallback& on_bucket);
  /// Calls run_part(i, part) for each part of the backward in order, and `on_bucket` as backward() does. `run_part`
  /// queues the work of run(part).
  template <typename RunPart>
  void backward_by(const RunPart& run_part, const BucketCallback& on_bucket) {
    announced_ = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      run_part(i, parts_[i]);
      if (on_bucket) announce(i, on_bucket);
    }
  }
  /// Parts of the backward: each ends where buckets become final, and at the end.
  [[nodiscard]] const std::vector<EntryRange>& backward_parts() const { return parts_; }
  /// Runs these entries.
  void run(EntryRange entries);

  /// Host time of each entry since the last reset: of work that is only queued, the time that queuing takes.
  [[nodiscard]] const std::vector<EntryTime>& times() const { return times_; }
  void reset_times();
  /// Best time of `repeats` measurements of one entry alone, until its work is done, in seconds. A measurement queues
  /// it `queued` times and waits once, so that waiting counts little.
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats, int queued = 1);

 private:
  void cut_backward();
  // Calls `on_bucket` for the buckets that became final in a part; after the last part, for all that are left.
  void announce(std::size_t part, const BucketCallback& on_bucket);

  const Plan& plan_;
  runtime::Stream& stream_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Kernel>> preparations_;
  std::vector<std::int32_t> input_readers_;
  std::vector<EntryRange> parts_;
  /// Events of the buckets, in order.
  std::vector<std::unique_ptr<runtime::Event>> events_;
  std::int64_t announced_ = 0;
  bool is_prepared_ = false;
  std::vector<EntryTime> times_;
};

}  // namespace roentgen::engine
