// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/timeline.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace roentgen {
namespace {

TEST(Timeline, scopes_become_spans_that_nest) {
  Timeline timeline;
  {
    const TimedScope outer(&timeline, "outer", 7);
    const TimedScope inner(&timeline, "inner");
  }
  const std::vector<Span> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_STREQ(spans[0].name, "inner");
  EXPECT_EQ(spans[0].index, -1);
  EXPECT_EQ(spans[1].index, 7);
  EXPECT_LE(spans[1].begin_ns, spans[0].begin_ns);
  EXPECT_LE(spans[0].begin_ns, spans[0].end_ns);
  EXPECT_LE(spans[0].end_ns, spans[1].end_ns);
  EXPECT_FALSE(spans[0].is_collective());
}

TEST(Timeline, what_begins_while_it_does_not_record_is_left_out) {
  Timeline timeline;
  const TimedScope nobody(nullptr, "nothing");
  timeline.record(false);
  {
    const TimedScope left_out(&timeline, "left out");
    timeline.record(true);
    const TimedScope kept(&timeline, "kept");
    timeline.record(false);
  }
  ASSERT_EQ(timeline.spans().size(), 1U);
  EXPECT_STREQ(timeline.spans()[0].name, "kept");
}

TEST(Timeline, spans_beyond_the_most_are_counted_whoever_adds_them) {
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  Timeline timeline(250);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) timeline.add({.name = "span", .index = i});
      });
    }
  }
  EXPECT_EQ(timeline.spans().size(), 250U);
  EXPECT_EQ(timeline.dropped(), kThreads * kEach - 250);
}

}  // namespace
}  // namespace roentgen
