// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces NCCL in the program under test, on emulated devices; ranks exchange data through shared memory.
#include <memory>

#include "dist/nccl_calls.h"
#include "dist/nccl_twin_testing.h"
#include "tests/emulated_cuda/device.h"

namespace roentgen::dist {

std::unique_ptr<NcclCalls> make_nccl_calls() {
  return std::make_unique<NcclTwin>(NcclTwinDevice{
      .queue = [](runtime::Stream& stream,
                  std::function<bool()> work) { emulated::as_emulated(stream).attempt("NCCL", std::move(work)); },
      .behind = [](runtime::DeviceSpan<std::byte> span) { return std::span(span.address, span.count); }});
}

std::string least_nccl_version() { return "0"; }

}  // namespace roentgen::dist
