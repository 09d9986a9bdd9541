// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// InputSlots: the host memory that Executable::slot() hands out for a device that copies, and what
// Executable::bind_slot does there. Knows no CUDA, so that it is tested on the CPU as well.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Pinned slots of all graph inputs and two device copies of each, so that the next batch uploads while the last one is
/// read. One thread drives it; others may fill slots other than the one bound last.
class InputSlots {
 public:
  /// `slots` (at least 1) per input; `device` must outlive this.
  InputSlots(runtime::Device& device, std::vector<InputSpec> inputs, int slots);
  /// Waits for copies under way, since they read the slots.
  ~InputSlots();
  InputSlots(const InputSlots&) = delete;
  InputSlots& operator=(const InputSlots&) = delete;

  /// Host memory of an input in a slot: inputs[input].bytes bytes, zeroed at first, 64-byte aligned.
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) const;
  /// Starts the upload of a slot and makes `compute` wait for it: the upload runs under the work that is queued there.
  /// Waits first for the upload of the slot bound before, which may then be filled again. All reading of the copy bound
  /// before has been queued on `compute`. Allocates nothing.
  void bind(int slot, runtime::Stream& compute);
  /// Returns once the upload of the slot bound last is done: it may then be filled again.
  void wait_for_upload() const;
  /// Device memory of the bound slot's input, for what is queued on `compute` until the next bind().
  [[nodiscard]] const runtime::DeviceBuffer& bound(std::int64_t input) const;

 private:
  /// One device copy of every input.
  struct Copy {
    std::vector<std::unique_ptr<runtime::DeviceBuffer>> inputs;
    std::unique_ptr<runtime::Event> uploaded;
    std::unique_ptr<runtime::Event> read;
  };
  std::vector<InputSpec> inputs_;
  std::vector<std::vector<std::unique_ptr<runtime::PinnedBuffer>>> slots_;
  std::vector<Copy> copies_;
  std::size_t current_ = 0;
  std::unique_ptr<runtime::Stream> upload_;
};

}  // namespace roentgen::engine::cuda
