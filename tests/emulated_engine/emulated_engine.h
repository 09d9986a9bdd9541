// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CUDA engine on an emulated device. Test code only.
#pragma once

#include <memory>

#include "engine/cuda/plan/executable.h"
#include "engine/engine.h"
#include "tests/emulated_cuda/device.h"
#include "tests/emulated_engine/plain_convolutions.h"

namespace roentgen::emulated {

/// How steps run: entry by entry, or as CUDA graphs after these were recorded.
enum class Graphs { None, Recorded };

/// Returns a recorder of graphs for emulated streams.
[[nodiscard]] inline std::unique_ptr<engine::cuda::GraphRecorder> make_emulated_graphs() {
  class Recording final : public engine::cuda::StepGraph {
   public:
    explicit Recording(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
    void launch(runtime::Stream& stream) override { as_emulated(stream).replay(graph_); }

   private:
    std::shared_ptr<const Graph> graph_;
  };
  class Recorder final : public engine::cuda::GraphRecorder {
   public:
    void begin(runtime::Stream& stream) override { as_emulated(stream).begin_capture(); }
    [[nodiscard]] std::unique_ptr<engine::cuda::StepGraph> end(runtime::Stream& stream) override {
      return std::make_unique<Recording>(as_emulated(stream).end_capture());
    }
  };
  return std::make_unique<Recorder>();
}

/// Engine "cuda" in which each executable has its own emulated device.
class EmulatedEngine : public engine::Engine {
 public:
  /// @param graphs how steps are queued
  explicit EmulatedEngine(DeviceOptions options = {}, Graphs graphs = Graphs::Recorded)
      : options_(options), graphs_(graphs) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string description() const override { return "emulated device"; }
  [[nodiscard]] DType slot_dtype() const override { return DType::U16; }
  [[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph,
                                                            const engine::CompileOptions& options) override {
    return engine::cuda::make_executable(graph, options,
                                         {.device = make_device(),
                                          .convolutions = make_plain_convolutions(),
                                          .graphs = graphs_ == Graphs::Recorded ? make_graphs() : nullptr,
                                          .multiprocessors = kMultiprocessors});
  }
  [[nodiscard]] engine::Plan plan(const graph::Graph& graph, const engine::CompileOptions& options) override {
    return engine::cuda::make_plan(graph, options, *make_plain_convolutions(), kMultiprocessors);
  }

 protected:
  /// Device of a new executable.
  [[nodiscard]] virtual std::unique_ptr<runtime::Device> make_device() {
    return std::make_unique<EmulatedDevice>(options_);
  }
  /// Recorder of graphs of a new executable.
  [[nodiscard]] virtual std::unique_ptr<engine::cuda::GraphRecorder> make_graphs() { return make_emulated_graphs(); }

 private:
  /// Few blocks.
  static constexpr int kMultiprocessors = 2;
  DeviceOptions options_;
  Graphs graphs_;
};

}  // namespace roentgen::emulated
