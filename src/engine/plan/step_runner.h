// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the entries of a plan in order, measures the time of each, and reports gradient buckets when they become final.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/plan_builder.h"
#include "runtime/stream.h"

namespace roentgen::engine {

/// Range [begin, end) of plan entries, by index.
struct EntryRange {
  std::int32_t begin = 0;  ///< index of the first entry
  std::int32_t end = 0;    ///< one past the last entry
};

/// Runs the kernels of a plan in the order of one stream. Not thread-safe. Allocates nothing after construction.
class StepRunner {
 public:
  /// Takes the kernels of `builder`, whose gradients are stored in `buckets` buckets. Plan, device and stream must
  /// outlive this object. A kernel either queues its work on the stream or finishes it before it returns.
  StepRunner(PlanBuilder& builder, const Plan& plan, std::size_t buckets, runtime::Device& device,
             runtime::Stream& stream);

  /// Binds all kernels to these addresses.
  void bind(const Addresses& addresses);
  /// Binds only the kernels that read an input.
  void bind_inputs(const Addresses& addresses);

  /// Runs the plan's preparations, which may allocate, unless they were run since parameters_changed().
  void prepare();
  void parameters_changed() { is_prepared_ = false; }
  void forward() { run({0, plan_.forward_end}); }
  /// Runs the backward. Calls `on_bucket`, if set, for every bucket once it is final; remaining buckets at the end.
  void backward(const BucketCallback& on_bucket);
  /// Calls run_part(i, part) for each part of the backward, in order, and `on_bucket` as backward() does. `run_part`
  /// must queue the same work as run(part).
  template <typename RunPart>
  void backward_by(const RunPart& run_part, const BucketCallback& on_bucket) {
    announced_ = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      run_part(i, parts_[i]);
      if (on_bucket) announce(i, on_bucket);
    }
  }
  /// Parts of the backward. A part ends where buckets become final; the last part ends with the backward.
  [[nodiscard]] const std::vector<EntryRange>& backward_parts() const { return parts_; }
  /// Runs the entries of the range.
  void run(EntryRange entries);

  /// Host time of each entry since the last reset. If an entry only queues its work, this is the time of queuing.
  [[nodiscard]] const std::vector<EntryTime>& times() const { return times_; }
  void reset_times();
  /// Best time of `repeats` measurements of one entry, in seconds, until its work is done. Each measurement queues the
  /// entry `queued` times and waits once, so that the wait adds little to the average.
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats, int queued = 1);

 private:
  void cut_backward();
  // Calls `on_bucket` for the buckets that become final in a part; after the last part, for all remaining buckets.
  void announce(std::size_t part, const BucketCallback& on_bucket);

  const Plan& plan_;
  runtime::Stream& stream_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Kernel>> preparations_;
  std::vector<std::int32_t> input_readers_;
  std::vector<EntryRange> parts_;
  /// Events that mark buckets as final, in bucket order.
  std::vector<std::unique_ptr<runtime::Event>> events_;
  std::int64_t announced_ = 0;
  bool is_prepared_ = false;
  std::vector<EntryTime> times_;
};

}  // namespace roentgen::engine
