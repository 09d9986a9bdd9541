// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CPU engine: oneDNN's convolutions and our SIMD kernels.
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/error.h"
#include "engine/cpu/dtype_choice.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/primitive.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/timing_store.h"
#include "engine/engine_list.h"
#include "runtime/cores.h"
#include "runtime/team.h"

namespace roentgen::engine {
namespace {
class CpuEngine final : public Engine {
 public:
  // Here already, before there are other threads that dispatch: those that read images.
  CpuEngine() { cpu::simd::limit_targets(); }
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{}; own kernels {}; {} cores", cpu::library_description(), cpu::simd::target_name(),
                       runtime::available_cores());
  }
  [[nodiscard]] std::string machine_kind(int threads) const override {
    const int team = runtime::given_team(threads < 1 ? runtime::default_compute_threads() : threads);
    return fmt::format("{}; {} thread{}", cpu::timing_machine(), team, team == 1 ? "" : "s");
  }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    try {
      return cpu::make_executable(graph, settled(graph, options, &cpu::faster_dtype));
    } catch (const dnnl::error& error) {
      throw no_kernel(graph, error);
    }
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    try {
      return cpu::make_plan(graph, settled(graph, options, &cpu::known_dtype));
    } catch (const dnnl::error& error) {
      throw no_kernel(graph, error);
    }
  }

 private:
  using ChooseDtype = std::string (*)(const graph::Graph& graph, const CompileOptions& options);
  // With a dtype for "auto"; a stored plan knows its own.
  static CompileOptions settled(const graph::Graph& graph, CompileOptions options, ChooseDtype choose) {
    if (options.dtype != "auto") return options;
    if (options.threads < 1) options.threads = runtime::default_compute_threads();
    options.dtype = options.choices.empty() ? choose(graph, options) : "f32";
    return options;
  }
  static DeviceError no_kernel(const graph::Graph& graph, const dnnl::error& error) {
    return DeviceError(error_text("engine.cpu", graph.name(), "kernels for every op", error.what()));
  }
};
}  // namespace

std::unique_ptr<Engine> make_cpu_engine() { return std::make_unique<CpuEngine>(); }

}  // namespace roentgen::engine
