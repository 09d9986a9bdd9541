// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shares arrays between C++ and Python by DLPack, without a copy.
#pragma once

#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace roentgen::python {

/// A row-major numpy array.
using NumpyArray = nanobind::ndarray<nanobind::numpy>;

/// Array on memory that belongs to `owner`; the array keeps `owner` alive. Row-major. Needs the GIL.
template <typename Framework = nanobind::numpy, typename Owner>
[[nodiscard]] nanobind::ndarray<Framework> share_array(void* values, nanobind::dlpack::dtype dtype,
                                                       std::initializer_list<std::size_t> shape,
                                                       std::shared_ptr<Owner> owner) {
  auto* held = new std::shared_ptr<Owner>(std::move(owner));
  const nanobind::capsule capsule(held,
                                  [](void* pointer) noexcept { delete static_cast<std::shared_ptr<Owner>*>(pointer); });
  return {values, shape, capsule, {}, dtype};
}

/// Array of the given shape that owns `values`. Needs the GIL.
template <typename T>
[[nodiscard]] NumpyArray own_array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  void* data = owner->data();
  return share_array(data, nanobind::dtype<T>(), shape, std::move(owner));
}

}  // namespace roentgen::python
