// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A fake library that reports the version of an old cuDNN, for tests that the program refuses it.
#include <cstddef>

/// Version 8.9.7 in cuDNN's encoding.
extern "C" std::size_t cudnnGetVersion() { return 80'907; }
