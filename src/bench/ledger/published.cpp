// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "bench/ledger/figures.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kDle = "NVIDIA DeepLearningExamples, README";
constexpr std::string_view kDell = "Dell chest X-ray pipeline, README";
constexpr std::string_view kDellNote = "256 x 256 pixels, batch 64";
constexpr std::string_view kHorovod = "horovod issue 779";
constexpr std::string_view kTimm = "timm, results csv";
constexpr std::string_view kMlperf4 = "mlcommons/training_results_v4.0";

constexpr std::array kSpeeds{
    PublishedSpeed{"resnet50", "V100-16GB", 1, "f32", 367, "PyTorch+DALI", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "f32", 2855, "PyTorch+DALI", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 1, "amp", 1200, "PyTorch+DALI", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "amp", 8322, "PyTorch+DALI", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 1, "f32", 384, "MXNet", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "f32", 3005, "MXNet", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 1, "amp", 1376, "MXNet", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "amp", 10723, "MXNet", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 1, "f32", 412, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "f32", 3170, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 1, "amp", 1270, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "V100-16GB", 8, "amp", 9510, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "A100", 1, "tf32", 909, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "A100", 8, "tf32", 7000, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "A100", 1, "amp", 2375, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "A100", 8, "amp", 17400, "TensorFlow+XLA", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 1, "tf32", 938, "PyTorch", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 8, "tf32", 7248, "PyTorch", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 1, "amp", 2470, "PyTorch", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 8, "amp", 16621, "PyTorch", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 1, "tf32", 1056, "MXNet 22.10", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 8, "tf32", 8247, "MXNet 22.10", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 1, "amp", 3410, "MXNet 22.10", kDle, ""},
    PublishedSpeed{"resnet50", "A100-80GB", 8, "amp", 26674, "MXNet 22.10", kDle, ""},
    PublishedSpeed{"resnet50", "RTX 3090", 1, "amp", 1218, "PyTorch, timm", kTimm, "channels-last"},
    PublishedSpeed{"densenet121", "RTX 3090", 1, "amp", 914, "PyTorch, timm", kTimm, "channels-last"},
    PublishedSpeed{"resnet50", "A100", 1, "amp", 2600, "PyTorch, timm", "timm issue 1491", "batch 512, synthetic"},
    PublishedSpeed{"resnet50", "H200", 8, "amp", 63537, "MXNet", kMlperf4, "batch 400, JPEG by DALI"},
    PublishedSpeed{"resnet50", "V100", 1, "amp", 872, "tf_cnn_benchmarks, Horovod", kHorovod, "synthetic, 25 Gbit/s"},
    PublishedSpeed{"resnet50", "V100", 8, "amp", 6679, "tf_cnn_benchmarks, Horovod", kHorovod, "synthetic, 25 Gbit/s"},
    PublishedSpeed{"resnet50", "V100", 16, "amp", 12828, "tf_cnn_benchmarks, Horovod", kHorovod,
                   "synthetic, 25 Gbit/s"},
    PublishedSpeed{"resnet50", "V100", 128, "amp", 89783, "tf_cnn_benchmarks, Horovod", kHorovod,
                   "synthetic, 25 Gbit/s"},
    PublishedSpeed{"densenet121", "V100", 1, "f32", 185.12, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 2, "f32", 315.26, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 3, "f32", 421.85, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 4, "f32", 589.36, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 8, "f32", 1116.99, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 12, "f32", 1527.60, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"densenet121", "V100", 16, "f32", 1912.82, "TensorFlow, Horovod", kDell, kDellNote},
    PublishedSpeed{"resnet50", "2x Xeon 8160", 1, "f32", 80, "Intel Caffe", "PRACE Best Practice Guide", "one node"},
    PublishedSpeed{"resnet50", "2x Xeon 8480+", 16, "bf16", 8581, "Intel's submission",
                   "mlcommons/training_results_v3.1", "16 nodes"},
};

std::string text_at(const Value& table, std::string_view path) {
  const Value* const value = table.find_path(path);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

/// Settings that differ between the points of one measurement of scaling.
constexpr std::array<std::string_view, 5> kOfScaling{"ranks", "devices", "hosts", "oversubscribed", "threads"};

/// Adds the settings of a table, without those in kOfScaling, to `settings`, and replaces equal keys.
void add_settings(const Value& table, Value& settings) {
  for (const auto& [key, value] : record_settings(table)) {
    if (std::ranges::find(kOfScaling, key) == kOfScaling.end()) settings.set(key, value);
  }
}

/// Formats image size, batch size and number format, as far as they are known.
std::string conditions_text(const Value& settings, std::int64_t image_px) {
  std::string text = image_px > 0 ? fmt::format("{} px", image_px) : "";
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const Value* const batch = settings.find("batch");
  if (batch != nullptr && batch->is_integer()) add(fmt::format("batch {}", batch->as_integer()));
  if (const std::string dtype = text_at(settings, "dtype"); !dtype.empty()) add(dtype);
  return text;
}

/// Adds the speed of a table of a result: of the result itself, or of a row with its own number of ranks or devices.
void add_speed(const Value& table, OwnSpeed speed, Value settings, std::vector<OwnSpeed>& speeds) {
  if (const std::string model = text_at(table, "model"); !model.empty()) speed.model = model;
  for (const std::string_view key : {"ranks", "devices"}) {
    if (const Value* const count = table.find(key); count != nullptr && count->is_integer()) {
      speed.devices = count->as_integer();
    }
  }
  if (text_at(table, "kind") == "predicted" || text_at(table, "device").starts_with("emulated")) return;
  const Value* const is_oversubscribed = table.find("oversubscribed");
  if (is_oversubscribed != nullptr && is_oversubscribed->is_bool() && is_oversubscribed->as_bool()) return;
  add_settings(table, settings);
  if (const Value* const px = table.find("image_px"); px != nullptr && px->is_integer()) {
    speed.image_px = px->as_integer();
  }
  const Value* const rate = table.find("images_per_s");
  if (rate != nullptr && rate->is_number() && rate->as_double() > 0.0 && !speed.model.empty()) {
    speed.images_per_s = rate->as_double();
    const Value* const efficiency = table.find("efficiency");
    speed.efficiency = efficiency != nullptr && efficiency->is_number() ? efficiency->as_double() : 0.0;
    speed.conditions = conditions_text(settings, speed.image_px);
    speed.settings = settings_text(settings.as_table());
    speeds.push_back(speed);
  }
  for (const auto& [key, rows] : table.as_table()) {
    if (!rows.is_array()) continue;
    for (const Value& row : rows.as_array()) {
      if (row.is_table()) add_speed(row, speed, settings, speeds);
    }
  }
}

/// Cases whose images_per_s is a speed of training.
constexpr std::array<std::string_view, 6> kTraining{"step", "short", "cnn", "sweep", "scaling", "long"};

}  // namespace

std::span<const PublishedSpeed> published_speeds() { return kSpeeds; }

double published_efficiency(const PublishedSpeed& row) {
  for (const PublishedSpeed& one : kSpeeds) {
    if (one.devices == 1 && one.model == row.model && one.hardware == row.hardware && one.dtype == row.dtype &&
        one.software == row.software && one.note == row.note) {
      return row.images_per_s / static_cast<double>(row.devices) / one.images_per_s;
    }
  }
  return 0.0;
}

std::vector<OwnSpeed> training_speeds(const std::vector<StoredRecord>& records) {
  std::vector<OwnSpeed> speeds;
  for (const StoredRecord& record : records) {
    if (std::ranges::find(kTraining, record.value.at("case").as_string()) == kTraining.end()) continue;
    const Value& result = record.value.at("result");
    const std::string device = text_at(result, "device");
    add_speed(result,
              {.hardware = device.empty() || device == "cpu" ? text_at(result, "cpu.model") : device,
               .command = command_text(record.value)},
              Value::Table{{"case", record.value.at("case")}}, speeds);
  }
  return speeds;
}

Value beside_published(const std::vector<StoredRecord>& records) {
  const std::vector<OwnSpeed> speeds = training_speeds(records);
  Value rows = Value::array();
  for (const PublishedSpeed& published : published_speeds()) {
    std::optional<OwnSpeed> ours;
    for (const OwnSpeed& speed : speeds) {
      if (speed.model != published.model || speed.devices != published.devices) continue;
      if (speed.image_px < kPublishedImagePx) continue;
      if (!ours || speed.images_per_s > ours->images_per_s) ours = speed;
    }
    const double efficiency = published_efficiency(published);
    rows.push_back(Value::Table{{"model", published.model},
                                {"hardware", published.hardware},
                                {"devices", published.devices},
                                {"dtype", published.dtype},
                                {"published", published.images_per_s},
                                {"efficiency", efficiency > 0.0 ? Value(efficiency) : Value()},
                                {"ours", ours ? Value(ours->images_per_s) : Value()},
                                {"ratio", ours ? Value(ours->images_per_s / published.images_per_s) : Value()},
                                {"our_hardware", ours ? Value(ours->hardware) : Value()},
                                {"our_conditions", ours ? Value(ours->conditions) : Value()},
                                {"note", published.note},
                                {"software", published.software},
                                {"source", published.source},
                                {"command", ours ? Value(ours->command) : Value()}});
  }
  return rows;
}

}  // namespace roentgen::bench
