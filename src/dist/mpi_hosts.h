// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hosts of the ranks of an MPI job. Only for dist/mpi.cpp.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dist/mpi_session.h"

namespace roentgen::dist {

/// Host name of every rank, and the position of this rank among the ranks of its host.
struct MpiHosts {
  std::vector<std::string> names;
  int local_rank = 0;
  int local_size = 1;
};

/// Gathers the host names of all ranks of `group`. Blocking collective. Throws CommError like Session::check().
template <typename Abi>
[[nodiscard]] MpiHosts find_hosts(const MpiFunctions<Abi>& mpi, const Session<Abi>& session,
                                  typename Abi::Handle group) {
  MpiHosts hosts;
  int rank = 0;
  int size = 1;
  mpi.Comm_rank(group, &rank);
  mpi.Comm_size(group, &size);
  std::array<char, kMpiHostBytes> own{};
  int length = 0;
  session.check(mpi.Get_processor_name(own.data(), &length), "start-up");
  std::vector<char> all(own.size() * static_cast<std::size_t>(size));
  session.check(mpi.Allgather(own.data(), kMpiHostBytes, mpi.byte, all.data(), kMpiHostBytes, mpi.byte, group),
                "start-up");
  for (int other = 0; other < size; ++other) {
    hosts.names.emplace_back(all.data() + static_cast<std::size_t>(other) * own.size());
  }
  typename Abi::Handle node{};
  session.check(mpi.Comm_split_type(group, Abi::kCommTypeShared, rank, mpi.no_info, &node), "start-up");
  mpi.Comm_rank(node, &hosts.local_rank);
  mpi.Comm_size(node, &hosts.local_size);
  mpi.Comm_free(&node);
  return hosts;
}

}  // namespace roentgen::dist
