// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Libraries of this machine that move memory of GPUs between ranks, and the switch of GPUDirect RDMA.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dist/mpi_library.h"

namespace roentgen::dist {

/// Whether an MPI library says that it sends memory of CUDA devices itself (MPIX_Query_cuda_support, Open MPI's);
/// nullopt: it says nothing.
[[nodiscard]] std::optional<bool> is_cuda_aware(const MpiLibrary& library);
/// "UCX 1.13.1", the library below most MPIs on InfiniBand; empty: this machine has none.
[[nodiscard]] std::string ucx_version();

/// Value of NCCL_NET_GDR_LEVEL for --gdr: LOC for "off", SYS for "on", empty for "auto". NCCL's own levels stay as they
/// are: LOC, PIX, PXB, PHB, SYS. ConfigError naming all of these for another word.
[[nodiscard]] std::string gdr_level(std::string_view word);
/// Sets NCCL_NET_GDR_LEVEL to gdr_level(), or leaves it for "auto". It is the largest distance of GPU and network card
/// for GPUDirect RDMA. Call it before NCCL starts, while the process has one thread.
void set_gdr(std::string_view word);

}  // namespace roentgen::dist
