// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/autobatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "bench/case_list.h"
#include "bench/cases/step.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "core/error.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "runtime/memory.h"

namespace roentgen::bench {
namespace {

// Memory that a step needs in addition to its plan and the loaded libraries: thread stacks and generated kernel code.
// Measured: 10 MiB.
constexpr std::size_t kRunningBytes = std::size_t{16} << 20U;
// Number of guesses after which the search for the batch halves the interval instead of guessing.
constexpr std::size_t kGuesses = 5;

// Returns true if the budget is memory of this process, and false if it is memory of a device.
bool uses_host_memory(const NetworkOptions& network) {
  return engine::resolve_device(engine::parse_device(network.device)).is_host();
}

// Computes the memory that a network needs for a batch size. Each call plans the network, which takes seconds for a
// large network.
class Needs {
 public:
  Needs(const NetworkOptions& network, engine::Engine& engine)
      : network_(network), engine_(engine), is_host_(uses_host_memory(network)) {}

  [[nodiscard]] std::size_t process_bytes() const { return process_bytes_; }
  [[nodiscard]] std::size_t of(std::int64_t batch) {
    network_.batch = batch;
    const engine::MemoryReport memory = plan_step(network_, engine_, {.threads = network_.threads}).memory;
    if (is_host_) process_bytes_ = std::max(process_bytes_, runtime::resident_memory_bytes() + kRunningBytes);
    return process_bytes_ + memory.total() + memory.parameters;  // SGD's momentum is as large as the parameters
  }

 private:
  NetworkOptions network_;
  engine::Engine& engine_;
  bool is_host_;
  /// Memory of the process before allocation of the plan; 0 on a device. It includes kernel code, which oneDNN
  /// generated during planning and keeps.
  std::size_t process_bytes_ = 0;
};

// Runs one training step with the batch of `network` and records whether its memory stayed within the budget.
Value confirm(NetworkOptions network, std::size_t budget_bytes) {
  network.warmup = 0;
  network.steps = 1;
  const Value step = run_step(network);
  const std::int64_t peak_bytes = step.at(uses_host_memory(network) ? "process_peak_bytes" : "peak_bytes").as_integer();
  return Value::Table{{"step_ms", step.at("step_ms").at("median")},
                      {"images_per_s", step.at("images_per_s")},
                      {"peak_bytes", peak_bytes},
                      {"fits", static_cast<std::size_t>(peak_bytes) <= budget_bytes}};
}

ConfigError too_small(std::size_t budget_bytes, std::size_t least_bytes) {
  const auto mebibytes = [](std::size_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
  };
  return ConfigError(error_text("bench.autobatch", "--memory",
                                "at least " + mebibytes(least_bytes) + ", for a batch of one image",
                                mebibytes(budget_bytes), "a smaller --image or --model, or --recompute all"));
}

}  // namespace

std::int64_t largest_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes, std::size_t budget_bytes,
                           std::int64_t most, std::vector<PlannedBatch>& tried) {
  const auto fits = [&](std::int64_t batch) {
    tried.push_back({batch, needed_bytes(batch)});
    return tried.back().bytes <= budget_bytes;
  };
  if (!fits(1)) return 0;
  PlannedBatch low = tried.back();  // largest batch so far that fits
  // Smallest batch so far that does not fit, or `most` + 1
  PlannedBatch high{most + 1, std::numeric_limits<std::size_t>::max()};
  std::int64_t guess = std::min<std::int64_t>(2, most);
  while (high.batch - low.batch > 1) {
    const bool is_within = fits(guess);
    const PlannedBatch last = tried.back();
    (is_within ? low : high) = last;
    // Extrapolates memory linearly from the last two plans to guess the next batch.
    const PlannedBatch& before = tried[tried.size() - 2];
    const double slope = (static_cast<double>(last.bytes) - static_cast<double>(before.bytes)) /
                         static_cast<double>(last.batch - before.batch);
    const double left = static_cast<double>(budget_bytes) - static_cast<double>(low.bytes);
    const double more = slope > 0.0 ? std::floor(left / slope) : static_cast<double>(most);
    guess = low.batch + static_cast<std::int64_t>(std::clamp(more, 1.0, static_cast<double>(most)));
    guess = std::min(guess, high.batch - 1);
    // Halves the interval after several guesses, because memory may not grow linearly. Needs a batch `high` that does
    // not fit.
    if (tried.size() >= kGuesses && high.batch <= most) guess = (low.batch + high.batch) / 2;
  }
  return low.batch;
}

std::int64_t batch_below(const PlannedBatch& planned, const PlannedBatch& smallest, std::size_t excess_bytes) {
  const std::int64_t images = planned.batch - smallest.batch;
  const double each = planned.bytes > smallest.bytes
                          ? static_cast<double>(planned.bytes - smallest.bytes) / static_cast<double>(images)
                          : std::numeric_limits<double>::infinity();
  const double fewer = std::ceil(static_cast<double>(excess_bytes) / each);
  return planned.batch - static_cast<std::int64_t>(std::clamp(fewer, 1.0, static_cast<double>(images)));
}

std::int64_t confirmed_batch(const std::function<std::size_t(std::int64_t)>& needed_bytes,
                             const std::function<std::size_t(std::int64_t)>& peak_bytes, std::size_t budget_bytes,
                             std::vector<PlannedBatch>& tried) {
  const auto first_too_large =
      std::ranges::find_if(tried, [&](const PlannedBatch& each) { return !each.fits(budget_bytes); });
  RG_ASSERT(first_too_large != tried.begin());
  std::int64_t batch = std::prev(first_too_large)->batch;
  for (;;) {
    auto place = std::ranges::lower_bound(tried, batch, {}, &PlannedBatch::batch);
    if (place == tried.end() || place->batch != batch) place = tried.insert(place, {batch, needed_bytes(batch)});
    const std::size_t held = peak_bytes(batch);
    place->measured_bytes = held;
    if (held <= budget_bytes) return batch;
    if (batch == 1) return 0;
    batch = batch_below(*place, tried.front(), held - budget_bytes);
  }
}

std::size_t parse_bytes(std::string_view option, std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1.0},   {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0},
                             {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9}};
  constexpr double kMost = 1e15;
  if (const auto bytes = quantity_in(text, kUnits); bytes && *bytes <= kMost) return static_cast<std::size_t>(*bytes);
  throw ConfigError(error_text("bench.autobatch", option, "a memory size such as 8GiB or 500MB",
                               text.empty() ? "no size" : std::string(text), fmt::format("{} 8GiB", option)));
}

Value run_autobatch(const AutobatchOptions& options) {
  NetworkOptions network = checked(options.network);
  require_at_least("most", options.most, 1);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Needs needs(network, *engine);
  std::vector<PlannedBatch> tried;
  network.batch =
      largest_batch([&](std::int64_t batch) { return needs.of(batch); }, options.budget_bytes, options.most, tried);
  if (network.batch == 0) throw too_small(options.budget_bytes, tried.front().bytes);
  std::ranges::sort(tried, {}, &PlannedBatch::batch);
  Value confirmed;
  if (options.is_confirmed) {
    // If the operating system cannot reset the peak, the measured peak includes earlier work. The step still runs, but
    // only the planned memory counts.
    const bool is_peak_of_step = runtime::reset_peak_resident_memory();
    network.batch = confirmed_batch(
        [&](std::int64_t batch) { return needs.of(batch); },
        [&](std::int64_t batch) {
          network.batch = batch;
          confirmed = confirm(network, options.budget_bytes);
          return is_peak_of_step ? static_cast<std::size_t>(confirmed.at("peak_bytes").as_integer()) : 0;
        },
        options.budget_bytes, tried);
    if (network.batch == 0) throw too_small(options.budget_bytes, tried.front().measured_bytes.value_or(0));
  }
  Value result = settings_of(
      "autobatch", network,
      {"model", "image_px", "channels", "labels", "threads", "device", "fuse", "algorithms", "dtype", "recompute"});
  result.set("budget_bytes", options.budget_bytes);
  result.set("process_bytes", needs.process_bytes());
  result.set("largest_batch", network.batch);
  Value rows = Value::array();
  for (const PlannedBatch& each : tried) {
    if (each.batch == network.batch) result.set("needed_bytes", each.bytes);
    rows.push_back(
        Value::Table{{"batch", each.batch}, {"needed_bytes", each.bytes}, {"fits", each.fits(options.budget_bytes)}});
  }
  result.set("tried", std::move(rows));
  result.set("confirmed", confirmed);
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

namespace {

class AutobatchCase final : public Case {
 public:
  AutobatchCase()
      : Case("the largest batch whose training step fits into a given memory",
             "roentgen bench autobatch --model densenet121 --image 512 --memory 8GiB") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--image", "--channels"}),
                   network_.training_options(),
                   {{.name = "--memory",
                     .target = &memory_,
                     .doc = "memory of the process or CUDA device for training, such as 8GiB",
                     .value_name = "SIZE"}}});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    return run_autobatch({.network = network_.checked(sizes_), .budget_bytes = parse_bytes("--memory", memory_)});
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
  std::string memory_;
};

}  // namespace

std::unique_ptr<Case> make_autobatch_case() { return std::make_unique<AutobatchCase>(); }

}  // namespace roentgen::bench
