// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Libraries of this machine that send GPU memory between ranks, and the settings of NCCL's network.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dist/mpi_library.h"

namespace roentgen::dist {

/// Returns whether an MPI library reports that it can send CUDA memory (Open MPI's MPIX_Query_cuda_support); nullopt if
/// it does not report it.
[[nodiscard]] std::optional<bool> is_cuda_aware(const MpiLibrary& library);
/// Version of UCX, such as "UCX 1.13.1", the library that most MPIs use on InfiniBand; empty if it is not installed.
[[nodiscard]] std::string ucx_version();

/// Converts a value of --gdr to NCCL_NET_GDR_LEVEL: "off" to LOC, "on" to SYS, "auto" to empty. NCCL's own levels LOC,
/// PIX, PXB, PHB and SYS are returned unchanged. Throws ConfigError, which lists all values, for any other word.
[[nodiscard]] std::string gdr_level(std::string_view word);
/// Sets the environment variable NCCL_NET_GDR_LEVEL to gdr_level(word); "auto" leaves it unset. It limits the distance
/// between GPU and network card for GPUDirect RDMA. Call it before NCCL starts, while the process has one thread.
void set_gdr(std::string_view word);

/// Converts Open MPI's setting btl_tcp_if_include to NCCL_SOCKET_IFNAME: "ib0,eth1" to "=ib0,eth1". Returns an empty
/// string if the setting contains more than names, such as the network 10.0.0.0/8, or if this machine has none of the
/// interfaces.
[[nodiscard]] std::string nccl_interfaces(std::string_view included);
/// Sets the environment variable NCCL_SOCKET_IFNAME to nccl_interfaces() of OMPI_MCA_btl_tcp_if_include, so that NCCL
/// uses the network of MPI. Does nothing if this variable is set, or if a configuration file of NCCL sets it. Call it
/// like set_gdr().
void follow_mpi_interfaces();
/// Lets NCCL write messages that NCCL_DEBUG requests to standard error, unless NCCL_DEBUG_FILE is set. For ranks that
/// discard standard output, where NCCL writes by default. Does nothing if standard error is a regular file, because
/// NCCL would truncate it. Call it like set_gdr().
void send_nccl_messages_to_stderr();

}  // namespace roentgen::dist
