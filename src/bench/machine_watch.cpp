// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/machine_watch.h"

#include <string>
#include <utility>

#include "bench/energy.h"
#include "bench/harness.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

constexpr std::int64_t kQuarters = 4;

std::unique_ptr<runtime::DeviceMonitor> monitor_of(const engine::Engine& engine) {
  const std::string bus = runtime::bus_of(engine.device_id());
  return bus.empty() ? nullptr : runtime::make_nvml_monitor(bus);
}

}  // namespace

MachineWatch::MachineWatch(const engine::Engine& engine, WatchOptions options)
    : options_(std::move(options)), gpu_(monitor_of(engine)) {
  const bool is_host = engine.device_id().empty();
  if (!options_.is_calibrated || !is_host) return;
  speed_.emplace(options_.threads, options_.local_ranks);
  if (!options_.has_samples_between) sample(0);
}

void MachineWatch::begin() {
  paused_s_ = 0.0;
  begin_ = machine_state({.gpu = gpu_.get(), .has_machine = options_.has_machine});
}

void MachineWatch::before_step(std::int64_t done, EnergyMeter* meter) {
  if (!speed_ || !options_.has_samples_between) return;
  for (std::int64_t quarter = 0; quarter < kQuarters; ++quarter) {
    if (done != quarter * options_.steps / kQuarters) continue;
    return meter == nullptr ? sample(done) : meter->leave_out([&] { sample(done); });
  }
}

void MachineWatch::end(const std::function<void()>& before_sample) {
  end_ = machine_state({.gpu = gpu_.get(), .has_machine = options_.has_machine});
  if (before_sample) before_sample();
  sample(options_.steps);
}

void MachineWatch::sample(std::int64_t done) {
  if (!speed_) return;
  const auto begin = Clock::now();
  if (options_.meet) options_.meet();
  calibration_.samples.push_back(speed_->measure());
  calibration_.steps.push_back(done);
  if (options_.meet) options_.meet();
  paused_s_ += seconds_since(begin);
}

}  // namespace roentgen::bench
