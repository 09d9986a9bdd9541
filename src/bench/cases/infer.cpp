// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/model_run.h"
#include "bench/options.h"
#include "bench/profile.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "engine/device.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

enum Arm : std::size_t { kFused, kUnfused, kArms };

// Largest relative difference of logits allowed for 16-bit types and TF32. Rounding to bf16 has a root-mean-square
// error of 2^-9, which grows to 0.03 over 200 layers. F16 and TF32 have smaller errors.
constexpr double kMostRoundingOfNarrow = 0.05;

// Returns the largest difference of two logits, divided by the largest logit. Throws DataError if the difference is too
// large to be rounding.
double compare_logits(std::span<const float> fused, std::span<const float> unfused, const NetworkOptions& options) {
  double largest = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(unfused[i])));
    difference = std::max(difference, std::abs(static_cast<double>(fused[i]) - static_cast<double>(unfused[i])));
  }
  const double rounding = largest > 0.0 ? difference / largest : difference;
  const bool is_f32 = options.dtype == "f32" || options.dtype == "auto";
  const double most = !is_f32                          ? kMostRoundingOfNarrow
                      : options.algorithms == "direct" ? kMostRounding
                                                       : 10.0 * kMostRounding;
  if (rounding > most) {
    throw DataError(error_text("bench.infer", "logits of " + options.model + " with and without graph passes",
                               fmt::format("a difference of at most {:.0e}", most), fmt::format("{:.1e}", rounding),
                               "--fuse with one pass at a time, to find the wrong pass"));
  }
  return rounding;
}

// Measurements for one batch size.
struct Measured {
  Value row;
  double rounding = 0.0;
  std::vector<float> logits;
  std::string plan_hash;
  std::string dtype;
  Value profile, layers;
  std::vector<std::string> warnings;
};

Measured measure_batch(const InferOptions& options, std::size_t which, engine::Engine& engine) {
  NetworkOptions network = options.network;
  network.batch = options.batches[which];
  if (!options.graphs.empty()) network.graph = options.graphs.at(which);
  NetworkOptions unfused = network;
  unfused.fuse = "off";
  ModelRun runs[kArms] = {{network, engine::Form::Inference, engine}, {unfused, engine::Form::Inference, engine}};
  const auto seconds = interleave(kArms, options.rounds, [&](std::size_t arm) { return runs[arm].run(); });
  engine::Executable& fused = runs[kFused].executable();
  const std::span<const float> logits = fused.read("logits");
  Measured measured{.rounding = compare_logits(logits, runs[kUnfused].executable().read("logits"), network),
                    .logits = {logits.begin(), logits.end()},
                    .plan_hash = fused.plan().hash(),
                    .dtype = fused.plan().dtype()};
  const std::vector<double> all = all_of(seconds[kFused]);
  const double median_s = median(all);
  for (const std::vector<double>& round : seconds[kFused]) {
    if (auto sign = sign_of_spread(fmt::format("run of batch {}", network.batch), round)) {
      measured.warnings.push_back(std::move(*sign));
    }
  }
  measured.row = Value::Table{{"batch", network.batch},
                              {"images_per_s", static_cast<double>(network.batch) / median_s},
                              {"best_ms", summarise(all).min * 1e3},
                              {"p50_ms", median_s * 1e3},
                              {"p95_ms", percentile(all, 95) * 1e3},
                              {"p99_ms", percentile(all, 99) * 1e3},
                              {"unfused_ms", median(all_of(seconds[kUnfused])) * 1e3},
                              {"gain", median_ratio(seconds[kUnfused], seconds[kFused], median)},
                              {"peak_bytes", fused.plan().memory.total()}};
  const std::vector<double>& last = seconds[kFused].back();
  if (!network.has_profile) return measured;
  const ProfiledRuns profiled{.count = network.steps, .total_s = std::accumulate(last.begin(), last.end(), 0.0)};
  const bool is_host = engine::resolve_device(engine::parse_device(network.device)).is_host();
  const std::vector<engine::EntryTime> times = times_of(fused, profiled, is_host);
  measured.profile = profile_table(fused, times, profiled);
  measured.layers = layer_table(fused, times, nullptr);
  return measured;
}

}  // namespace

Value run_infer(const InferOptions& given) {
  InferOptions options = given;
  options.network = checked(given.network);
  const NetworkOptions& network = options.network;
  require_at_least("rounds", options.rounds, 1);
  require_at_least("batch", std::ssize(options.batches), 1);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Value rows = Value::array(), warnings = Value::array();
  double rounding = 0.0;
  std::vector<float> logits;
  Measured largest;
  std::int64_t largest_batch = 0;
  for (std::size_t i = 0; i < options.batches.size(); ++i) {
    Measured measured = measure_batch(options, i, *engine);
    rows.push_back(measured.row);
    rounding = std::max(rounding, measured.rounding);
    logits.insert(logits.end(), measured.logits.begin(), measured.logits.end());
    for (std::string& text : measured.warnings) warnings.push_back(std::move(text));
    if (options.batches[i] < largest_batch) continue;
    largest_batch = options.batches[i];
    largest = std::move(measured);
  }
  NetworkOptions said = network;
  said.dtype = largest.dtype;
  Value result = settings_of(
      "infer", said,
      {"model", "image_px", "channels", "labels", "threads", "device", "fuse", "algorithms", "dtype", "warmup", "n"});
  result.set("rounds", options.rounds);
  result.set("batches", std::move(rows));
  result.set("rounding", rounding);
  result.set("checksum", checksum(std::as_bytes(std::span(logits))));
  result.set("plan_hash", largest.plan_hash);
  result.set("profile", network.has_profile ? std::move(largest.profile) : Value());
  result.set("layers", network.has_profile ? std::move(largest.layers) : Value());
  result.set("warnings", std::move(warnings));
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

namespace {

class InferCase final : public Case {
 public:
  InferCase()
      : Case("latency and throughput of inference by batch size, with and without graph passes",
             "roentgen bench infer --model densenet121 --image 224 --batch 1,4,16 --threads 2 --json infer.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.options({"--model", "--labels", "--device", "--threads", "--oversubscribe", "--fuse",
                                     "--algorithms", "--dtype", "--profile"}),
                   {rounds_option(rounds_)}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    InferOptions options{.rounds = rounds_};
    if (!sizes_.batch.empty()) options.batches = parse_batches(sizes_.batch);
    options.network = network_.checked(sizes_.without_batch());
    for (const std::int64_t batch : options.batches) {
      options.network.batch = batch;
      if (auto graph = host.graph_of_file(options.network)) options.graphs.push_back(std::move(*graph));
    }
    return run_infer(options);
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
  std::int64_t rounds_ = 3;
};

}  // namespace

std::unique_ptr<Case> make_infer_case() { return std::make_unique<InferCase>(); }

}  // namespace roentgen::bench
