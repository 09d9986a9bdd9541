// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CudnnTarget: the GPU for which cuDNN plans, either this machine's or a described one. Internal to the sources that
// call cuDNN.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/cuda/cudnn_descriptor.h"

namespace roentgen::engine::cuda {

/// A GPU of this machine, by its cuDNN handle, or a described card, by its properties. Not thread-safe.
class CudnnTarget {
 public:
  /// Selects the calling thread's current CUDA device.
  CudnnTarget() : handle_(std::in_place) {}
  /// Selects a described card, which this machine need not have. Throws DeviceError if cuDNN rejects the properties.
  /// @param properties JSON text, Card::properties
  explicit CudnnTarget(const std::string& properties)
      : properties_(std::in_place, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    properties_
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
              std::span<const char>(properties.data(), properties.size()))
        .finalize("cuDNN device properties");
  }

  /// cuDNN handle of this machine's card; null for a described card, whose plans cannot run.
  [[nodiscard]] cudnnHandle_t handle() const { return handle_ ? handle_->get() : nullptr; }
  /// Sets the handle attribute of a descriptor; does nothing for a described card.
  void set_handle(Descriptor& descriptor, cudnnBackendAttributeName_t name) const {
    if (handle_) descriptor.set(name, CUDNN_TYPE_HANDLE, handle_->get());
  }
  /// Sets the device properties of a descriptor for a described card; does nothing for this machine's card.
  void set_properties(Descriptor& descriptor, cudnnBackendAttributeName_t name) const {
    if (properties_) descriptor.set(name, *properties_);
  }

 private:
  std::optional<CudnnHandle> handle_;
  std::optional<Descriptor> properties_;
};

}  // namespace roentgen::engine::cuda
