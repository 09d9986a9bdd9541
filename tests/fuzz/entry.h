// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Entry point for libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>

/// Runs one input on the target that the environment variable ROENTGEN_FUZZ names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
