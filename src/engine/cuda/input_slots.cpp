// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/input_slots.h"

#include "core/error.h"

namespace roentgen::engine::cuda {

InputSlots::InputSlots(runtime::Device& device, std::vector<InputSpec> inputs, int slots)
    : inputs_(std::move(inputs)), slots_(), copies_(2), upload_(device.make_stream()) {
  if (slots < 1)
    throw ConfigError(
        error_text("engine.cuda", "input slots (batch buffers)", "at least 1", std::to_string(slots), "1"));
  slots_.resize(static_cast<std::size_t>(slots));
  for (auto& slot : slots_) {
    for (const InputSpec& input : inputs_) slot.push_back(device.make_pinned_buffer(input.bytes));
  }
  for (Copy& copy : copies_) {
    for (const InputSpec& input : inputs_) copy.inputs.push_back(device.make_device_buffer(input.bytes));
    copy.uploaded = device.make_event();
    copy.read = device.make_event();
  }
}

// The destructor of `upload_` waits for copies. As the last member, it is destroyed first.
InputSlots::~InputSlots() = default;

std::span<std::byte> InputSlots::slot(std::int64_t input, int slot) const {
  return slots_.at(static_cast<std::size_t>(slot)).at(static_cast<std::size_t>(input))->bytes();
}

void InputSlots::bind(int slot, runtime::Stream& compute) {
  const auto& host = slots_.at(static_cast<std::size_t>(slot));
  wait_for_upload();
  compute.record(*copies_[current_].read);
  current_ = 1 - current_;
  Copy& copy = copies_[current_];
  upload_->wait_for(*copy.read);
  for (std::size_t i = 0; i < inputs_.size(); ++i) upload_->upload(*host[i], *copy.inputs[i]);
  upload_->record(*copy.uploaded);
  compute.wait_for(*copy.uploaded);
}

void InputSlots::wait_for_upload() const { copies_[current_].uploaded->wait(); }

const runtime::DeviceBuffer& InputSlots::bound(std::int64_t input) const {
  return *copies_[current_].inputs.at(static_cast<std::size_t>(input));
}

}  // namespace roentgen::engine::cuda
