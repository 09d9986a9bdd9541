// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What this machine has to move memory of GPUs between ranks, and the switch of GPUDirect RDMA.
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

/// Value of NCCL_NET_GDR_LEVEL for --gdr: LOC for "off", SYS for "on", a level of NCCL as it is (LOC, PIX, PXB, PHB,
/// SYS); empty for "auto". ConfigError naming these for another word.
[[nodiscard]] std::string gdr_level(std::string_view word);
/// Tells NCCL, before it starts, how far apart GPU and network card may be for GPUDirect RDMA: sets NCCL_NET_GDR_LEVEL
/// to gdr_level(), or leaves it for "auto". Call it while the process has one thread.
void set_gdr(std::string_view word);

}  // namespace roentgen::dist
