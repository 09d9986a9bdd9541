// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Descriptor: owns one object of cuDNN's graph API. Internal to the sources that call cuDNN.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cuda/cudnn_library.h"

namespace roentgen::engine::cuda {

/// A cuDNN backend descriptor. Set its attributes, finalize it, then other descriptors may refer to it.
/// Not thread-safe.
class Descriptor {
 public:
  /// Throws DeviceError if cuDNN cannot create it.
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnn().create_descriptor(type, &descriptor_), "cuDNN descriptor");
  }
  ~Descriptor() {
    if (descriptor_ != nullptr) static_cast<void>(cudnn().destroy_descriptor(descriptor_));
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Sets an attribute to `values`; `type` is cuDNN's name of their type. Throws DeviceError.
  template <typename T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::span<const T> values) {
    check(cudnn().set_attribute(descriptor_, name, type, static_cast<std::int64_t>(values.size()), values.data()),
          "cuDNN attribute");
    return *this;
  }
  /// Sets an attribute to a single value.
  template <typename T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return set(name, type, std::span<const T>(&value, 1));
  }
  /// Sets an attribute to another descriptor, which must live until finalize() of this one.
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.descriptor_);
  }
  /// Finalizes the descriptor. Throws DeviceError as check() does.
  Descriptor& finalize(std::string_view what) {
    check(cudnn().finalize(descriptor_), what);
    return *this;
  }
  /// Finalizes the descriptor. Returns false if cuDNN does not support what it describes.
  [[nodiscard]] bool try_finalize() { return cudnn().finalize(descriptor_) == CUDNN_STATUS_SUCCESS; }

  /// Returns the values of an attribute, at most `most`. Throws DeviceError.
  template <typename T>
  [[nodiscard]] std::vector<T> get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                   std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    check(cudnn().get_attribute(descriptor_, name, type, most, &count, values.data()), "cuDNN attribute");
    values.resize(static_cast<std::size_t>(count < most ? count : most));
    return values;
  }
  /// Returns the single value of an attribute.
  template <typename T>
  [[nodiscard]] T get_one(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    return get<T>(name, type, 1).at(0);
  }
  /// Returns the descriptors that an attribute refers to, at most `most`, all of the given type.
  [[nodiscard]] std::vector<Descriptor> get_descriptors(cudnnBackendAttributeName_t name,
                                                        cudnnBackendDescriptorType_t type, std::int64_t most) const {
    std::vector<Descriptor> found;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < most; ++i) handles.push_back(found.emplace_back(type).handle());
    std::int64_t count = 0;
    check(cudnn().get_attribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, handles.data()),
          "cuDNN attribute");
    while (static_cast<std::int64_t>(found.size()) > count) found.pop_back();
    return found;
  }
  [[nodiscard]] cudnnBackendDescriptor_t handle() const { return descriptor_; }  ///< cuDNN's handle

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace roentgen::engine::cuda
