// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests when a run tests its links, and the messages about them. Ranks are threads; measurements are made up.
#include "train/link_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Notes final : public Observer {
 public:
  void on_links(const LinksRecord& record) override { tests.push_back(record); }
  std::vector<LinksRecord> tests;
};

// Links between all ranks with equal bandwidth, except that links of rank `slow` have a tenth of it.
std::vector<dist::Link> made_up(int ranks, int slow) {
  std::vector<dist::Link> links;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to) links.push_back({.from = from, .to = to, .gb_per_s = from == slow || to == slow ? 0.01 : 0.1});
    }
  }
  return links;
}

struct Watched {
  std::vector<std::string> hosts{"a", "b", "c"};
  /// Share of each update that a rank waits for others.
  double waits = 0.5;
  std::int64_t updates = 10;
  /// Slow rank of each measurement; further measurements repeat the last entry.
  std::vector<int> slow{2};
};

// Records of rank 1, and the text logged on standard error.
struct Told {
  std::vector<LinksRecord> tests;
  std::string log;
};

Told watch(const Watched& run) {
  const int ranks = static_cast<int>(run.hosts.size());
  dist::LocalGroup group(ranks, run.hosts);
  std::vector<Notes> notes(run.hosts.size());
  testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
        const Ranks all(&comm);
        std::size_t tests = 0;
        LinkWatch links(all, [&](dist::Communicator&, std::chrono::milliseconds limit) {
          EXPECT_EQ(limit, std::chrono::minutes(1)) << "the group's own";
          return made_up(ranks, run.slow[std::min(tests++, run.slow.size() - 1)]);
        });
        // Rank 0 does not wait, but the mean over all ranks decides.
        const double waited_s = rank == 0 ? 0.0 : run.waits;
        for (std::int64_t step = 1; step <= run.updates; ++step) {
          links.look({.step = step, .seconds = 1.0, .comm_exposed_seconds = waited_s},
                     {&notes[static_cast<std::size_t>(rank)]});
        }
        static_cast<void>(all.gather("", {.name = "end"}));
      });
    }
  }
  return {.tests = notes[1].tests, .log = testing::internal::GetCapturedStderr()};
}

TEST(LinkWatch, names_the_slow_link_of_a_run_that_waits) {
  const Told told = watch({});
  ASSERT_EQ(told.tests.size(), 1U);
  EXPECT_EQ(told.tests[0].step, 10);
  EXPECT_DOUBLE_EQ(told.tests[0].usual_mb_per_s, 100.0);
  EXPECT_EQ(told.tests[0].slow.size(), 4U);
  EXPECT_THAT(told.tests[0].names, ElementsAre("c"));
  EXPECT_THAT(told.log,
              HasSubstr("[train.links] rank 2 (c): expected network links as fast as those of other ranks, 100 MB/s, "
                        "got only slow links, 10 MB/s at best"));
}

TEST(LinkWatch, leaves_alone_who_does_not_wait) {
  EXPECT_TRUE(watch({.waits = 0.07}).tests.empty()) << "two of three ranks: a mean below 5%";
  EXPECT_EQ(watch({.waits = 0.08}).tests.size(), 1U);
}

TEST(LinkWatch, leaves_alone_who_has_one_host) {
  EXPECT_TRUE(watch({.hosts = {"a", "a", "a"}}).tests.empty());
  const Ranks alone(nullptr);
  LinkWatch links(alone, [](dist::Communicator&, std::chrono::milliseconds) -> std::vector<dist::Link> {
    throw CommError("asked");
  });
  for (std::int64_t step = 1; step <= 10; ++step) links.look({.step = step, .seconds = 1.0}, {});
}

TEST(LinkWatch, tests_again_and_warns_of_what_has_changed) {
  const Told told = watch({.updates = 399, .slow = {2, 2, 0, -1}});
  ASSERT_EQ(told.tests.size(), 4U);
  EXPECT_EQ(told.tests[1].step, 100);
  EXPECT_THAT(told.tests[2].names, ElementsAre("a"));
  EXPECT_TRUE(told.tests[3].names.empty());
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (std::size_t at = told.log.find(text); at != std::string::npos; at = told.log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("rank 2 (c)"), 3) << "once by each rank, of two tests";
  EXPECT_EQ(count("rank 0 (a)"), 3);
  EXPECT_EQ(count("equally fast again, 100 MB/s"), 3);
}

}  // namespace
}  // namespace roentgen::train
