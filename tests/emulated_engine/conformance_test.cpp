// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the emulated CUDA engine with the reference in double precision, for every case of every op
// (engine/conformance).
#include <gtest/gtest.h>

#include "engine/conformance/suite_testing.h"
#include "engine/cuda/tolerances_testing.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::engine::conformance {
namespace {

RG_CONFORMANCE(
    EmulatedCuda, [] { return std::make_unique<emulated::EmulatedEngine>(); }, cuda::precisions());

}  // namespace
}  // namespace roentgen::engine::conformance
