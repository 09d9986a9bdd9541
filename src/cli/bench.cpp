// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen bench: runs one case of bench/case_list.h and prints its result. --json FILE receives the whole result, and
// the ledger a record of it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/energy.h"
#include "bench/ledger/exports.h"
#include "bench/ledger/record.h"
#include "bench/network.h"
#include "bench/train_group.h"
#include "cli/command_list.h"
#include "cli/launch.h"
#include "cli/output_file.h"
#include "cli/own_arguments.h"
#include "cli/report_text.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/image_list.h"
#include "io/file.h"
#include "task/model.h"

namespace roentgen::cli {
namespace {

/// Value of --ledger that writes no record.
constexpr std::string_view kNoLedger = "none";

RankOptions rank_options(const bench::RankRequest& request) {
  return {.ranks = request.ranks,
          .hosts = request.hosts,
          .may_oversubscribe = request.may_oversubscribe,
          .threads = request.threads,
          .reduce = request.reduce,
          .wire = request.wire,
          .gdr = request.gdr};
}

/// Services for cases.
/// @param training options about ranks, for cases that train; must outlive the result
bench::Host host_of(const RankOptions& training) {
  return {
      .images = data::images_or_records,
      .graph_of_file =
          [](const bench::NetworkOptions& network) {
            return task::graph_of_file(network.model, {.batch = network.batch,
                                                       .channels = network.channels,
                                                       .image_px = network.image_px,
                                                       .labels = network.labels});
          },
      .print =
          [](const std::string& text) {
            terminal::print_tabbed(text);
            flush_output();
          },
      .listen_for_stop = listen_for_stop,
      .is_stop_asked = is_stop_asked,
      .is_own_rank = is_own_rank,
      .start_ranks =
          [](const bench::RankRequest& request, const std::vector<std::string>& changed) {
            return run_for_json(rank_options(request), changed);
          },
      .join_ranks =
          [](const bench::RankRequest& request, const std::function<Value(dist::CommThread*)>& body) {
            const CommandResult result = run_as_ranks(
                rank_options(request), [&](dist::CommThread* group) { return CommandResult{.json = body(group)}; });
            return result.is_silent ? Value() : result.json;
          },
      .train =
          [&training](const bench::TrainRequest& request, const std::function<Value(const bench::TrainGroup&)>& body) {
            RankOptions options = training;
            options.is_stoppable = true;
            options.returns_result = true;
            options.recipe = request.recipe;
            options.after = request.after;
            const CommandResult result = run_as_ranks(options, [&](dist::CommThread* ranks) {
              return CommandResult{.json = body({.ranks = ranks,
                                                 .servers = train::parse_server_options(options.servers),
                                                 .may_share_device = options.may_share_device,
                                                 .reduce = options.reduce,
                                                 .wire = options.wire,
                                                 .gdr = options.gdr})};
            });
            return result.is_silent ? Value() : result.json;
          }};
}

std::string examples_of(const std::vector<bench::NamedCase>& cases) {
  std::string examples;
  for (const auto& [name, each] : cases) examples += fmt::format("{}\n", each->example());
  return examples + "roentgen bench --list";
}

/// Returns the result with the reason instead of the table `energy` if the power is unknown, to print it.
Value with_short_energy(Value result) {
  const Value* const reason = result.find_path("energy.unknown");
  if (reason == nullptr) return result;
  const std::string text = "unknown: " + reason->as_string();
  result.set("energy", text);
  return result;
}

void print(const Value& result) {
  terminal::print(report_text(with_short_energy(result),
                              {"warnings", "samples", "layers", "memory_bytes", "kernel", "variables", "libraries",
                               "links", "machine", "disturbance", "calibration", "intervals"}));
}

class BenchCommand final : public Command {
 public:
  explicit BenchCommand(std::vector<bench::NamedCase> cases)
      : Command("bench", "Run a benchmark case; --list lists the cases.", examples_of(cases)),
        cases_(std::move(cases)) {}
  [[nodiscard]] std::vector<Option> options() override {
    std::vector<Option> options{{.name = "CASE", .target = &case_name_, .doc = "name of the benchmark case"},
                                {.name = "--list", .target = &is_list_, .doc = "list the cases"},
                                {.name = "--ledger",
                                 .target = &ledger_,
                                 .doc = "folder for results, or none (default: ~/.local/share/roentgen/bench)",
                                 .value_name = "DIR"},
                                {.name = "--cost-per-hour",
                                 .target = &cost_per_hour_,
                                 .doc = "price of the machine per hour: adds images per unit of money",
                                 .range = {0, 1e9}},
                                {.name = "--mlperf-log",
                                 .target = &mlperf_log_,
                                 .doc = "also write MLPerf log lines to a file; write a run to an MLflow store",
                                 .is_output = true,
                                 .value_name = "PATH"},
                                {.name = "--mlflow",
                                 .target = &mlflow_,
                                 .doc = "also write MLPerf log lines to a file; write a run to an MLflow store",
                                 .value_name = "PATH"}};
    for (const auto& [name, each] : cases_) {
      for (Option& option :
           joined({each->options(), each->has_rank_options() ? rank_options() : std::vector<Option>{}})) {
        option.case_name = name;
        options.push_back(std::move(option));
      }
    }
    return options;
  }

  [[nodiscard]] Folders folders() const override {
    Folders folders;
    for (const auto& [name, each] : cases_) {
      for (const Option& option : each->options()) {
        if (!option.is_input) continue;
        for (const std::string& path : *std::get<std::vector<std::string>*>(option.target)) {
          folders.read.emplace_back(path);
        }
      }
    }
    return folders;
  }

  [[nodiscard]] CommandResult run() override {
    if (is_list_) {
      for (const auto& [name, each] : cases_) terminal::print(fmt::format("{:<17} {}\n", name, each->summary()));
      return {};
    }
    bench::Case& asked = bench::find_case(cases_, case_name_);
    std::optional<bench::EnergyMeter> meter;
    if (asked.is_measurement() && !is_own_rank()) meter.emplace(bench::all_monitors());
    Value json = asked.run(host_of(ranks_));
    if (json.is_null()) return {.json = {}, .is_silent = true};
    if (meter) bench::add_energy(json, meter->stop(), cost_per_hour_);
    if (!asked.prints_itself()) print(json);
    // The process that started the ranks prints the warnings and reports the failure
    if (is_own_rank()) return {.json = std::move(json)};
    if (const Value* warnings = json.find("warnings")) {
      for (const Value& warning : warnings->as_array()) log::warning(warning.as_string());
    }
    if (asked.has_stopped(json)) {
      ignore_stop();  // all is saved
      terminal::print("stopped; the same command continues\n");
      return {.json = std::move(json), .exit_code = kStopped};
    }
    const bool has_failed = asked.has_failed(json);
    if (asked.is_measurement() && asked.is_new(json)) {
      Value record = bench::make_record(case_name_, command_to_repeat(), json);
      record.set("passed", !has_failed);
      store(record);
    }
    const int exit_code = has_failed ? kFailure : kSuccess;
    return {.json = std::move(json), .exit_code = exit_code};
  }

 private:
  /// Options about ranks, as `roentgen train` has them.
  [[nodiscard]] std::vector<Option> rank_options() {
    return joined({ranks_.options(), ranks_.layout.communication_options("sending threads: 0, 1; their cores"),
                   ranks_.gradient_options()});
  }

  /// Writes a record, and copies for other programs. A default folder that cannot be written is only a warning.
  void store(const Value& record) const {
    if (!mlperf_log_.empty()) io::write_file_atomically(mlperf_log_, bench::mlperf_log(record));
    if (!mlflow_.empty()) log::info("MLflow run: " + bench::write_mlflow_run(record, mlflow_).string());
    if (ledger_ == kNoLedger) return;
    const std::filesystem::path folder = ledger_.empty() ? bench::default_ledger() : std::filesystem::path(ledger_);
    if (folder.empty()) return;
    try {
      log::info("record: " + bench::write_record(folder, record).string());
    } catch (const DataError& error) {
      if (!ledger_.empty()) throw;
      log::warning(error.what());
    }
  }

  std::string case_name_ = "step";
  RankOptions ranks_;
  std::string ledger_;
  double cost_per_hour_ = 0.0;
  std::filesystem::path mlperf_log_;
  std::filesystem::path mlflow_;
  bool is_list_ = false;
  std::vector<bench::NamedCase> cases_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(bench::make_cases()); }

}  // namespace roentgen::cli
