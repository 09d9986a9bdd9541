// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A child process for a decoder that may end the process that calls it. OpenJPEG 2.5.0 asserts inside damaged HTJ2K
// code blocks, and Debian's library has its assertions on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace roentgen::data {

/// Runs `decode` in a child process and copies the samples that it wrote into `samples`. Returns false if it returned
/// false, if a signal ended the child, or if there is no process or memory for it. The child prints nothing and leaves
/// no core file. Costs a fork(2) and one copy of the samples. Thread-safe.
[[nodiscard]] bool decode_in_child(std::span<std::int32_t> samples,
                                   const std::function<bool(std::span<std::int32_t>)>& decode);

}  // namespace roentgen::data
