// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of a process's memory.
#pragma once

namespace roentgen {

/// True if resident memory consists only of the program's own memory. Sanitizers add shadow memory and keep freed
/// memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kIsMemoryOurs = true;
#else
inline constexpr bool kIsMemoryOurs = false;
#endif

/// Message of a test that is skipped because of a sanitizer.
inline constexpr const char* kMemoryIsNotOurs =
    "SKIPPED: a sanitizer's own memory is resident; the release build tests it";

}  // namespace roentgen
