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

#include "core/random.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/timing_store.h"
#include "graph/text.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::array<std::string_view, 2> kDtypes{"f32", "bf16"};
// Fewer digits are not worth less than this.
constexpr double kWorthwhile = 0.95;
constexpr int kTimedSteps = 3;
constexpr std::uint64_t kSeed = 1;

// FNV-1a: names the graph in a file of timings, where its whole text would be too much.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

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

}  // namespace

std::string faster_dtype(const graph::Graph& graph, const CompileOptions& options) {
  const std::string f32(kDtypes[0]), bf16(kDtypes[1]);
  if (options.form != Form::Training || graph.output("loss") < 0 || !simd::has_tiles()) return f32;
  const std::string key = fmt::format("step r{} {:016x} fuse {} algorithms {} recompute {} threads {}", kKernelRevision,
                                      hash_of(graph::print_graph(graph)), options.fuse, options.algorithms,
                                      options.recompute, options.threads);
  TimingStore store(timing_file(), timing_machine());
  std::optional<Timings> timings = store.find(key, {f32, bf16});
  if (!timings) {
    timings.emplace();
    for (const std::string_view dtype : kDtypes) {
      timings->emplace(dtype, step_seconds(graph, options, dtype));
    }
    store.put(key, *timings);
  }
  return timings->at(bf16) <= kWorthwhile * timings->at(f32) ? bf16 : f32;
}

}  // namespace roentgen::engine::cpu
