// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one check of CUDA runtime calls.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <string_view>

namespace roentgen::runtime::cuda {

/// Does nothing on cudaSuccess; else clears the error and throws DeviceError "[runtime.cuda] <what>: expected success,
/// got <CUDA's name and words>". Errors of earlier asynchronous work surface here, too.
void check(cudaError_t status, std::string_view what);

/// "no CUDA-capable device is detected (cudaErrorNoDevice)".
[[nodiscard]] std::string words_of(cudaError_t status);

/// Makes a device the calling thread's current one, where new memory, streams and kernel launches go.
void use_device(int index);

}  // namespace roentgen::runtime::cuda
