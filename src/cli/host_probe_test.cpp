// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/host_probe.h"

#include <gtest/gtest.h>

#include <set>

#include "dist/launch_board.h"

namespace roentgen::cli {
namespace {

// Returns a command that replaces mpirun: it fails for a host named "lost", and never ends for a host named "mute".
std::vector<std::string> stand_in(const HostSlots& host) {
  if (host.name == "mute") return {"sh", "-c", "trap '' TERM; while :; do read x < /dev/zero; done"};
  return {host.name == "lost" ? "false" : "true"};
}

TEST(HostProbe, leaves_out_hosts_that_fail_or_never_answer) {
  const HostList hosts{{"a", 2}, {"lost", 1}, {"mute", 1}, {"b", 3}};
  EXPECT_EQ(find_answering(hosts, stand_in, std::chrono::milliseconds(500)), (HostList{{"a", 2}, {"b", 3}}));
}

TEST(HostProbe, asks_many_hosts_and_not_this_one) {
  HostList hosts;
  for (int i = 0; i < 70; ++i) hosts.push_back({.name = "n" + std::to_string(i), .slots = 1});
  hosts.push_back({.name = dist::own_host(), .slots = 1});
  std::set<std::string> asked;
  const auto command = [&](const HostSlots& host) {
    asked.insert(host.name);
    return stand_in(host);
  };
  EXPECT_EQ(find_answering(hosts, command, std::chrono::seconds(60)), hosts);
  EXPECT_EQ(asked.size(), 70U);
  EXPECT_FALSE(asked.contains(dist::own_host()));
}

}  // namespace
}  // namespace roentgen::cli
