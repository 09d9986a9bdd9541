// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests traces: one time axis for several clocks, and the trace files of runs with one or several ranks.
#include "train/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/folder_testing.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "io/file.h"
#include "io/json.h"
#include "train/run_lock.h"
#include "train/trace_parts.h"
#include "train/trainer_testing.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TracedRanks, are_spread_evenly_with_the_first_among_them) {
  EXPECT_THAT(traced_ranks(3, 16), ElementsAre(0, 1, 2));
  EXPECT_THAT(traced_ranks(8, 4), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(traced_ranks(10, 3), ElementsAre(0, 3, 6));
  EXPECT_THAT(traced_ranks(65536, 1), ElementsAre(0));
}

TEST(TracedUpdates, are_the_first_and_then_some) {
  const TraceOptions options{.first = 2, .every = 5};
  std::vector<std::int64_t> traced;
  for (std::int64_t update = 0; update < 15; ++update) {
    if (is_traced(update, options)) traced.push_back(update);
  }
  EXPECT_THAT(traced, ElementsAre(0, 1, 4, 9, 14));
}

TEST(RankTrace, goes_evenly_between_readings_that_differ_and_else_by_the_better_one) {
  RankTrace drifts{.begin = {.at_ns = 1000, .offset = {.offset_ns = 100, .error_ns = 1}},
                   .end = {.at_ns = 2000, .offset = {.offset_ns = 120, .error_ns = 1}}};
  EXPECT_EQ(drifts.to_first(1000), 900);
  EXPECT_EQ(drifts.to_first(1500), 1390);
  EXPECT_EQ(drifts.to_first(2000), 1880);
  drifts.begin.offset.error_ns = 30;
  EXPECT_EQ(drifts.to_first(1000), 880) << "within the errors: no drift, and the end was measured better";
}

TEST(RankTrace, survives_its_way_as_bytes) {
  RankTrace own{.dropped = 3};
  own.spans = {
      {.name = "wait for bucket", .index = 4, .begin_ns = 10, .end_ns = 30},
      {.name = "gradient bucket", .index = 4, .begin_ns = 5, .end_ns = 25, .started_ns = 7, .ticket = 9, .bytes = 64}};
  const RankTrace other = rank_trace_from(to_bytes(own));
  EXPECT_EQ(other.dropped, 3);
  EXPECT_THAT(other.names, ElementsAre("wait for bucket", "gradient bucket"));
  EXPECT_EQ(other.spans[1].started_ns, 7);
  EXPECT_EQ(other.spans[1].bytes, 64);
  EXPECT_FALSE(other.spans[0].is_collective());
  EXPECT_THROW(static_cast<void>(rank_trace_from("7 0\n1 2 3")), CommError);
}

// Begin and end of each part of a process, by name.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> times_of(const TraceParts& parts, int process) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times;
  for (const io::TraceEvent& event : parts.events) {
    if (event.process == process) times[event.name] = {event.begin_ns, event.end_ns};
  }
  return times;
}

TEST(MergedTraces, divide_a_collective_where_the_last_rank_came_to_it) {
  const auto rank = [](int number, std::int64_t ahead_ns, std::int64_t started_ns) {
    RankTrace trace{.rank = number, .host = "node"};
    trace.begin.offset.offset_ns = trace.end.offset.offset_ns = ahead_ns;
    trace.spans = {{.index = 2,
                    .begin_ns = ahead_ns + started_ns - 10,
                    .end_ns = ahead_ns + 900,
                    .started_ns = ahead_ns + started_ns,
                    .ticket = 0,
                    .bytes = 4096}};
    trace.names = {"gradient bucket"};
    return trace;
  };
  const TraceParts parts = merge_traces({rank(0, 0, 100), rank(5, 1'000'000'000'000, 700)});
  const auto early = times_of(parts, 0);
  EXPECT_EQ(early.at("gradient bucket 2"), std::pair(0L, 810L)) << "the axis begins with the first span";
  EXPECT_EQ(early.at("QUEUE"), std::pair(0L, 10L));
  EXPECT_EQ(early.at("WAIT_FOR_OTHER_TENSOR_DATA"), std::pair(10L, 610L));
  EXPECT_EQ(early.at("MPI_ALLREDUCE"), std::pair(610L, 810L));
  const auto late = times_of(parts, 5);
  EXPECT_EQ(late.at("WAIT_FOR_OTHER_TENSOR_DATA"), std::pair(610L, 610L)) << "it was the last, by rank 0's clock";
  EXPECT_EQ(late.at("MPI_ALLREDUCE"), std::pair(610L, 810L));
}

TEST(MergedTraces, put_collectives_that_overlap_on_threads_of_their_own) {
  RankTrace trace;
  const auto add = [&](std::int64_t ticket, std::int64_t begin_ns, std::int64_t end_ns) {
    trace.spans.push_back(
        {.index = ticket, .begin_ns = begin_ns, .end_ns = end_ns, .started_ns = begin_ns, .ticket = ticket});
    trace.names.emplace_back("gradient bucket");
  };
  add(1, 20, 60);  // not sorted by begin
  add(0, 0, 50);
  add(2, 50, 70);
  std::map<std::string, int> threads;
  for (const io::TraceEvent& event : merge_traces({trace}).events) threads[event.name] = event.thread;
  EXPECT_EQ(threads.at("gradient bucket 0"), 1);
  EXPECT_EQ(threads.at("gradient bucket 1"), 2);
  EXPECT_EQ(threads.at("gradient bucket 2"), 1);
}

/// One event of a trace file.
struct Event {
  std::string name;
  double begin_us = 0.0;
  double end_us = 0.0;
};

/// Events of a trace file by (process, thread), sorted by begin; if begins are equal, the longer event comes first.
using Threads = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Event>>;

Threads read_trace(const std::filesystem::path& path) {
  const Value trace = io::parse_json(io::read_text(path).or_throw(), "trace").or_throw();
  Threads threads;
  for (const Value& event : trace.at("traceEvents").as_array()) {
    if (event.at("ph").as_string() != "X") continue;
    const double begin_us = event.at("ts").as_double();
    threads[{event.at("pid").as_integer(), event.at("tid").as_integer()}].push_back(
        {event.at("name").as_string(), begin_us, begin_us + event.at("dur").as_double()});
  }
  for (auto& [place, events] : threads) {
    std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
      return std::pair(a.begin_us, -a.end_us) < std::pair(b.begin_us, -b.end_us);
    });
  }
  return threads;
}

// Half a nanosecond: the rounding error of microseconds with three decimals in a double.
constexpr double kRounding_us = 5e-4;

// Checks that every event lies inside the enclosing event, the latest one that has not ended.
void expect_nested(const std::vector<Event>& events) {
  std::vector<Event> open;
  for (const Event& event : events) {
    EXPECT_GE(event.begin_us, 0.0);
    EXPECT_LE(event.begin_us, event.end_us) << event.name;
    while (!open.empty() && open.back().end_us <= event.begin_us + kRounding_us) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(event.end_us, open.back().end_us + kRounding_us) << event.name << " leads out of " << open.back().name;
    }
    open.push_back(event);
  }
}

std::vector<Event> called(const std::vector<Event>& events, const std::string& prefix) {
  std::vector<Event> found;
  std::ranges::copy_if(events, std::back_inserter(found), [&](const Event& e) { return e.name.starts_with(prefix); });
  return found;
}

class TracedRun : public Trainer {
 protected:
  // Trains with several ranks and a trace. All ranks fail before update `failing` (from 0); if negative, none fails.
  std::filesystem::path run_traced(int ranks, const TraceOptions& options = {}, int failing = -1) {
    const data::Dataset dataset = load();
    const graph::Graph model = flat_model(recipe_.train.batch, kSizePx, 2);
    const RunFolder folder(out_.path() / std::to_string(ranks));
    folder.create_new();
    dist::LocalGroup group(ranks);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
        ReferenceEngine engine;
        int update = 0;
        const TrainJob job{.recipe = recipe_,
                           .dataset = dataset,
                           .model = model,
                           .engine = engine,
                           .folder = folder,
                           .observers = {},
                           .is_stop_asked =
                               [&] {
                                 if (update++ == failing) throw DataError("an image is gone");
                                 return false;
                               },
                           .group = ranks == 1 ? nullptr : &comm,
                           .trace = options};
        if (failing < 0) {
          static_cast<void>(train(job));
        } else {
          EXPECT_THROW(static_cast<void>(train(job)), DataError);
        }
      });
    }
    threads.clear();
    return folder.trace();
  }
};

TEST_F(TracedRun, of_one_process_shows_where_its_time_went) {
  const Threads threads = read_trace(run_traced(1));
  ASSERT_EQ(threads.size(), 1U);
  const std::vector<Event>& events = threads.at({0, 0});
  expect_nested(events);
  // The run has 4 epochs of 32 / 8 updates.
  for (const char* name : {"step ", "input", "forward", "backward", "optimizer"}) {
    EXPECT_EQ(called(events, name).size(), 16U) << name;
  }
  EXPECT_EQ(called(events, "validation").size(), 4U);
  EXPECT_GE(called(events, "checkpoint").size(), 4U);
  EXPECT_EQ(called(events, "wait").size(), 0U);
}

TEST_F(TracedRun, of_ranks_has_every_bucket_where_it_should_be) {
  recipe_.train.batch = 4;
  const Threads threads = read_trace(run_traced(3, {.first = 3, .every = 4}));
  std::int64_t buckets = 0;
  for (const auto& [place, events] : threads) {
    expect_nested(events);
    if (place.second == 0) continue;
    const std::vector<Event>& training = threads.at({place.first, 0});
    for (const Event& transfer : called(events, "gradient bucket")) {
      ++buckets;
      const std::string number = transfer.name.substr(transfer.name.rfind(' ') + 1);
      const auto within = [](const Event& inner, const Event& outer) {
        return inner.begin_us >= outer.begin_us - kRounding_us && inner.end_us <= outer.end_us + kRounding_us;
      };
      const std::vector<Event> steps = called(training, "step ");
      const auto step = std::ranges::find_if(steps, [&](const Event& e) { return within(transfer, e); });
      ASSERT_NE(step, steps.end()) << transfer.name << " is in no step";
      for (const Event& event : training) {
        if (!within(event, *step)) continue;
        if (event.name == "backward") {
          EXPECT_GE(transfer.begin_us, event.begin_us) << "before backward";
          EXPECT_LE(transfer.begin_us, event.end_us + kRounding_us) << "overlap: asked for while backward went on";
        }
        if (event.name == "wait for bucket " + number) {
          EXPECT_LE(transfer.end_us, event.end_us + kRounding_us) << "waited for to the end";
        }
      }
    }
  }
  // Updates 0, 1, 2, 3 and 7 are traced on 3 ranks. The run has 4 epochs of 2 updates (32 images, 3 x 4 per step).
  EXPECT_EQ(called(threads.at({0, 0}), "step ").size(), 5U);
  EXPECT_EQ(called(threads.at({2, 0}), "validation").size(), 4U);
  const auto each = std::ssize(called(threads.at({1, 0}), "wait for bucket"));
  EXPECT_GT(each, 0);
  EXPECT_EQ(buckets, 3 * each);
}

TEST_F(TracedRun, of_some_ranks_says_so) {
  recipe_.train.batch = 4;
  const std::filesystem::path path = run_traced(4, {.most_ranks = 2});
  const Threads threads = read_trace(path);
  EXPECT_TRUE(threads.contains({0, 0}));
  EXPECT_TRUE(threads.contains({2, 0}));
  EXPECT_FALSE(threads.contains({1, 0}));
  const Value trace = io::parse_json(io::read_text(path).or_throw(), "trace").or_throw();
  const Value& about = trace.at("otherData");
  EXPECT_EQ(about.at("ranks").as_integer(), 4);
  EXPECT_EQ(about.at("clocks").as_array().at(1).at("rank").as_integer(), 2);
  EXPECT_GT(about.at("clocks").as_array().at(1).at("error_ns").as_integer(), 0);
  EXPECT_THAT(about.at("traced_updates").as_string(), HasSubstr("first 100"));
}

bool is_whole(const std::filesystem::path& path) {
  const Value trace = io::parse_json(io::read_text(path).or_throw(), "trace").or_throw();
  return trace.at("otherData").at("is_whole").as_bool();
}

TEST_F(TracedRun, that_ends_well_is_whole_and_leaves_no_parts) {
  const std::filesystem::path path = run_traced(2);
  EXPECT_TRUE(is_whole(path));
  EXPECT_FALSE(std::filesystem::exists(path.parent_path() / "trace.parts"));
}

TEST_F(TracedRun, that_fails_has_what_was_done) {
  const std::filesystem::path path = run_traced(1, {}, 3);
  EXPECT_FALSE(is_whole(path));
  const Threads threads = read_trace(path);
  expect_nested(threads.at({0, 0}));
  EXPECT_EQ(called(threads.at({0, 0}), "step ").size(), 3U);
  EXPECT_EQ(called(threads.at({0, 0}), "backward").size(), 3U);
}

TEST_F(TracedRun, whose_ranks_fail_has_all_of_them_once_they_are_gone) {
  recipe_.train.batch = 4;
  const std::filesystem::path path = run_traced(3, {}, 2);
  const RunFolder folder(path.parent_path());
  folder.tidy_up();
  EXPECT_FALSE(std::filesystem::exists(folder.trace_parts()));
  EXPECT_FALSE(is_whole(path));
  const Threads threads = read_trace(path);
  for (int rank = 0; rank < 3; ++rank) {
    // Each rank waits once in every update.
    const std::vector<Event>& events = threads.at({rank, 0});
    expect_nested(events);
    EXPECT_EQ(called(events, "optimizer").size(), called(threads.at({0, 0}), "optimizer").size()) << rank;
    EXPECT_GE(called(events, "step ").size(), 2U);
  }
}

TEST(TraceParts, of_killed_ranks_are_merged_up_to_their_last_whole_line) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  RankTrace late{.rank = 5, .host = "node2"};
  late.begin.offset.offset_ns = 1000;
  begin_trace_parts(run.trace_parts(), Value::Table{{"ranks", 8}}, {{.rank = 0, .host = "node1"}, late, {.rank = 7}});
  {
    TracePart first(run.trace_parts(), 0);
    TracePart other(run.trace_parts(), 5);
    first.add({.name = "step", .index = 1, .begin_ns = 100, .end_ns = 200});
    other.add({.name = "step", .index = 1, .begin_ns = 1150, .end_ns = 1190});
    other.add({.name = "step", .index = 2, .begin_ns = 1200, .end_ns = 1290});
  }
  const std::filesystem::path cut = run.trace_parts() / "rank-5.txt";
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 3);
  run.remove_leftovers();
  EXPECT_FALSE(std::filesystem::exists(run.trace_parts()));
  const Threads threads = read_trace(run.trace());
  ASSERT_EQ(threads.size(), 2U) << "nothing is known of rank 7";
  ASSERT_EQ(threads.at({5, 0}).size(), 1U);
  EXPECT_DOUBLE_EQ(threads.at({5, 0})[0].begin_us, 0.05) << "by rank 0's clock";
  const Value about = io::parse_json(io::read_text(run.trace()).or_throw(), "trace").or_throw().at("otherData");
  EXPECT_EQ(about.at("ranks").as_integer(), 8);
  EXPECT_EQ(about.at("traced_ranks").as_integer(), 2);
  EXPECT_FALSE(is_whole(run.trace()));
}

TEST(TraceParts, are_left_to_who_trains_there) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  run.tidy_up();
  EXPECT_FALSE(std::filesystem::exists(run.lock()));
  begin_trace_parts(run.trace_parts(), Value::table(), {});
  {
    const RunLock lock(run.root());
    run.tidy_up();
    EXPECT_TRUE(std::filesystem::exists(run.trace_parts()));
  }
  run.remove_run();
  EXPECT_FALSE(std::filesystem::exists(run.trace_parts()));
}

TEST_F(TracedRun, is_not_traced_unless_asked) {
  static_cast<void>(run("plain"));
  EXPECT_FALSE(std::filesystem::exists(RunFolder(out_.path() / "plain").trace()));
}

}  // namespace
}  // namespace roentgen::train
