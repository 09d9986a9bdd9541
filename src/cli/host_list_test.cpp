// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns the text of the ConfigError that `call` throws; empty if it throws none.
template <typename Call>
std::string refusal(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(NodeList, expands_ranges_lists_and_leading_zeros) {
  EXPECT_THAT(expand_node_list("n[1-3,7]"), ElementsAre("n1", "n2", "n3", "n7"));
  EXPECT_THAT(expand_node_list("n[08-11],login"), ElementsAre("n08", "n09", "n10", "n11", "login"));
  EXPECT_THAT(expand_node_list("r[1-2]n[0-1].x"), ElementsAre("r1n0.x", "r1n1.x", "r2n0.x", "r2n1.x"));
  EXPECT_THAT(expand_node_list("a-1"), ElementsAre("a-1"));
  EXPECT_EQ(expand_node_list("n[1-65536]").size(), 65536U);
}

TEST(NodeList, refuses_lists_that_are_cut_short_or_spoilt) {
  const std::string whole = "n[1-3,7],m[01-02]x";
  for (const char* bad :
       {"",        ",",      "n[",     "n[1",   "n[1-",     "n[1-]",    "n[]", "n[1,]", "n]",
        "n[[1]]",  "n[3-1]", "n[a-b]", "n[-1]", "n[1-2-3]", "n[1 - 2]", "a b", "a;b",   "-oProxyCommand=x",
        "n[1-2],", "n\n"}) {
    EXPECT_THAT(refusal([&] { return expand_node_list(bad); }), HasSubstr("[cli.hosts] SLURM_JOB_NODELIST")) << bad;
  }
  // Each truncated text must give host names or an error, but no crash
  for (std::size_t size = 0; size < whole.size(); ++size) {
    static_cast<void>(refusal([&] { return expand_node_list(whole.substr(0, size)); }));
  }
}

TEST(NodeList, makes_no_name_of_an_absurd_size) {
  for (const char* huge : {"n[1-999999999]", "n[0-65536]", "n[1-999]x[1-999]", "n[1-99999999999999999999]",
                           "n[1-60000],m[1-60000]", "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]g[0-9]"}) {
    EXPECT_NE(refusal([&] { return expand_node_list(huge); }), "") << huge;
  }
}

TEST(NodeList, never_fails_otherwise_on_spoilt_bytes) {
  constexpr unsigned kSeed = 20261127;
  std::mt19937 random(kSeed);
  constexpr std::string_view kBytes = "n[]-,0123456789(x)ab.\n# :";
  for (int i = 0; i < 20000; ++i) {
    std::string text = "n[1-3,7],m";
    for (int change = 0; change < 3; ++change) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", " + text);
    for (const std::string& name : [&] {
           try {
             return expand_node_list(text);
           } catch (const ConfigError&) {
             return std::vector<std::string>{};
           }
         }()) {
      ASSERT_EQ(name.find_first_of("[], \n#"), std::string::npos) << name;
    }
    static_cast<void>(refusal([&] { return expand_tasks_per_node(text); }));
    static_cast<void>(refusal([&] { return parse_host_lines(text, "file"); }));
  }
}

TEST(TasksPerNode, repeats_numbers) {
  EXPECT_THAT(expand_tasks_per_node("2(x3),1"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_tasks_per_node("16"), ElementsAre(16));
  for (const char* bad :
       {"", "2(x3", "2(x)", "(x3)", "0", "2(x0)", "-1", "2(x99999999)", "2(y3)", "1,", "2x3", "70000"}) {
    EXPECT_THAT(refusal([&] { return expand_tasks_per_node(bad); }), HasSubstr("SLURM_TASKS_PER_NODE")) << bad;
  }
}

TEST(HostLines, count_slots_and_skip_comments) {
  const HostList hosts = parse_host_lines("# our cluster\n\n  a:2 # first\r\nb\nc.example.org:16\nb\n", "hosts.txt");
  EXPECT_EQ(text_of(hosts), "a:2,b:2,c.example.org:16");
  EXPECT_EQ(slots_of(hosts), 20);
  EXPECT_EQ(text_of(parse_host_lines("a slots=2\nb \t slots=16  # first rack\na\n", "hosts.txt")), "a:3,b:16");
}

TEST(HostLines, name_the_line_that_is_wrong) {
  const auto refused = [](std::string_view text) {
    return refusal([&] { return parse_host_lines(text, "hosts.txt"); });
  };
  EXPECT_THAT(refused("a:2\nb:x\n"),
              HasSubstr("hosts.txt, line 2: expected host, host:slots or host slots=N, got b:x"));
  for (const char* bad : {"a:0", "a:", ":2", "a:2:3", "a b", "a slots=", "a slots=0", "a slots=2 max_slots=4",
                          "a:2 slots=2", "-x:1", "a:-1", "a:99999"}) {
    EXPECT_THAT(refused(bad), HasSubstr("hosts.txt, line 1")) << bad;
  }
  EXPECT_THAT(refused("a:60000\nb:60000\n"), HasSubstr("line 2: expected at most 65536"));
  EXPECT_THAT(refused(""), HasSubstr("got no hosts"));
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("got no hosts"));
}

TEST(HostsFrom, reads_jobs_and_files) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "nodes";
  std::ofstream(file) << "n1\nn1\nn2\nn2\n";
  EXPECT_EQ(text_of(hosts_from(file, {})), "n1:2,n2:2");
  EXPECT_EQ(text_of(hosts_from("pbs", {"PBS_NODEFILE=" + file})), "n1:2,n2:2");
  EXPECT_EQ(text_of(hosts_from("slurm", {"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x2),1"})),
            "n1:2,n2:2,n3:1");
  const auto refused = [](const std::string& source, const std::vector<std::string>& environment) {
    return refusal([&] { return hosts_from(source, environment); });
  };
  const std::vector<std::string> component{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2", "SLURM_HET_SIZE=1"};
  EXPECT_EQ(text_of(hosts_from("slurm", component)), "n1:2");
  EXPECT_THAT(refused("slurm", {"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2", "SLURM_HET_SIZE=2"}),
              HasSubstr("SLURM_HET_SIZE: expected a job of one component with --hosts-from slurm, got a heterogeneous "
                        "job of 2 components"));
  EXPECT_THAT(refused("slurm", {}), HasSubstr("--hosts-from slurm: expected SLURM_JOB_NODELIST to be set"));
  EXPECT_THAT(refused("slurm", {"SLURM_JOB_NODELIST=n1"}), HasSubstr("SLURM_TASKS_PER_NODE"));
  EXPECT_THAT(refused("slurm", {"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x2)"}),
              HasSubstr("a number for each of 3 hosts"));
  EXPECT_THAT(refused("slurm", {"SLURM_JOB_NODELIST=n[1-65536]", "SLURM_TASKS_PER_NODE=2(x65536)"}),
              HasSubstr("at most 65536"));
  EXPECT_THAT(refused("pbs", {"PBS_NODEFILE="}), HasSubstr("PBS_NODEFILE"));
  EXPECT_THAT(refused("pbs", {"PBS_NODEFILE=/nowhere/nodes"}), HasSubstr("/nowhere/nodes"));
  EXPECT_THAT(refused(folder.path(), {}), HasSubstr(folder.path().string()));
}

TEST(FirstSlots, keep_the_first_and_refuse_more_than_there_are) {
  const HostList hosts{{"a", 2}, {"b", 2}, {"c", 1}};
  EXPECT_EQ(text_of(first_slots(hosts, 0)), "a:2,b:2,c:1");
  EXPECT_EQ(text_of(first_slots(hosts, 3)), "a:2,b:1");
  EXPECT_THAT(refusal([&] { return first_slots(hosts, 6); }), HasSubstr("--ranks: expected at most 5"));
  EXPECT_EQ(parse_hosts("a:2,b"), (HostList{{"a", 2}, {"b", 1}}));
}

}  // namespace
}  // namespace roentgen::cli
