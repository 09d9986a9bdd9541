// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `engine.batch_norm`: the batch-norm entries (with ReLU fused) of one training step on (16, 64, 56, 56), forward
// and backward, on the CPU. A 1x1 convolution with identity weights precedes the norm, so that the norm computes a data
// gradient and its input is known. Checks the mean over pixels of relu(xhat) against the formula in double.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/network.h"
#include "bench/options.h"
#include "bench/profile.h"
#include "core/error.h"
#include "core/random.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {
constexpr std::int64_t kImages = 16;
constexpr std::int64_t kChannels = 64;
constexpr std::int64_t kPixels = 56 * 56;
// Tolerance for means over 3,136 values around 0.4, summed in float32. Their errors are at most a few 1e-6; 1e-5 leaves
// a margin.
constexpr double kTolerance = 1e-5;
constexpr std::string_view kGraph = R"(graph "bench_batch_norm"
input image (16, 64, 56, 56)
stem = conv2d(image, out=64, kernel=1x1, bias=no)
norm = batch_norm(stem)
act = relu(norm)
pool = global_avg_pool(act)
flat = flatten(pool)
output logits = flat
)";

std::span<float> image_of(engine::Executable& executable) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    if (executable.inputs()[i].name != "image") continue;
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), 0);
    return {reinterpret_cast<float*>(bytes.data()), static_cast<std::size_t>(kImages * kChannels * kPixels)};
  }
  throw std::logic_error("the graph has no image");
}

void load_identity(engine::Executable& executable) {
  std::vector<float> identity(static_cast<std::size_t>(kChannels * kChannels), 0.0F);
  for (std::int64_t c = 0; c < kChannels; ++c) identity[static_cast<std::size_t>(c * kChannels + c)] = 1.0F;
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == "stem.weight") executable.load(static_cast<std::int32_t>(i), identity);
  }
}

bool is_counted(const engine::PlanEntry& entry) {
  return entry.kind.find("batch_norm") != std::string::npos || entry.kind == "statistics";
}

double counted_seconds(engine::Executable& executable, const ProfiledRuns& runs, bool is_host) {
  double seconds = 0.0;
  for (const engine::EntryTime& time : times_of(executable, runs, is_host)) {
    if (is_counted(executable.plan().entries.at(static_cast<std::size_t>(time.entry)))) seconds += time.seconds;
  }
  return seconds;
}

double counted_bytes(const engine::Plan& plan) {
  double bytes = 0.0;
  for (const engine::PlanEntry& entry : plan.entries) {
    if (is_counted(entry)) bytes += static_cast<double>(entry.bytes);
  }
  return bytes;
}

/// Returns (N, C) means over pixels of relu((x - mean[c]) / sqrt(var[c] + 1e-5)), with mean and var over images and
/// pixels.
std::vector<double> expected_means(std::span<const float> image) {
  std::vector<double> means(static_cast<std::size_t>(kImages * kChannels), 0.0);
  for (std::int64_t c = 0; c < kChannels; ++c) {
    const auto plane = [&](std::int64_t n) {
      return image.subspan(static_cast<std::size_t>((n * kChannels + c) * kPixels), static_cast<std::size_t>(kPixels));
    };
    double sum = 0.0;
    double squares = 0.0;
    for (std::int64_t n = 0; n < kImages; ++n) {
      for (const double x : plane(n)) {
        sum += x;
        squares += x * x;
      }
    }
    const double mean = sum / (kImages * kPixels);
    const double istd = 1.0 / std::sqrt(squares / (kImages * kPixels) - mean * mean + 1e-5);
    for (std::int64_t n = 0; n < kImages; ++n) {
      double& out = means[static_cast<std::size_t>(n * kChannels + c)];
      for (const double x : plane(n)) out += std::max(0.0, (x - mean) * istd) / kPixels;
    }
  }
  return means;
}

Value batch_norm(const NetworkOptions& options) {
  require_at_least("threads", options.threads, 0);
  const graph::Graph graph = graph::with_loss(graph::parse_graph(kGraph, "bench").or_throw<ConfigError>(), {});
  const auto engine = engine::make_engine(options.device);
  const bool is_host = engine::resolve_device(engine::parse_device(options.device)).is_host();
  const auto executable = engine->compile(graph, {.threads = options.threads});
  engine::initialise(*executable, 1);
  load_identity(*executable);
  Random random(1, RandomStage::Test);
  for (float& value : image_of(*executable)) value = static_cast<float>(random.uniform(-1.0, 2.0));
  executable->bind_slot(0);

  const auto run = [&] {
    executable->reset_profile();
    executable->forward();
    executable->backward({});
    return counted_seconds(*executable, {.count = 1}, is_host);
  };
  const auto check = [&] {
    const std::span<const float> means = executable->read("logits");
    const std::vector<double> expected = expected_means(image_of(*executable));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::abs(means[i] - expected[i]) <= kTolerance) continue;
      throw DeviceError(error_text("bench.batch_norm", "mean over the pixels of plane " + std::to_string(i),
                                   std::to_string(expected[i]), std::to_string(means[i])));
    }
    return checksum(std::as_bytes(means));
  };
  return measure("engine.batch_norm", {.warmup = options.warmup, .repeats = options.steps, .threads = options.threads},
                 {.run = run,
                  .check = check,
                  .amount = counted_bytes(executable->plan()) * 1e-9,
                  .unit = "gb",
                  .facts = Value::Table{{"shape", Shape{kImages, kChannels, 56, 56}.text()},
                                        {"engine", engine->description()},
                                        {"plan_hash", executable->plan().hash()}}});
}

class BatchNormCase final : public Case {
 public:
  BatchNormCase()
      : Case("the batch norms of one training step, forward and backward, with ReLU",
             "roentgen bench engine.batch_norm --threads 2") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined(
        {sizes_.options({"--warmup", "--steps"}), network_.options({"--device", "--threads", "--oversubscribe"})});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override { return batch_norm(network_.checked(sizes_)); }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
};

}  // namespace

std::unique_ptr<Case> make_engine_batch_norm_case() { return std::make_unique<BatchNormCase>(); }

}  // namespace roentgen::bench
