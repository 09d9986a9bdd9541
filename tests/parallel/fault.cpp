// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One process of a group in which the last one fails, for tests: fault absent|dies|refuses. Exit status 3: this
// process gave up with a CommError, which it prints.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "dist/communicator.h"

namespace {

using namespace roentgen;

void meet(dist::Communicator& group, std::int64_t bucket) {
  std::vector<float> gradients(1000, 1.0F);
  group.all_reduce_mean(gradients, {"gradient bucket", bucket}).wait(std::chrono::milliseconds(500));
}

int run(std::string_view fault) {
  const auto group = dist::make_communicator("mpi");
  meet(*group, 0);
  const bool is_faulty = group->rank() == group->size() - 1;
  if (is_faulty && fault == "absent") ::pause();
  if (is_faulty && fault == "dies") ::raise(SIGKILL);
  if (is_faulty && fault == "refuses") throw DataError("[data.read] a file: expected an image, got none");
  meet(*group, 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const CommError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
