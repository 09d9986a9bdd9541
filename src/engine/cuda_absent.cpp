// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chosen by CMake where there is no CUDA toolkit.
#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"

namespace roentgen::engine {

std::unique_ptr<Engine> make_cuda_engine(int) {
  throw DeviceError(error_text("engine.cuda", "device cuda", "a build with the CUDA toolkit", "one without",
                               "--device cpu, or a build where nvcc is found"));
}

}  // namespace roentgen::engine
