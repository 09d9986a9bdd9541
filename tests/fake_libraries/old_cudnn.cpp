// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A library that says it is an old cuDNN, for tests of its refusal.
#include <cstddef>

/// As cuDNN's: 8.9.7.
extern "C" std::size_t cudnnGetVersion() { return 80'907; }
