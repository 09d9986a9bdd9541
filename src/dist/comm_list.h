// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of communicators: X(name) declares `std::unique_ptr<Communicator> make_<name>_communicator()`, which
// dist/<name>.cpp (or dist/<name>_absent.cpp) defines.
#pragma once

#include <memory>

#define RG_COMM_LIST(X) \
  X(single)             \
  X(mpi)

namespace roentgen::dist {

class Communicator;

#define RG_COMM_FACTORY(name) [[nodiscard]] std::unique_ptr<Communicator> make_##name##_communicator();
RG_COMM_LIST(RG_COMM_FACTORY)
#undef RG_COMM_FACTORY

}  // namespace roentgen::dist
