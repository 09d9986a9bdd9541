// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// cuDNN's graph API, loaded at run time, so that a program built with CUDA also starts on machines without cuDNN.
#pragma once

#include <cudnn.h>

#include <string>
#include <string_view>

namespace roentgen::engine::cuda {

/// Functions of the loaded cuDNN library. Thread-safe.
struct CudnnLibrary {
  decltype(&::cudnnGetVersion) get_version = nullptr;                       ///< cudnnGetVersion
  decltype(&::cudnnGetErrorString) get_error_string = nullptr;              ///< cudnnGetErrorString
  decltype(&::cudnnGetLastErrorString) get_last_error_string = nullptr;     ///< cudnnGetLastErrorString
  decltype(&::cudnnCreate) create = nullptr;                                ///< cudnnCreate
  decltype(&::cudnnDestroy) destroy = nullptr;                              ///< cudnnDestroy
  decltype(&::cudnnSetStream) set_stream = nullptr;                         ///< cudnnSetStream
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor = nullptr;    ///< cudnnBackendCreateDescriptor
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;  ///< cudnnBackendDestroyDescriptor
  decltype(&::cudnnBackendFinalize) finalize = nullptr;                     ///< cudnnBackendFinalize
  decltype(&::cudnnBackendSetAttribute) set_attribute = nullptr;            ///< cudnnBackendSetAttribute
  decltype(&::cudnnBackendGetAttribute) get_attribute = nullptr;            ///< cudnnBackendGetAttribute
  decltype(&::cudnnBackendExecute) execute = nullptr;                       ///< cudnnBackendExecute
};

/// Version of the cuDNN headers at compile time, such as "9.19.0".
[[nodiscard]] std::string compiled_cudnn_version();

/// The cuDNN library of this process: the file $ROENTGEN_CUDNN, or libcudnn.so.9 on the loader's path. The first call
/// loads it. Throws DeviceError if it is absent or older than the headers; a later call tries again. Thread-safe.
[[nodiscard]] const CudnnLibrary& cudnn();

/// Text with the versions of cudnn() and of the headers, such as "cuDNN 9.20.0 (needs 9.19.0)". Throws as cudnn().
[[nodiscard]] std::string cudnn_text();

/// Throws DeviceError "[engine.cuda] <what>: expected a cuDNN call without error, got <cuDNN's text>; ..." unless
/// `status` is success.
void check(cudnnStatus_t status, std::string_view what);

/// Owner of a cuDNN handle. Not thread-safe.
class CudnnHandle {
 public:
  /// Creates a handle for the calling thread's current device.
  CudnnHandle();
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  [[nodiscard]] cudnnHandle_t get() const { return handle_; }  ///< never null

 private:
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace roentgen::engine::cuda
