// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MachineWatch: reads counters and the speed of the machine before, between and after the measured steps of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "bench/calibration.h"
#include "bench/disturbance.h"
#include "bench/machine_speed.h"

namespace roentgen::engine {
class Engine;
}

namespace roentgen::bench {

class EnergyMeter;

/// Measured steps of a run, and what is read of the machine.
struct WatchOptions {
  int threads = 1;         ///< number of compute threads
  std::int64_t steps = 0;  ///< number of measured steps
  /// True: the speed of the machine is sampled. Ignored for a GPU, because the counters contain its clock.
  bool is_calibrated = true;
  /// False: the first sample is taken by the constructor and the second one after the steps, because other threads of
  /// this process compute in between.
  bool has_samples_between = true;
  /// False: another rank of this host reads the counters of the whole machine.
  bool has_machine = true;
  int local_ranks = 1;  ///< number of ranks on this host
  /// Waits for all ranks, so that those of a host sample together; empty: there is one rank.
  std::function<void()> meet{};
};

/// Watches one run. For use by the thread that computes, whose OpenMP team the samples use.
class MachineWatch {
 public:
  MachineWatch(const engine::Engine& engine, WatchOptions options);

  /// Reads the counters, before the first measured step.
  void begin();
  /// Takes a sample before the first measured step and after each quarter of the steps.
  /// @param done number of measured steps so far
  /// @param meter leaves out the samples (EnergyMeter::leave_out()); may be null
  void before_step(std::int64_t done, EnergyMeter* meter = nullptr);
  /// Reads the counters, then takes the last sample. Call it after the last measured step.
  /// @param before_sample ends other threads of this process that compute; may be empty
  void end(const std::function<void()>& before_sample = {});

  /// Time of the samples since begin(), seconds.
  [[nodiscard]] double paused_s() const { return paused_s_; }
  /// Size of the memory that samples need.
  [[nodiscard]] std::size_t bytes() const { return speed_ ? speed_->bytes() : 0; }
  [[nodiscard]] const MachineState& begin_state() const { return begin_; }       ///< counters at begin()
  [[nodiscard]] const MachineState& end_state() const { return end_; }           ///< counters at end()
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }  ///< samples; empty: not calibrated

 private:
  void sample(std::int64_t done);

  WatchOptions options_;
  std::unique_ptr<runtime::DeviceMonitor> gpu_;
  std::optional<MachineSpeed> speed_;
  double paused_s_ = 0.0;
  MachineState begin_;
  MachineState end_;
  Calibration calibration_;
};

}  // namespace roentgen::bench
