// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/device_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace roentgen::train {
namespace {

// Interval between readings: about NVML's own longest sampling period. A reading takes less than a thousandth of it.
constexpr double kInterval_s = 1.0;

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string gib_text(std::size_t bytes) {
  const double gib = static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
  return fmt::format("{:.{}f}", gib, gib < 10.0 ? 1 : 0);
}

}  // namespace

DeviceWatch::DeviceWatch(runtime::DeviceMonitor* monitor, std::function<double()> now_s)
    : monitor_(monitor), now_s_(now_s ? std::move(now_s) : steady_s) {}

void DeviceWatch::begin() {
  if (monitor_ == nullptr) return;
  last_s_ = now_s_();
  const auto use = monitor_->read();
  energy_at_begin_j_ = use ? use->energy_j : std::nullopt;
}

std::optional<runtime::DeviceUse> DeviceWatch::look() {
  if (monitor_ == nullptr || now_s_() - last_s_ < kInterval_s) return std::nullopt;
  return read();
}

std::optional<runtime::DeviceUse> DeviceWatch::read() {
  last_s_ = now_s_();
  const auto use = monitor_->read();
  if (!use) return std::nullopt;
  ++readings_;
  sums_.busy_percent += use->busy_percent;
  sums_.power_w += use->power_w;
  sums_.most_used_bytes = std::max(sums_.most_used_bytes, use->used_bytes);
  sums_.memory_bytes = use->memory_bytes;
  return use;
}

void DeviceWatch::end() {
  if (monitor_ == nullptr) return;
  const auto use = read();
  if (!use || !use->energy_j || !energy_at_begin_j_) return;
  sums_.energy_j = sums_.energy_j.value_or(0.0) + *use->energy_j - *energy_at_begin_j_;
}

std::optional<DeviceFigures> DeviceWatch::figures(std::int64_t images) const {
  if (readings_ == 0) return std::nullopt;
  DeviceFigures figures = sums_;
  figures.busy_percent /= static_cast<double>(readings_);
  figures.power_w /= static_cast<double>(readings_);
  if (figures.energy_j && *figures.energy_j > 0.0) {
    figures.images_per_j = static_cast<double>(images) / *figures.energy_j;
  }
  return figures;
}

std::string device_text(const runtime::DeviceUse& use, double busy_percent) {
  return fmt::format("GPU {:.0f}%, {} of {} GiB, {:.0f} W", busy_percent, gib_text(use.used_bytes),
                     gib_text(use.memory_bytes), use.power_w);
}

std::string device_text(const DeviceFigures& figures) {
  return fmt::format("GPU {:.0f}% busy, at most {} of {} GiB, {:.0f} W{}", figures.busy_percent,
                     gib_text(figures.most_used_bytes), gib_text(figures.memory_bytes), figures.power_w,
                     figures.images_per_j ? fmt::format(", {:.3g} images/J", *figures.images_per_j) : "");
}

Value to_value(const DeviceFigures& figures) {
  const auto number = [](const std::optional<double>& value) { return value ? Value(*value) : Value(nullptr); };
  return Value::Table{{"busy_percent", figures.busy_percent},       {"power_w", figures.power_w},
                      {"most_used_bytes", figures.most_used_bytes}, {"memory_bytes", figures.memory_bytes},
                      {"energy_j", number(figures.energy_j)},       {"images_per_j", number(figures.images_per_j)}};
}

}  // namespace roentgen::train
