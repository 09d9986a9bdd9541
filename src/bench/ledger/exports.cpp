// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "bench/ledger/figures.h"
#include "bench/ledger/record.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExperiment = "roentgen-bench";
/// Id of the experiment. MLflow's ids are numbers; a long one does not meet those that it counts up.
constexpr std::string_view kExperimentId = "724013000001";

/// Milliseconds since 1970 of a record's date, such as "2026-11-27T18:43:20Z".
std::int64_t milliseconds_of(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  // NOLINTNEXTLINE(cert-err34-c): the number of fields read is checked
  if (std::sscanf(date.c_str(), "%d-%u-%uT%u:%u:%uZ", &year, &month, &day, &hour, &minute, &second) != 6) {
    throw DataError(error_text("bench.exports", "date", "a date such as 2026-11-27T18:43:20Z", date,
                               "a record that a benchmark wrote"));
  }
  const std::chrono::sys_days days(std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day});
  const auto time = days + std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// Begin and end of a case in milliseconds since 1970. A record has the date of the end.
struct Period {
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
};

Period period_of(const Value& record) {
  const std::int64_t end_ms = milliseconds_of(record.at("date").as_string());
  const Value* const seconds = record.find_path("result.energy.seconds");
  const double duration_s = seconds != nullptr && seconds->is_number() ? seconds->as_double() : 0.0;
  return {.begin_ms = end_ms - static_cast<std::int64_t>(duration_s * 1e3), .end_ms = end_ms};
}

/// Name that MLflow accepts: letters, digits, and _ - . space /, without a slash, which would make a folder.
std::string mlflow_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !is_letter && c != '_' && c != '-' && c != '.' && c != ' ';
      },
      '_');
  return name;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw DataError(
      error_text("bench.exports", folder.string(), "a folder", error.message(), "another folder with --mlflow"));
}

void write(const fs::path& file, const std::string& text) {
  make_folder(file.parent_path());
  io::write_file_atomically(file, text);
}

std::string plain(const Value& value) { return value.is_string() ? value.as_string() : io::to_json(value, -1); }

/// False if the case ended with an error, such as an unreached target.
bool has_passed(const Value& record) {
  const Value* const passed = record.find("passed");
  return passed == nullptr || !passed->is_bool() || passed->as_bool();
}

void write_metrics(const Value& record, const fs::path& run, std::int64_t time_ms) {
  const Value& result = record.at("result");
  for (const Figure& figure : main_figures(result)) {
    write(run / "metrics" / mlflow_name(figure.name), fmt::format("{} {} 0\n", time_ms, figure.value));
  }
  for (const auto& [name, values] : raw_samples(result)) {
    std::string lines;
    std::int64_t step = 0;
    for (const Value& value : values.as_array()) {
      lines += fmt::format("{} {} {}\n", time_ms, value.as_double(), step++);
    }
    write(run / "metrics" / mlflow_name(name), lines);
  }
}

/// Id of a record, 32 hex digits of a hash of its content.
std::string id_of(const Value& record) {
  constexpr std::size_t kIdDigits = 32;
  return io::sha256_hex(io::to_json(record)).substr(0, kIdDigits);
}

}  // namespace

std::string mlperf_log(const Value& record) {
  const bool is_passed = has_passed(record);
  const Period period = period_of(record);
  const Value& result = record.at("result");
  std::string text;
  std::int64_t line = 0;
  const auto add = [&](std::int64_t time_ms, std::string_view type, std::string_view key, Value value,
                       Value::Table metadata) {
    metadata.insert(metadata.begin(),
                    {{"file", "roentgen bench " + record.at("case").as_string()}, {"lineno", ++line}});
    text += ":::MLLOG " +
            io::to_json(Value::Table{{"namespace", ""},
                                     {"time_ms", time_ms},
                                     {"event_type", type},
                                     {"key", key},
                                     {"value", std::move(value)},
                                     {"metadata", std::move(metadata)}},
                        -1) +
            "\n";
  };
  const Value* const model = result.find("model");
  const Value* const batch = result.find("batch");
  add(period.begin_ms, "POINT_IN_TIME", "submission_benchmark", model != nullptr ? *model : record.at("case"), {});
  // Results of several numbers of ranks have several global batch sizes.
  if (batch != nullptr && batch->is_integer() && result.find("points") == nullptr) {
    const Value* const ranks = result.find("ranks");
    const std::int64_t count = ranks != nullptr && ranks->is_integer() ? ranks->as_integer() : 1;
    add(period.begin_ms, "POINT_IN_TIME", "global_batch_size", batch->as_integer() * count, {});
  }
  add(period.begin_ms, "INTERVAL_START", "run_start", Value(), {});
  for (const Figure& figure : main_figures(result)) {
    const bool is_throughput = figure.name == "images_per_s";
    add(period.end_ms, "POINT_IN_TIME", "tracked_stats",
        Value::Table{{is_throughput ? "throughput" : figure.name, figure.value}}, {});
  }
  add(period.end_ms, "INTERVAL_END", "run_stop", Value(), {{"status", is_passed ? "success" : "aborted"}});
  return text;
}

Value plain_record(const Value& record) {
  const Period period = period_of(record);
  const Value& result = record.at("result");
  const Value* const cpu = result.find_path("cpu.model");
  Value figures = Value::table();
  for (const Figure& figure : main_figures(result)) figures.set(figure.name, figure.value);
  constexpr double kPerSecond = 1e3;
  return Value::Table{{"id", id_of(record)},
                      {"case", record.at("case")},
                      {"date", record.at("date")},
                      {"begin_s", static_cast<double>(period.begin_ms) / kPerSecond},
                      {"commit", record.at("commit")},
                      {"host", record.at("host")},
                      {"cpu", cpu != nullptr ? *cpu : Value()},
                      {"command", command_text(record)},
                      {"settings", record_settings(result)},
                      {"figures", std::move(figures)},
                      {"samples", raw_samples(result)}};
}

fs::path write_mlflow_run(const Value& record, const fs::path& store) {
  const Period period = period_of(record);
  const fs::path experiment = fs::absolute(store) / kExperimentId;
  const std::string id = id_of(record);
  const fs::path run = experiment / id;
  if (!fs::exists(experiment / "meta.yaml")) {
    write(experiment / "meta.yaml",
          fmt::format("artifact_location: {}\ncreation_time: {}\nexperiment_id: '{}'\nlast_update_time: {}\n"
                      "lifecycle_stage: active\nname: {}\n",
                      io::to_json(experiment.string()), period.begin_ms, kExperimentId, period.begin_ms, kExperiment));
  }
  const std::string& case_name = record.at("case").as_string();
  const Value::Table tags{{"mlflow.runName", case_name},
                          {"mlflow.source.type", "LOCAL"},
                          {"mlflow.source.name", command_text(record)},
                          {"mlflow.source.git.commit", record.at("commit")},
                          {"roentgen.host", record.at("host")}};
  for (const auto& [name, value] : tags) write(run / "tags" / name, plain(value));
  for (const std::string_view folder : {"artifacts", "metrics", "params"}) make_folder(run / folder);
  write(run / "artifacts/record.json", io::to_json(record) + "\n");
  for (const auto& [name, value] : record_settings(record.at("result"))) {
    write(run / "params" / mlflow_name(name), plain(value));
  }
  write_metrics(record, run, period.end_ms);
  // The run appears in MLflow with this file, the last one. Status 3 is FINISHED, 4 FAILED; source type 4 is LOCAL.
  write(run / "meta.yaml",
        fmt::format("artifact_uri: {}\nend_time: {}\nentry_point_name: ''\nexperiment_id: '{}'\n"
                    "lifecycle_stage: active\nrun_id: {}\nrun_name: {}\nrun_uuid: {}\nsource_name: ''\nsource_type: 4\n"
                    "source_version: ''\nstart_time: {}\nstatus: {}\ntags: []\nuser_id: roentgen\n",
                    io::to_json((run / "artifacts").string()), period.end_ms, kExperimentId, id, io::to_json(case_name),
                    id, period.begin_ms, has_passed(record) ? 3 : 4));
  return run;
}

}  // namespace roentgen::bench
