// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// An MPI library that reports that it can send CUDA memory.

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int MPIX_Query_cuda_support() { return 1; }
