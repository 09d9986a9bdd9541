// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CUDA engine, emulated, against the double reference, over every case of every op (engine/conformance).
#include <gtest/gtest.h>

#include "engine/conformance/suite_testing.h"
#include "engine/cuda/tolerances_testing.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::engine::conformance {
namespace {

RG_CONFORMANCE(EmulatedCuda, [] { return std::make_unique<emulated::EmulatedEngine>(); },
               {kF32, Precision{.dtype = DType::Bf16, .bound_scale = &cuda::narrow_scale, .gradient_floor = 0.05},
                Precision{.dtype = DType::F16, .bound_scale = &cuda::half_scale, .gradient_floor = 0.05}});

}  // namespace
}  // namespace roentgen::engine::conformance
