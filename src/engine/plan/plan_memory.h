// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of a plan on one device: activations, arenas of parameters, and memory that is kept between steps.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/engine.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/kernel.h"
#include "runtime/stream.h"

namespace roentgen::engine {

/// Memory that plan entries use. Inputs have no address before set_input(). Not thread-safe.
class PlanMemory {
 public:
  /// Device and stream must outlive this object. Throws DeviceError if the device has too little memory.
  /// Form::Inference allocates no gradients.
  PlanMemory(const Plan& plan, const Arenas& arenas, Form form, runtime::Device& device, runtime::Stream& stream);

  [[nodiscard]] const Addresses& addresses() const { return addresses_; }
  /// Sets the address of an input tensor, in memory of the device.
  void set_input(TensorId input, std::byte* address) { addresses_.set(input, address); }

  /// Memory of tensors with Storage::Kept, which keep their values between steps.
  [[nodiscard]] runtime::DeviceBuffer& kept() const { return *kept_; }
  [[nodiscard]] Arena& parameters() const { return *parameters_; }
  [[nodiscard]] Arena& gradients() const { return *gradients_; }
  [[nodiscard]] Arena& state() const { return *state_; }
  /// Allocates an arena with the layout of this kind of parameters.
  [[nodiscard]] std::unique_ptr<Arena> make_arena(ArenaKind kind) const;

 private:
  [[nodiscard]] std::byte* base_of(Storage storage) const;

  runtime::Device& device_;
  runtime::Stream& stream_;
  std::unique_ptr<runtime::DeviceBuffer> activations_;
  std::unique_ptr<Arena> parameters_;
  std::unique_ptr<Arena> gradients_;
  std::unique_ptr<Arena> state_;
  std::unique_ptr<runtime::DeviceBuffer> kept_;
  Addresses addresses_;
};

}  // namespace roentgen::engine
