// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Observer that prints progress for people on standard error.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <utility>

#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "train/device_watch.h"
#include "train/observer.h"

namespace roentgen::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLineInterval_s = 0.25;
constexpr double kLogInterval_s = 30.0;
// Number of updates for the means of loss, rate and time left.
constexpr std::size_t kWindow = 50;
// A rank counts as slow if its work time exceeds the mean by this fraction.
constexpr double kSlowShare = 0.2;

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

std::string staleness_text(const StalenessRecord& record) {
  return fmt::format(", staleness {:.1f} (at most {}), {} dropped", record.mean, record.max, record.dropped);
}

class Progress final : public Observer {
 public:
  Progress(ProgressStyle style, std::vector<std::string> hosts) : style_(style), hosts_(std::move(hosts)) {}

  void on_step(const StepRecord& record) override {
    window_.push_back(record);
    if (record.device) device_ = record.device;
    if (window_.size() > kWindow) window_.pop_front();
    look_at_ranks();
    if (!is_due()) return;
    double loss = 0.0;
    double seconds = 0.0;
    double wait = 0.0;
    std::optional<double> comm;
    std::int64_t images = 0;
    double busy_percent = 0.0;
    int readings = 0;
    for (const StepRecord& entry : window_) {
      loss += entry.loss;
      seconds += entry.seconds;
      wait += entry.data_wait_seconds;
      if (entry.comm_exposed_seconds) comm = comm.value_or(0.0) + *entry.comm_exposed_seconds;
      images += entry.images;
      if (!entry.device) continue;
      busy_percent += entry.device->busy_percent;
      ++readings;
    }
    if (readings > 0) busy_percent_ = busy_percent / readings;
    const auto count = static_cast<double>(window_.size());
    const double left = static_cast<double>(record.total_steps - record.step) * seconds / count;
    show(fmt::format("epoch {} step {}/{}  loss {:.4f}  {:.1f} img/s  data wait {:.1f}%{}, {}{}{}{}{}  left {}",
                     record.epoch + 1, record.step, record.total_steps, loss / count,
                     static_cast<double>(images) / seconds, 100.0 * wait / seconds,
                     comm ? fmt::format(", comm exposed {:.1f}%", 100.0 * *comm / seconds) : "",
                     bound_by(wait, seconds, comm.value_or(0.0), busy_percent_),
                     device_ ? ", " + device_text(*device_, *busy_percent_) : "",
                     slow_names_.empty() ? "" : fmt::format(", slow link: {}", some_names(slow_names_)),
                     record.staleness ? staleness_text(*record.staleness) : "",
                     slow_rank_ < 0 ? "" : fmt::format(", slow rank: {}", rank_name(slow_rank_)), duration_text(left)));
  }

  void on_links(const LinksRecord& record) override { slow_names_ = record.names; }

  void on_validation(std::int64_t done, std::int64_t total) override {
    if (style_ == ProgressStyle::Line && is_due())
      show(fmt::format("validation {}/{} {}", done, total, plural(total, "image")));
  }

  void on_epoch(const EpochRecord& record) override {
    std::string text =
        fmt::format("epoch {:>3}  step {:>6}  train loss {:.4f}", record.epoch + 1, record.step, record.train_loss);
    if (record.val_loss) text += fmt::format("  val loss {:.4f}", *record.val_loss);
    if (record.val_auroc) {
      text += fmt::format("  val AUROC {:.4f}", *record.val_auroc);
      if (record.labels_in_mean < record.labels_total) {
        text += fmt::format(" (mean over {} of {}, without {})", record.labels_in_mean, record.labels_total,
                            some_names(record.labels_left_out));
      }
    }
    if (record.val_top1) text += fmt::format("  val top-1 {:.4f}", *record.val_top1);
    if (record.loss_scale) {
      text += fmt::format("  loss scale {:g}, {} skipped", record.loss_scale->scale,
                          counted(record.loss_scale->skipped, "update"));
    }
    text += fmt::format("  {}{}", duration_text(record.train_seconds + record.val_seconds),
                        record.is_best ? "  best so far" : "");
    terminal::print_error(text);
  }

  void on_end() override { terminal::clear_progress(); }

 private:
  // Reports a rank that takes longer than the mean in nearly all of the last updates.
  void look_at_ranks() {
    if (window_.size() < kWindow || hosts_.empty()) return;
    std::vector<std::size_t> times(hosts_.size(), 0);
    double imbalance = 0.0;
    for (const StepRecord& entry : window_) {
      imbalance += entry.imbalance.value_or(0.0);
      if (entry.slowest_rank >= 0) ++times.at(static_cast<std::size_t>(entry.slowest_rank));
    }
    imbalance /= static_cast<double>(kWindow);
    const auto most = std::ranges::max_element(times);
    const bool is_slow = imbalance > kSlowShare && 10 * *most >= 9 * kWindow;
    slow_rank_ = is_slow ? static_cast<int>(most - times.begin()) : -1;
    if (!is_slow || !warned_of_.insert(slow_rank_).second) return;
    terminal::clear_progress();
    const bool is_async = window_.back().staleness.has_value();
    log::warning(fmt::format(
        "rank {} computes {:.0f}% longer per update than the mean, and {}; measure the host with roentgen bench nodes",
        rank_name(slow_rank_), 100.0 * imbalance,
        is_async ? "delivers fewer gradients than the others" : "all ranks wait for it"));
    if (style_ == ProgressStyle::Line) has_shown_ = false;  // shows the line again, which the warning replaced
  }
  [[nodiscard]] std::string rank_name(int rank) const {
    return fmt::format("{} ({})", rank, hosts_[static_cast<std::size_t>(rank)]);
  }
  bool is_due() {
    const auto now = Clock::now();
    const double interval = style_ == ProgressStyle::Line ? kLineInterval_s : kLogInterval_s;
    if (has_shown_ && std::chrono::duration<double>(now - shown_).count() < interval) return false;
    if (!has_shown_ && style_ == ProgressStyle::Log) {  // prints nothing for the first step, which is not typical
      has_shown_ = true;
      shown_ = now;
      return false;
    }
    has_shown_ = true;
    shown_ = now;
    return true;
  }
  void show(const std::string& text) const {
    if (style_ == ProgressStyle::Line) {
      terminal::show_progress(text);
    } else {
      terminal::print_error(text);
    }
  }

  ProgressStyle style_;
  std::deque<StepRecord> window_;
  /// Last reading of the device, and mean busy percentage over the readings in the window.
  std::optional<runtime::DeviceUse> device_;
  std::optional<double> busy_percent_;
  /// Slow links of the last link test, by host names.
  std::vector<std::string> slow_names_;
  /// Host name of each rank; empty for one process.
  std::vector<std::string> hosts_;
  /// Rank that delays the others or delivers fewer gradients; -1 if there is none.
  int slow_rank_ = -1;
  std::set<int> warned_of_;
  Clock::time_point shown_;
  bool has_shown_ = false;
};

}  // namespace

std::string_view bound_by(double wait_s, double seconds, double comm_s, std::optional<double> device_busy_percent) {
  constexpr double kHeldUp = 0.05, kBusyPercent = 95.0;
  if (device_busy_percent.value_or(0.0) >= kBusyPercent) return "compute-bound";
  if (std::max(wait_s, comm_s) <= kHeldUp * seconds) return "compute-bound";
  return wait_s >= comm_s ? "input-bound" : "communication-bound";
}

bool is_input_bound(double wait_s, double seconds) { return bound_by(wait_s, seconds) == "input-bound"; }

std::unique_ptr<Observer> make_progress(ProgressStyle style, std::vector<std::string> hosts) {
  return std::make_unique<Progress>(style, std::move(hosts));
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace roentgen::train
