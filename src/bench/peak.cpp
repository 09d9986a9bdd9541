// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {

constexpr int kRepeats = 20;
constexpr std::string_view kCopy = R"(graph "bench_copy"
input image (32, 64, 128, 128)
act = relu(image)
pool = global_avg_pool(act)
flat = flatten(pool)
output logits = flat
)";
constexpr std::string_view kProduct = R"(graph "bench_product"
input image ({0}, 1, {1}, {1})
flat = flatten(image)
hidden = linear(flat, out={2}, bias=no)
output logits = hidden
)";

/// Fills the input with -3, -2, ... 3 in turn.
void fill_image(engine::Executable& executable) {
  constexpr std::size_t kValues = 7;
  const std::span<std::byte> bytes = executable.slot(0, 0);
  const std::span<float> image(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % kValues) - 3.0F;
  executable.bind_slot(0);
}

/// Largest rate of all entries of a kind: amount per second.
/// @param amount flops or bytes of an entry
template <typename Amount>
double best_rate(engine::Executable& executable, std::string_view kind, const Amount& amount) {
  double best = 0.0;
  const std::vector<engine::PlanEntry>& entries = executable.plan().entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind.find(kind) == std::string::npos) continue;
    const double seconds = executable.time_entry(static_cast<std::int32_t>(i), kRepeats);
    if (seconds > 0.0) best = std::max(best, static_cast<double>(amount(entries[i])) / seconds);
  }
  return best;
}

double copy_rate(const NetworkOptions& options, engine::Engine& engine) {
  const graph::Graph graph = graph::parse_graph(kCopy, "bench").or_throw<ConfigError>();
  const auto executable =
      engine.compile(graph, {.form = engine::Form::Inference, .threads = options.threads, .slots = 1, .fuse = "off"});
  fill_image(*executable);
  executable->forward();
  // The positive values of a period are 1, 2 and 3; a plane of 16,384 pixels ends within a period.
  constexpr double kMean = 6.0 / 7.0, kTolerance = 1e-3;
  for (const float mean : executable->read("logits")) {
    if (std::abs(mean - kMean) <= kTolerance) continue;
    throw DeviceError(error_text("bench.peak", "mean after ReLU", fmt::to_string(kMean), fmt::to_string(mean)));
  }
  return best_rate(*executable, "relu", [](const engine::PlanEntry& entry) { return entry.bytes; });
}

double product_rate(const NetworkOptions& options, engine::Engine& engine) {
  // 16 GFLOP take a CPU core about 0.1 s, and 550 GFLOP a GPU 1 ms. Columns of the matrix are pixels of an image with
  // one channel, which all devices normalise.
  const bool is_host = engine::resolve_device(engine::parse_device(options.device)).is_host();
  const std::int64_t rows = is_host ? 768 : 8192, side_px = is_host ? 48 : 64, columns = side_px * side_px;
  const graph::Graph graph =
      graph::parse_graph(fmt::format(fmt::runtime(kProduct), rows, side_px, columns), "bench").or_throw<ConfigError>();
  NetworkOptions product = options;
  product.graph = graph;
  product.batch = rows;
  product.channels = 1;
  product.labels = columns;
  product.image_px = side_px;
  const auto executable = compile_step(product, engine, {.threads = options.threads, .slots = 1});
  SgdSteps steps(*executable);
  steps.run();
  static_cast<void>(steps.loss());  // throws if it is not finite
  return best_rate(*executable, "linear_", [](const engine::PlanEntry& entry) { return entry.flops; });
}

Value share(const Value& row, std::string_view key, double peak) {
  const Value* const rate = row.find(key);
  return rate != nullptr && rate->is_number() && peak > 0.0 ? Value(rate->as_double() / peak) : Value();
}

}  // namespace

Peak measure_peak(const NetworkOptions& options) {
  const auto engine = engine::make_engine(options.device);
  return {.gflops = product_rate(options, *engine) * 1e-9, .gb_per_s = copy_rate(options, *engine) * 1e-9};
}

void add_share_of_peak(Value& result, const Peak& peak, double flops, double step_s) {
  const bool is_known = peak.gflops > 0.0 && step_s > 0.0;
  result.set("peak", Value::Table{{"gflops", peak.gflops},
                                  {"gb_per_s", peak.gb_per_s},
                                  {"share_of_flops", is_known ? Value(flops * 1e-9 / step_s / peak.gflops) : Value()}});
  const Value* const profile = result.find("profile");
  if (profile == nullptr || !profile->is_array()) return;
  Value rows = *profile;
  for (Value& row : rows.as_array()) {
    const Value of_flops = share(row, "gflops", peak.gflops), of_bytes = share(row, "gb_per_s", peak.gb_per_s);
    Value of_peak = of_flops.is_null() ? of_bytes : of_flops;
    if (!of_flops.is_null() && !of_bytes.is_null()) of_peak = std::max(of_flops.as_double(), of_bytes.as_double());
    row.set("of_peak", std::move(of_peak));
  }
  result.set("profile", std::move(rows));
}

}  // namespace roentgen::bench
