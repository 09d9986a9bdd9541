// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces the CUDA engine in a build without the CUDA toolkit; chosen by CMake.
#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"

namespace roentgen::engine {
namespace {

[[noreturn]] void refuse() {
  throw DeviceError(error_text("engine.cuda", "device cuda", "a program built with CUDA", "a program built without it",
                               "--device cpu, or building Roentgen where nvcc is installed"));
}

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int) { refuse(); }

std::unique_ptr<Engine> make_cuda_planner(const std::string&) { refuse(); }

}  // namespace roentgen::engine
