// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The engine "cuda" of the program under test, on an emulated device.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "engine/engine_list.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::engine {
namespace {

/// Every process has a card of its own, unless EMULATED_CARD names one.
class OwnCard final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return engine_.name(); }
  [[nodiscard]] std::string description() const override { return engine_.description(); }
  [[nodiscard]] std::string device_id() const override {
    const char* card = std::getenv("EMULATED_CARD");
    return card == nullptr ? "card of process " + std::to_string(::getpid()) : card;
  }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    return engine_.compile(graph, options);
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    return engine_.plan(graph, options);
  }

 private:
  emulated::EmulatedEngine engine_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int) { return std::make_unique<OwnCard>(); }

}  // namespace roentgen::engine
