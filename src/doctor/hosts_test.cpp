// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "dist/local_group_testing.h"
#include "doctor/inventory.h"
#include "doctor/probe_testing.h"

namespace roentgen::doctor {
namespace {

using testing::ElementsAre;

HostReport report(const std::string& host, const PlantedProbe& probe) {
  return {.host = host, .machine = to_value(take_inventory(probe)), .findings = Value::array()};
}

TEST(Hosts, that_are_alike_have_no_differences) {
  PlantedProbe warm = healthy_machine();
  std::string& text = warm.outputs[Program::NvidiaSmi];
  text.replace(text.find("345"), 3, "999");  // clocks change by themselves
  warm.file_systems["/tmp"].free_bytes -= 4096;
  const std::vector<HostReport> reports{report("a", healthy_machine()), report("b", warm)};
  for (const Difference& difference : differences(reports)) ADD_FAILURE() << difference.text();
}

TEST(Hosts, that_differ_are_named_with_their_values) {
  PlantedProbe other = healthy_machine();
  other.versions[Library::Mpi] = "Open MPI v4.0.5";
  other.outputs[Program::NvidiaSmi] =
      other.outputs[Program::NvidiaSmi].substr(0, other.outputs[Program::NvidiaSmi].find('\n'));
  const std::vector<HostReport> reports{report("a", other), report("b", healthy_machine()),
                                        report("c", healthy_machine())};
  const auto found = differences(reports);
  std::vector<std::string> texts;
  for (const Difference& difference : found) texts.push_back(difference.text());
  EXPECT_THAT(texts, testing::Contains("libraries.MPI: Open MPI v4.1.4 on b, c; Open MPI v4.0.5 on a"));
  EXPECT_THAT(texts, testing::Contains("gpus.count: 2 on b, c; 1 on a"));
  const Value value = to_value(found);
  ASSERT_EQ(value.as_array().size(), found.size());
  EXPECT_EQ(value.as_array()[0].at("values").as_array()[0].at("hosts").as_array()[0].as_string(), "b");
}

TEST(Hosts, send_texts_of_different_lengths) {
  constexpr int kRanks = 3;
  dist::LocalGroup group(kRanks);
  std::vector<std::vector<std::string>> gathered(kRanks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto own = group.member(rank);
      gathered[static_cast<std::size_t>(rank)] =
          gather_texts(*own, std::string(static_cast<std::size_t>(rank) * 5, static_cast<char>('a' + rank)));
    });
  }
  threads.clear();
  for (const auto& texts : gathered) EXPECT_THAT(texts, ElementsAre("", "bbbbb", "cccccccccc"));
}

}  // namespace
}  // namespace roentgen::doctor
