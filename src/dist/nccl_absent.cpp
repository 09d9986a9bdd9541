// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces dist/nccl.cpp in builds without CUDA or without NCCL's header.
#include "core/error.h"
#include "dist/nccl_calls.h"

namespace roentgen::dist {

std::unique_ptr<NcclCalls> make_nccl_calls() {
  throw CommError(
      error_text("dist.nccl", "NCCL", "a build with CUDA and nccl.h", "a build without them", "--reduce auto"));
}

std::string least_nccl_version() { return {}; }

}  // namespace roentgen::dist
