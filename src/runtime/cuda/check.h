// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the status of CUDA runtime calls.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <string_view>

namespace roentgen::runtime::cuda {

/// Throws DeviceError "[runtime.cuda] <what>: expected a CUDA call without error, got <CUDA's text>" unless status is
/// cudaSuccess, and clears CUDA's pending error. The error may come from earlier asynchronous work.
void check(cudaError_t status, std::string_view what);

/// Text of a status: "no CUDA-capable device is detected (cudaErrorNoDevice)".
[[nodiscard]] std::string words_of(cudaError_t status);

/// Makes a device the current device of the calling thread. New memory, streams and kernel launches use it.
void use_device(int index);

}  // namespace roentgen::runtime::cuda
