// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Observer that writes log.jsonl. Each record is a single write(2), so a killed process leaves at most one incomplete
// line.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"
#include "train/observer.h"

namespace roentgen::train {
namespace {

Value optional_value(const std::optional<double>& number) { return number ? Value(*number) : Value(nullptr); }

class JsonLog final : public Observer {
 public:
  explicit JsonLog(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail();
  }
  JsonLog(const JsonLog&) = delete;
  JsonLog& operator=(const JsonLog&) = delete;
  ~JsonLog() override { ::close(descriptor_); }

  void on_step(const StepRecord& record) override {
    Value line = Value::Table{
        {"kind", "step"}, {"step", record.step}, {"epoch", record.epoch}, {"loss", record.loss}, {"lr", record.lr}};
    if (record.gradient_norm) line.set("gradient_norm", *record.gradient_norm);
    if (record.loss_scale) line.set("loss_scale", *record.loss_scale);
    line.set("seconds", record.seconds);
    line.set("images_per_s", record.images_per_s());
    line.set("data_wait", record.data_wait_share());
    if (record.comm_exposed_seconds) line.set("comm_exposed", *record.comm_exposed_seconds / record.seconds);
    if (record.imbalance) line.set("imbalance", *record.imbalance);
    if (record.slowest_rank >= 0) line.set("slowest_rank", record.slowest_rank);
    if (record.device) {
      line.set("device_busy_percent", record.device->busy_percent);
      line.set("device_used_bytes", record.device->used_bytes);
      line.set("device_power_w", record.device->power_w);
    }
    if (const auto& staleness = record.staleness) {
      line.set("applied", staleness->applied);
      line.set("dropped", staleness->dropped);
      line.set("staleness_mean", staleness->mean);
      line.set("staleness_max", staleness->max);
    }
    write(line);
  }

  void on_links(const LinksRecord& record) override {
    Value links = Value::array();
    for (const dist::Link& link : record.slow) {
      links.push_back(Value::Table{{"from", link.from}, {"to", link.to}, {"mb_per_s", link.gb_per_s * 1e3}});
    }
    write(Value::Table{{"kind", "links"},
                       {"step", record.step},
                       {"usual_mb_per_s", record.usual_mb_per_s},
                       {"slow", Value::Array(record.names.begin(), record.names.end())},
                       {"slow_links", std::move(links)}});
  }

  void on_workers(const WorkersRecord& record) override {
    Value applied = Value::array();
    Value dropped = Value::array();
    for (const GradientCount& worker : record.workers) {
      applied.push_back(worker.applied);
      dropped.push_back(worker.dropped);
    }
    write(Value::Table{{"kind", "workers"},
                       {"step", record.step},
                       {"applied_by_worker", std::move(applied)},
                       {"dropped_by_worker", std::move(dropped)}});
  }

  void on_epoch(const EpochRecord& record) override {
    Value line = Value::table();
    line.set("kind", "epoch");
    line.set("step", record.step);
    line.set("epoch", record.epoch);
    line.set("train_loss", record.train_loss);
    line.set("val_loss", optional_value(record.val_loss));
    line.set("val_auroc", optional_value(record.val_auroc));
    if (record.val_top1) line.set("val_top1", *record.val_top1);
    line.set("labels_in_mean", record.labels_in_mean);
    line.set("labels_total", record.labels_total);
    if (!record.labels_left_out.empty())
      line.set("labels_left_out", Value::Array(record.labels_left_out.begin(), record.labels_left_out.end()));
    line.set("is_best", record.is_best);
    line.set("train_seconds", record.train_seconds);
    line.set("val_seconds", record.val_seconds);
    line.set("bad_images", record.bad_images);
    line.set("rss_bytes", record.rss_bytes);
    if (record.loss_scale) {
      line.set("loss_scale", record.loss_scale->scale);
      line.set("skipped_updates", record.loss_scale->skipped);
    }
    write(line);
  }

 private:
  void write(const Value& line) {
    const std::string text = io::to_json(line, -1) + "\n";
    errno = ENOSPC;  // a partial write sets no errno
    if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail();
  }
  [[noreturn]] void fail() const {
    throw DataError(error_text("train.log", path_.string(), "a file that can be written", std::strerror(errno),
                               "freeing space there, or another --out folder"));
  }

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace

std::unique_ptr<Observer> make_json_log(const std::filesystem::path& path) { return std::make_unique<JsonLog>(path); }

void truncate_json_log(const std::filesystem::path& path, std::int64_t step, std::int64_t epoch) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = io::read_text(path).or_throw();
  std::string kept;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
    const auto parsed = io::parse_json(line, "log.jsonl");
    if (!parsed.ok()) continue;
    const auto is_at_most = [&](std::string_view key, std::int64_t most) {
      const Value* at = parsed.value().find(key);
      return at != nullptr && at->is_integer() && at->as_integer() <= most;
    };
    const Value* kind = parsed.value().find("kind");
    const bool is_epoch = kind != nullptr && kind->is_string() && kind->as_string() == "epoch";
    if (is_at_most("step", step) && (!is_epoch || is_at_most("epoch", epoch - 1))) kept += line;
  }
  io::write_file_atomically(path, kept);
}

}  // namespace roentgen::train
