// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/chrome_trace.h"

#include <gtest/gtest.h>

#include "core/folder_testing.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::io {
namespace {

Value written(const std::vector<TraceName>& names, const std::vector<TraceEvent>& events) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  write_chrome_trace(path, names, events, Value::Table{{"program", "roentgen"}});
  return parse_json(read_text(path).or_throw(), "trace").or_throw();
}

TEST(ChromeTrace, has_complete_events_in_microseconds) {
  const Value trace = written({{.process = 3, .name = "rank 3 \"of\" 4"}, {.process = 3, .thread = 1, .name = "wire"}},
                              {{.name = "back\\ward",
                                .category = "compute",
                                .process = 3,
                                .thread = 1,
                                .begin_ns = 1'234'567,
                                .end_ns = 1'234'567 + 2'000'005,
                                .arguments = Value::Table{{"bytes", 4096}}}});
  EXPECT_EQ(trace.at("otherData").at("program").as_string(), "roentgen");
  const Value::Array& events = trace.at("traceEvents").as_array();
  ASSERT_EQ(events.size(), 5U);  // includes two names, each on its own track
  EXPECT_EQ(events[0].at("name").as_string(), "process_name");
  EXPECT_EQ(events[0].at("args").at("name").as_string(), "rank 3 \"of\" 4");
  EXPECT_EQ(events[2].at("name").as_string(), "thread_name");
  EXPECT_EQ(events[2].at("tid").as_integer(), 1);
  const Value& event = events[4];
  EXPECT_EQ(event.at("ph").as_string(), "X");
  EXPECT_EQ(event.at("name").as_string(), "back\\ward");
  EXPECT_EQ(event.at("cat").as_string(), "compute");
  EXPECT_EQ(event.at("pid").as_integer(), 3);
  EXPECT_EQ(event.at("tid").as_integer(), 1);
  EXPECT_DOUBLE_EQ(event.at("ts").as_double(), 1234.567);
  EXPECT_DOUBLE_EQ(event.at("dur").as_double(), 2000.005);
  EXPECT_EQ(event.at("args").at("bytes").as_integer(), 4096);
}

TEST(ChromeTrace, without_events_is_still_a_trace) {
  EXPECT_TRUE(written({}, {}).at("traceEvents").as_array().empty());
}

}  // namespace
}  // namespace roentgen::io
