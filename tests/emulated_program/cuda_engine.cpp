// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The engine "cuda" of the program under test, on an emulated device.
#include "engine/engine_list.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::engine {

std::unique_ptr<Engine> make_cuda_engine(int) { return std::make_unique<emulated::EmulatedEngine>(); }

}  // namespace roentgen::engine
