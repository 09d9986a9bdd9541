// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// An NCCL library that has only a version, the number in the environment variable FAKE_NCCL_VERSION.
#include <cstdlib>

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int ncclGetVersion(int* version) {
  const char* const text = std::getenv("FAKE_NCCL_VERSION");
  *version = text == nullptr ? 0 : std::atoi(text);
  return 0;
}
