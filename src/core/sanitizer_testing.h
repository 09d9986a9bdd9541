// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of a process's memory.
#pragma once

namespace roentgen {

/// Whether this build's resident memory is the program's alone: not with sanitizers, which keep shadows of it and what
/// was freed.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kIsMemoryOurs = true;
#else
inline constexpr bool kIsMemoryOurs = false;
#endif

/// Message of a test that is skipped because a sanitizer is active.
inline constexpr const char* kMemoryIsNotOurs =
    "SKIPPED: a sanitizer's own memory is resident; the release build tests it";

}  // namespace roentgen
