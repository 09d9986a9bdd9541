// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen doctor scale: predicts the throughput of many devices from a step and links measured here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "bench/options.h"
#include "bench/predict_scaling.h"
#include "cli/doctor_check.h"
#include "cli/doctor_links.h"
#include "cli/launch.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "io/file.h"
#include "io/json.h"
#include "runtime/core_list.h"
#include "task/model.h"

namespace roentgen::cli {
namespace {

/// Returns the cost of a link as measured, or `usual` if it was not measured.
/// @param measured result of bench::run_links()
/// @param kind "within_host" or "between_hosts"
/// @param origin receives "measured" or "assumed"
bench::LinkCost link_cost(const Value& measured, std::string_view kind, bench::LinkCost usual, std::string& origin) {
  const Value* const link = measured.find(kind);
  origin = link == nullptr ? "assumed" : "measured";
  if (link == nullptr) return usual;
  return {.bytes_per_s = link->at("gb_per_s").as_double() * 1e9, .latency_s = link->at("us").as_double() * 1e-6};
}

/// Replaces the cost of the slower kind of link by the one that NCCL reached between GPUs, if it was measured.
void use_card_links(const Value& measured, bench::Cluster& cluster, std::string& between, std::string& within) {
  const Value* const speed = measured.find_path("cards.gb_per_s");
  if (speed == nullptr) return;
  const bool is_one_host = measured.find("between_hosts") == nullptr;
  (is_one_host ? cluster.within_host : cluster.between_hosts).bytes_per_s = speed->as_double() * 1e9;
  (is_one_host ? within : between) = "measured by NCCL";
}

/// Reads the points of `bench scaling`, from its --json file or from a record of the ledger.
Value measured_points(const std::filesystem::path& file) {
  const Value all = io::parse_json(io::read_text(file).or_throw<DataError>(), file.string()).or_throw<DataError>();
  const Value* const result = all.find("result");
  const Value* const points = (result == nullptr ? all : *result).find("points");
  if (points != nullptr && points->is_array()) return *points;
  throw DataError(error_text("cli.doctor", file.string(), "results of bench scaling", "none",
                             "roentgen bench scaling --json FILE"));
}

/// Adds the measured speed and the ratio of the predicted to it, where a point of as many devices was measured.
void add_measured(Value& points, const Value& measured) {
  for (Value& point : points.as_array()) {
    const auto& all = measured.as_array();
    const auto found =
        std::ranges::find_if(all, [&](const Value& each) { return each.at("ranks") == point.at("devices"); });
    const bool is_found = found != all.end();
    point.set("measured", is_found ? found->at("images_per_s") : Value());
    point.set("ratio",
              is_found ? Value(point.at("images_per_s").as_double() / found->at("images_per_s").as_double()) : Value());
  }
}

class ScaleCheck final : public DoctorCheck {
 public:
  [[nodiscard]] std::vector<Option> options() override {
    // Options with equal texts share a line of the help.
    constexpr const char* kBandwidthDoc = "links between, or within hosts: 1Gbit, or measured";
    constexpr const char* kLatencyDoc = "links between, or within hosts: 50us, or measured";
    return joined(
        {sizes_.options({"--image", "--steps"}),
         network_.options({"--labels", "--threads", "--oversubscribe"}),
         ranks_.options({"--no-overlap", "--bucket-mb"}),
         {{.name = "--model",
           .target = &network_.network.model,
           .doc = "built-in model, or a file from inspect --print"},
          {.name = "--batch",
           .target = &sizes_.batch,
           .doc = "images per batch of each device (default 16)",
           .value_name = "N"},
          {.name = "--device",
           .target = &network_.network.device,
           .doc = "device to time, or emulated:RATE (images per second)"},
          {.name = "--dtype", .target = &network_.network.dtype, .doc = "number format: f32, tf32, bf16, f16 or auto"},
          {.name = "--devices",
           .target = &devices_,
           .doc = "numbers of devices (default 8,16,32 ... 4096)",
           .value_name = "N,..."},
          {.name = "--per-host",
           .target = &ranks_.per_host,
           .doc = "number of devices per host; 0 means 1",
           .range = {0, 4096}},
          {.name = "--bandwidth", .target = &bandwidth_, .doc = kBandwidthDoc},
          {.name = "--host-bandwidth", .target = &host_bandwidth_, .doc = kBandwidthDoc},
          {.name = "--latency", .target = &latency_, .doc = kLatencyDoc},
          {.name = "--host-latency", .target = &host_latency_, .doc = kLatencyDoc},
          {.name = "--device-sd",
           .target = &device_sd_percent_,
           .doc = "standard deviation of emulated step times, %",
           .range = {0, 29}},
          {.name = "--measured", .target = &measured_, .doc = "JSON of bench scaling, to show measured speeds, too"}}});
  }

  [[nodiscard]] CommandResult run(const std::string& hosts) override {
    if (is_own_rank()) return links_as_rank("auto");
    bench::PredictOptions options = prediction();
    const Value measured = measured_.empty() ? Value::array() : measured_points(measured_);
    const Value origins = set_links(options.cluster, hosts);
    log::info("measuring training steps");
    Value result = bench::run_predict_scaling(options);
    result.set("case", "scale");
    result.set("links_are", origins);
    Value points = Value::array();
    for (const Value& point : result.at("points").as_array()) {
      Value row = Value::Table{{"devices", point.at("ranks")}};
      for (const char* const key :
           {"hosts", "images_per_s", "efficiency", "step_ms", "compute_ms", "comm_ms", "kind"}) {
        row.set(key, point.at(key));
      }
      points.push_back(std::move(row));
    }
    if (!measured_.empty()) add_measured(points, measured);
    result.set("points", std::move(points));
    terminal::print(
        report_text(result, {"memory_bytes", "kernel", "variables", "libraries", "machine", "program", "cpu"}));
    return {.json = std::move(result)};
  }

 private:
  [[nodiscard]] bench::PredictOptions prediction() const {
    bench::PredictOptions options{.step = network_.sized(sizes_)};
    options.device_images_per_s = bench::take_emulated_device(options.step);
    options.step.graph = task::graph_of_file(options.step.model, {.batch = options.step.batch,
                                                                  .channels = options.step.channels,
                                                                  .image_px = options.step.image_px,
                                                                  .labels = options.step.labels});
    options.bucket_mb = ranks_.bucket_mb;
    options.is_overlapped = !ranks_.is_late;
    options.ranks = device_counts();
    options.step.threads = options.step.threads == 0
                               ? runtime::physical_cores(runtime::usable_cores())
                               : bench::threads_of(options.step.threads, network_.may_oversubscribe);
    if (ranks_.per_host > 0) options.cluster.per_host = ranks_.per_host;
    options.device_sd = device_sd_percent_ / 100.0;
    if (options.device_sd > 0.0 && options.device_images_per_s <= 0.0) {
      throw ConfigError(error_text("cli.doctor", "--device-sd", "an emulated device, --device emulated:RATE",
                                   "a real device",
                                   "leaving out --device-sd, because the variation of a real device is measured"));
    }
    return options;
  }

  /// Returns the numbers in --devices.
  [[nodiscard]] std::vector<std::int64_t> device_counts() const {
    if (devices_.empty()) return {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    try {
      return bench::RankArguments{.ranks = devices_}.counts();
    } catch (const ConfigError&) {  // it names --ranks
      throw ConfigError(error_text("cli.doctor", "--devices", "numbers from 1 to 65536, separated by commas", devices_,
                                   "--devices 8,64"));
    }
  }

  /// Sets the costs of both kinds of links. Returns where each comes from.
  [[nodiscard]] Value set_links(bench::Cluster& cluster, const std::string& hosts) const {
    Value measured = Value::table();
    if (!hosts.empty()) {
      log::info("measuring links between hosts");
      measured = measure_links_on(hosts);
    }
    std::string between;
    std::string within;
    cluster.between_hosts = link_cost(measured, "between_hosts", cluster.between_hosts, between);
    cluster.within_host = link_cost(measured, "within_host", cluster.within_host, within);
    use_card_links(measured, cluster, between, within);
    const auto given = [](const std::string& text, double& value, auto parse, std::string& origin) {
      if (text.empty()) return;
      value = parse(text);
      origin = "given";
    };
    given(bandwidth_, cluster.between_hosts.bytes_per_s, bench::parse_bandwidth, between);
    given(latency_, cluster.between_hosts.latency_s, bench::parse_duration, between);
    given(host_bandwidth_, cluster.within_host.bytes_per_s, bench::parse_bandwidth, within);
    given(host_latency_, cluster.within_host.latency_s, bench::parse_duration, within);
    return Value::Table{{"between_hosts", between}, {"within_host", within}};
  }

  bench::SizeArguments sizes_;
  bench::NetworkArguments network_;
  bench::RankArguments ranks_;
  std::string devices_;
  std::string bandwidth_;
  std::string latency_;
  std::string host_bandwidth_;
  std::string host_latency_;
  double device_sd_percent_ = 0.0;
  std::filesystem::path measured_;
};

}  // namespace

std::unique_ptr<DoctorCheck> make_doctor_scale() { return std::make_unique<ScaleCheck>(); }

}  // namespace roentgen::cli
