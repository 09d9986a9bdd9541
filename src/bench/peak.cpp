// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {

constexpr int kRepeats = 20;
constexpr std::string_view kCopy = R"(graph "bench_copy"
input image ({0}, 64, {1}, {1})
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

/// Rows and side of the images of a measurement.
struct Size {
  std::int64_t rows;
  std::int64_t side_px;
};
/// Sizes from small to large. The largest that is needed is measured: devices differ by a factor of 10,000 in speed.
constexpr std::array<Size, 3> kCopySizes{{{2, 32}, {8, 64}, {32, 128}}};
constexpr std::array<Size, 3> kProductSizes{{{256, 16}, {1024, 32}, {8192, 64}}};
/// A shorter time shows that a larger size should be measured. Copies must also be larger than the caches.
constexpr double kLeastCopy_s = 5e-3, kLeastProduct_s = 4e-4;

/// Rate and time of the fastest entry of a kind.
struct Fastest {
  double rate = 0.0;  ///< amount per second
  double seconds = 0.0;
};

/// Measures the entries of a kind.
/// @param amount flops or bytes of an entry
template <typename Amount>
Fastest fastest_entry(engine::Executable& executable, std::string_view kind, const Amount& amount) {
  Fastest best;
  const std::vector<engine::PlanEntry>& entries = executable.plan().entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind.find(kind) == std::string::npos) continue;
    const double seconds = executable.time_entry(static_cast<std::int32_t>(i), kRepeats);
    const double rate = seconds > 0.0 ? static_cast<double>(amount(entries[i])) / seconds : 0.0;
    if (rate > best.rate) best = {rate, seconds};
  }
  return best;
}

/// Rate of the smallest of `sizes` whose measurement takes at least `least_s`, else of the largest.
template <typename Measure>
double rate_of(std::span<const Size> sizes, double least_s, const Measure& measure) {
  Fastest fastest;
  for (const Size& size : sizes) {
    fastest = measure(size);
    if (fastest.seconds >= least_s) break;
  }
  return fastest.rate;
}

Fastest copy(const Size& size, const NetworkOptions& options, engine::Engine& engine) {
  const std::string text = fmt::format(fmt::runtime(kCopy), size.rows, size.side_px);
  const graph::Graph graph = graph::parse_graph(text, "bench").or_throw<ConfigError>();
  const auto executable =
      engine.compile(graph, {.form = engine::Form::Inference, .threads = options.threads, .slots = 1, .fuse = "off"});
  fill_image(*executable);
  executable->forward();
  // The positive values of a period of 7 are 1, 2 and 3; a plane may end within a period.
  constexpr double kMean = 6.0 / 7.0, kTolerance = 1e-2;
  for (const float mean : executable->read("logits")) {
    if (std::abs(mean - kMean) <= kTolerance) continue;
    throw DeviceError(error_text("bench.peak", "mean after ReLU", fmt::to_string(kMean), fmt::to_string(mean)));
  }
  return fastest_entry(*executable, "relu", [](const engine::PlanEntry& entry) { return entry.bytes; });
}

Fastest product(const Size& size, const NetworkOptions& options, engine::Engine& engine) {
  // Columns of the matrix are pixels of an image with one channel, which all devices normalise.
  const std::int64_t columns = size.side_px * size.side_px;
  NetworkOptions product = options;
  product.graph = graph::parse_graph(fmt::format(fmt::runtime(kProduct), size.rows, size.side_px, columns), "bench")
                      .or_throw<ConfigError>();
  product.batch = size.rows;
  product.channels = 1;
  product.labels = columns;
  product.image_px = size.side_px;
  const auto executable = compile_step(product, engine, {.threads = options.threads, .slots = 1});
  SgdSteps steps(*executable);
  steps.run();
  static_cast<void>(steps.loss());  // throws if it is not finite
  return fastest_entry(*executable, "linear_", [](const engine::PlanEntry& entry) { return entry.flops; });
}

Value share(const Value& row, std::string_view key, double peak) {
  const Value* const rate = row.find(key);
  return rate != nullptr && rate->is_number() && peak > 0.0 ? Value(rate->as_double() / peak) : Value();
}

}  // namespace

Peak measure_peak(const NetworkOptions& options) {
  const auto engine = engine::make_engine(options.device);
  const double flops =
      rate_of(kProductSizes, kLeastProduct_s, [&](const Size& size) { return product(size, options, *engine); });
  const double bytes =
      rate_of(kCopySizes, kLeastCopy_s, [&](const Size& size) { return copy(size, options, *engine); });
  return {.gflops = flops * 1e-9, .gb_per_s = bytes * 1e-9};
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

void add_share_of_peak(Value& result, const Peak& peak) {
  const auto entry = [&](const Value& row, std::string_view key) {
    const Value* const own = row.find(key);
    return own != nullptr ? own : result.find(key);
  };
  const auto share_of = [&](const Value& row) {
    const Value* const gflop = entry(row, "gflop_per_image");
    const Value* const is_shared = entry(row, "oversubscribed");
    const Value* const hosts = entry(row, "hosts");
    const bool is_odd = (is_shared != nullptr && is_shared->is_bool() && is_shared->as_bool()) ||
                        (hosts != nullptr && hosts->is_integer() && hosts->as_integer() > 1);
    if (gflop == nullptr || is_odd || peak.gflops <= 0.0) return Value();
    const Value* const ranks = entry(row, "ranks");
    const double count = ranks == nullptr ? 1.0 : ranks->as_double();
    return Value(row.at("images_per_s").as_double() * gflop->as_double() / peak.gflops / count);
  };
  Value table = Value::Table{{"gflops", peak.gflops}, {"gb_per_s", peak.gb_per_s}};
  if (result.find("points") == nullptr) {
    table.set("share_of_flops", share_of(result));
  } else {
    Value rows = result.at("points");
    for (Value& row : rows.as_array()) row.set("share_of_flops", share_of(row));
    result.set("points", std::move(rows));
  }
  result.set("peak", std::move(table));
}

}  // namespace roentgen::bench
