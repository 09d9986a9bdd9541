// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CPU engine: oneDNN's convolutions and our own SIMD kernels.
#include <fmt/format.h>
#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/error.h"
#include "engine/cpu/choice/conv_timing.h"
#include "engine/cpu/choice/instruction_set.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/primitive.h"
#include "engine/cpu/simd/isa.h"
#include "engine/engine_list.h"
#include "runtime/cores.h"

namespace roentgen::engine {
namespace {
// Returns make(). Throws DeviceError if oneDNN has no kernel for the graph.
template <typename Make>
auto with_kernels(const graph::Graph& graph, const Make& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    throw DeviceError(
        error_text("engine.cpu", graph.name(), "a oneDNN kernel for every op", error.what(), "reporting this bug"));
  }
}

class CpuEngine final : public Engine {
 public:
  // Limits the targets before other threads exist that call kernels, such as those that read images.
  CpuEngine() { cpu::simd::limit_targets(); }
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{}; own kernels {}; {}", cpu::library_description(), cpu::simd::target_name(),
                       runtime::available_cores_text());
  }
  [[nodiscard]] std::string instruction_set() const override {
    return std::string(cpu::name_of(cpu::this_instruction_set()));
  }
  [[nodiscard]] std::string least_instruction_set(const std::vector<std::string>& sets) const override {
    return *std::ranges::min_element(sets, {}, &cpu::instruction_set);
  }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    return with_kernels(graph, [&] { return cpu::make_executable(graph, options); });
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    return with_kernels(graph, [&] { return cpu::make_plan(graph, options); });
  }
  [[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph,
                                                            const CompileOptions& options) override {
    return with_kernels(graph, [&] { return cpu::measure_choices(graph, options); });
  }
};
}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int /*device*/) { return std::make_unique<CpuEngine>(); }

}  // namespace roentgen::engine
