// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces NCCL in the program under test, on emulated devices; ranks exchange data through shared memory. If
// ROENTGEN_TWIN_HANGS is set, aborting the group never returns.
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

#include "dist/nccl_calls.h"
#include "dist/nccl_twin_testing.h"
#include "tests/emulated_cuda/device.h"
#include "tests/emulated_program/running_averages.h"

namespace roentgen::dist {
namespace {

class CardTwin final : public NcclTwin {
 public:
  using NcclTwin::NcclTwin;
  ~CardTwin() override {
    if (!is_ending() && std::getenv("ROENTGEN_TWIN_HANGS") != nullptr) std::promise<void>().get_future().wait();
  }
  CardTwin(const CardTwin&) = delete;
  CardTwin& operator=(const CardTwin&) = delete;

 private:
  e2e::NcclCard card_;
};

// Queues the work of an average, and counts the average as running until it is done.
void queue(runtime::Stream& stream, std::function<bool()> work) {
  auto running = std::make_shared<e2e::RunningAverage>();
  emulated::as_emulated(stream).attempt("NCCL", [work = std::move(work), running = std::move(running)]() mutable {
    if (!work()) return false;
    running.reset();
    return true;
  });
}

}  // namespace

std::unique_ptr<NcclCalls> make_nccl_calls() {
  return std::make_unique<CardTwin>(NcclTwinDevice{.queue = queue, .behind = [](runtime::DeviceSpan<std::byte> span) {
                                                     return std::span(span.address, span.count);
                                                   }});
}

std::string least_nccl_version() { return "0"; }

}  // namespace roentgen::dist
