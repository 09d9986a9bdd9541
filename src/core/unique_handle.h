// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// UniqueHandle: the one owner of a C library's handle.
#pragma once

#include <memory>

namespace roentgen {

/// Deleter that calls the C function `Destroy`. It ignores the function's result, since destructors cannot fail.
template <auto Destroy>
struct HandleDeleter {
  template <typename T>
  /// Frees the handle.
  void operator()(T* handle) const noexcept {
    static_cast<void>(Destroy(handle));
  }
};

/// Move-only owner of a `T*` that `Destroy(T*)` frees: `UniqueHandle<spng_ctx, spng_ctx_free>`.
template <typename T, auto Destroy>
using UniqueHandle = std::unique_ptr<T, HandleDeleter<Destroy>>;

}  // namespace roentgen
