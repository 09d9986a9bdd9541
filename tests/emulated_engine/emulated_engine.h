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

/// Engine "cuda" whose executables have an emulated device each.
class EmulatedEngine final : public engine::Engine {
 public:
  explicit EmulatedEngine(DeviceOptions options = {}) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string description() const override { return "emulated device"; }
  [[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph,
                                                            const engine::CompileOptions& options) override {
    return engine::cuda::make_executable(graph, options,
                                         {.device = std::make_unique<EmulatedDevice>(options_),
                                          .convolutions = make_plain_convolutions(),
                                          .multiprocessors = kMultiprocessors});
  }
  [[nodiscard]] engine::Plan plan(const graph::Graph& graph, const engine::CompileOptions& options) override {
    return engine::cuda::make_plan(graph, options, *make_plain_convolutions(), kMultiprocessors);
  }

 private:
  /// Few blocks.
  static constexpr int kMultiprocessors = 2;
  DeviceOptions options_;
};

}  // namespace roentgen::emulated
