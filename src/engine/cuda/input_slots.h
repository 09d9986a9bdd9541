// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// InputSlots: host memory that Executable::slot() returns and uploads that Executable::bind_slot() starts, for devices
// with separate memory. It does not depend on CUDA, so that tests run it on the CPU as well.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Pinned host slots of all graph inputs, and two device copies of each input: the next batch uploads while the device
/// reads the last one. One thread drives it. Other threads may fill slots except the one bound last.
class InputSlots {
 public:
  /// @param slots number of slots per input, at least 1
  /// @param device must outlive this object
  InputSlots(runtime::Device& device, std::vector<InputSpec> inputs, int slots);
  /// Waits for uploads in progress, since they read the slots.
  ~InputSlots();
  InputSlots(const InputSlots&) = delete;
  InputSlots& operator=(const InputSlots&) = delete;

  /// Host memory of an input in a slot: inputs[input].bytes bytes, initially zero, 64-byte aligned.
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) const;
  /// Starts the upload of a slot and makes later work on `compute` wait for it. The upload overlaps work already queued
  /// on `compute`. Waits first for the upload of the previously bound slot, so that it may then be refilled. All
  /// readers of the previous copy must already be queued on `compute`. Allocates nothing.
  void bind(int slot, runtime::Stream& compute);
  /// Waits until the upload of the slot bound last is done. The slot may then be refilled.
  void wait_for_upload() const;
  /// Device memory of an input in the bound slot. Valid for work queued on `compute` until the next bind().
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
