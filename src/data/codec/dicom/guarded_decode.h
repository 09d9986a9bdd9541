// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs a decoder in a child process, because the decoder may abort its process. OpenJPEG 2.5.0 asserts inside damaged
// HTJ2K code blocks, and Debian builds the library with assertions enabled.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace roentgen::data {

/// Runs `decode` in a child process and copies the samples that it wrote into `samples`. Returns false if `decode`
/// returned false, a signal ended the child, or no process or memory is available. The child prints nothing and writes
/// no core file. Costs a fork(2) and one copy of the samples. Thread-safe.
[[nodiscard]] bool decode_in_child(std::span<std::int32_t> samples,
                                   const std::function<bool(std::span<std::int32_t>)>& decode);

}  // namespace roentgen::data
