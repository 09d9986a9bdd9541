// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/dtype_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/error.h"
#include "core/log.h"
#include "core/random.h"
#include "core/text_hash.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/timing_store.h"
#include "graph/text.h"
#include "runtime/memory.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::array<std::string_view, 2> kDtypes{"f32", "bf16"};
// Fewer digits are not worth less than this.
constexpr double kWorthwhile = 0.95;
constexpr int kRounds = 2, kTimedSteps = 2;
constexpr std::uint64_t kSeed = 1;

// Noise does for labels and masks, too: times do not depend on values.
void fill(Executable& executable) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), 0);
    Random random(kSeed, RandomStage::Test, i);
    const std::span<float> values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
    for (float& value : values) value = static_cast<float>(random.uniform());
  }
}

double step_seconds(const graph::Graph& graph, CompileOptions options, std::string_view dtype) {
  options.dtype = dtype;
  options.slots = 1;
  // Of this process alone: the others may not be asking.
  options.norm_group = nullptr;
  const std::unique_ptr<Executable> executable = make_executable(graph, options);
  initialise(*executable, kSeed);
  fill(*executable);
  double best_s = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= kTimedSteps; ++step) {
    const auto before = std::chrono::steady_clock::now();
    executable->forward();
    executable->backward(nullptr);
    const double taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    if (step > 0) best_s = std::min(best_s, taken_s);
  }
  return best_s;
}

// In turns, so that a machine that slows down slows both.
Timings measure(const graph::Graph& graph, const CompileOptions& options) {
  Timings timings;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::string_view dtype : kDtypes) {
      const double taken_s = step_seconds(graph, options, dtype);
      const auto [entry, is_new] = timings.emplace(dtype, taken_s);
      if (!is_new) entry->second = std::min(entry->second, taken_s);
    }
  }
  return timings;
}

std::size_t needed_bytes(const graph::Graph& graph, CompileOptions options, std::string_view dtype) {
  options.dtype = dtype;
  return make_plan(graph, options).memory.total();
}

bool is_asked(const graph::Graph& graph, const CompileOptions& options) {
  return options.form == Form::Training && graph.output("loss") >= 0 && simd::bf16_unit().has_value();
}

std::string faster_of(const Timings& timings) {
  const double f32_s = timings.at(std::string(kDtypes[0]));
  const double bf16_s = timings.at(std::string(kDtypes[1]));
  const std::string_view chosen = bf16_s <= kWorthwhile * f32_s ? kDtypes[1] : kDtypes[0];
  log::info(fmt::format("dtype auto: {}; forward and backward take {:.3f} s in f32, {:.3f} s in bf16", chosen, f32_s,
                        bf16_s));
  return std::string(chosen);
}

}  // namespace

std::string dtype_key(const graph::Graph& graph, const CompileOptions& options) {
  return fmt::format("step r{} {:016x} fuse {} algorithms {} recompute {} threads {}", kKernelRevision,
                     text_hash(graph::print_graph(graph)), options.fuse, options.algorithms, options.recompute,
                     options.threads);
}

std::string faster_dtype(const graph::Graph& graph, const CompileOptions& options) {
  const std::string f32(kDtypes[0]), bf16(kDtypes[1]);
  if (!is_asked(graph, options)) return f32;
  const std::string key = dtype_key(graph, options);
  TimingStore store(timing_file(), timing_machine());
  if (const std::optional<Timings> kept = store.find(key, {f32, bf16})) return faster_of(*kept);
  const std::size_t available = runtime::available_memory_bytes();
  if (needed_bytes(graph, options, f32) > available && needed_bytes(graph, options, bf16) <= available) {
    log::info("dtype auto: bf16, since f32 would not fit into memory");
    return bf16;
  }
  const Timings timings = measure(graph, options);
  store.put(key, timings);
  // Both are gone again: what is held from here on is what the chosen one takes.
  runtime::reset_peak_resident_memory();
  return faster_of(timings);
}

std::string known_dtype(const graph::Graph& graph, const CompileOptions& options) {
  if (!is_asked(graph, options)) return std::string(kDtypes[0]);
  const TimingStore store(timing_file(), timing_machine());
  const std::optional<Timings> kept =
      store.find(dtype_key(graph, options), {std::string(kDtypes[0]), std::string(kDtypes[1])});
  if (!kept) {
    throw ConfigError(error_text("engine.cpu", "dtype", "f32, bf16, or auto where a step was measured before",
                                 "auto, and nothing measured yet", "f32 or bf16, or a step first"));
  }
  return faster_of(*kept);
}

}  // namespace roentgen::engine::cpu
