// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests `roentgen train --update ps|async` on the command line, over MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/json.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

/// Small buckets, so that each of two servers has some.
const std::vector<std::string> kBuckets{"--set", "train.bucket_mb=0.01"};

TEST_F(Launch, servers_sum_to_the_bits_of_an_exchange) {
  place_.must_run(plus(ranks("exchange", 2, {"--reduce", "exchange"}), kBuckets));
  place_.must_run(plus(ranks("one", 3, {"--update", "ps"}), kBuckets));
  const Ended two =
      place_.must_run(plus(ranks("two", 4, {"--kv-store", "dist_sync", "--servers", "2", "--trace"}), kBuckets));
  EXPECT_THAT(two.err, HasSubstr("4 ranks: 2 workers and 2 parameter servers (--update ps --servers 2)"));
  for (const char* run : {"one", "two"}) {
    expect_equal_tensors(place_ / run / "checkpoints/resume.safetensors",
                         place_ / "exchange/checkpoints/resume.safetensors");
    expect_nothing_half_written(place_ / run);
  }
}

TEST_F(Launch, servers_stop_and_go_on_to_the_same_bits) {
  place_.must_run(ranks("whole", 3, {"--update", "ps"}));
  EXPECT_EQ(place_.run(ranks("parts", 3, {"--update", "ps", "--stop-after", "5"})).code, 3);
  place_.must_run(ranks("parts", 3, {"--update", "ps", "--resume"}));
  expect_equal_tensors(place_ / "parts/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
}

TEST_F(Launch, servers_take_gradients_as_they_come_and_count_them) {
  place_.must_run(ranks("async", 4, {"--update", "async", "--staleness", "0", "--json", place_ / "async.json"}));
  EXPECT_TRUE(read_json(place_ / "async.json").at("finished").as_bool());
  const std::string log = read_all(place_ / "async/log.jsonl");
  EXPECT_THAT(log, HasSubstr("\"applied\":"));
  EXPECT_THAT(log, HasSubstr("\"staleness_max\":0"));
  const Ended resumed =
      place_.must_run(ranks("async", 4, {"--update", "async", "--resume", "--set", "train.epochs=5"}));
  EXPECT_THAT(resumed.err, HasSubstr("asynchronous updates arrive in a different order each time"));
  EXPECT_THAT(resumed.err, HasSubstr("resumed with --update async --servers 1 --staleness 16, started with --update "
                                     "async --servers 1 --staleness 0: "));
}

TEST_F(Launch, servers_are_refused_by_one_line) {
  expect_stop(place_.run(ranks("no", 2, {"--update", "ps", "--servers", "2"})),
              {"--servers: expected fewer than the 2 ranks, got 2"});
  // One bucket, if the recipe names the label. Otherwise the data decide, and weights and biases of the last layer may
  // need two buckets more.
  const std::vector<std::string> label{"--set", "data.labels=Mass"};
  for (const auto& [servers, buckets, more] : {std::tuple{2, 1, label}, std::tuple{4, 3, std::vector<std::string>{}}}) {
    const Ended refused =
        place_.run(plus(ranks("no", servers + 1, {"--update", "ps", "--servers", std::to_string(servers)}), more));
    expect_stop(refused, {"--servers: expected at most " + std::to_string(buckets) +
                          ", the number of gradient buckets, got " + std::to_string(servers)});
    EXPECT_EQ(refused.out.find("images, "), std::string::npos) << "data were read: " << refused.out;
  }
  const Ended late = place_.run(ranks("no", 3, {"--update", "ps", "--servers", "2"}));
  expect_stop(late, {"--servers: expected at most 1, the number of gradient buckets, got 2"});
  EXPECT_THAT(late.out, HasSubstr("images, ")) << "so that the test above can fail";
  expect_stop(place_.run(train("no", {"--update", "ps"})), {"--servers: expected fewer than the 1 rank"});
  expect_refusal(place_.run(ranks("no", 2, {"--servers", "1"})), {"--servers", "--update ps"});
  for (const char* update : {"ps", "async"}) {
    const Ended refused = place_.run(ranks("no", 3, {"--update", update, "--wire", "f16"}));
    expect_refusal(refused, {"--wire f32, the format that servers add, got --wire f16"});
    EXPECT_EQ(refused.out.find("images, "), std::string::npos) << "data were read: " << refused.out;
  }
  EXPECT_FALSE(fs::exists(place_ / "no"));
}

TEST_F(Launch, a_benchmark_puts_servers_beside_the_workers_of_each_point) {
  place_.must_run({"bench",          "scaling",
                   "--ranks",        "1,2",
                   "--model",        "resnet18",
                   "--batch",        "2",
                   "--image",        "32",
                   "--threads",      "1",
                   "--warmup",       "1",
                   "--steps",        "2",
                   "--repeat",       "1",
                   "--device",       "emulated:100",
                   "--update",       "async",
                   "--straggler",    "2",
                   "--json",         place_ / "scaling.json",
                   "--oversubscribe"});
  const Value result = read_json(place_ / "scaling.json");
  EXPECT_EQ(result.at("update").as_string(), "async");
  EXPECT_EQ(result.at("servers").as_integer(), 1);
  const Value::Array& points = result.at("points").as_array();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].at("ranks").as_integer(), 2) << "workers alone";
  EXPECT_GT(points[1].at("images_per_s").as_double(), 0.0);
  EXPECT_EQ(points[1].at("dropped").as_integer(), 0);
}

// Steps of the last worker take 0.8 s instead of 0.2 s. This difference exceeds delays on a busy machine.
TEST_F(Launch, a_benchmark_names_the_slowest_worker_beside_servers) {
  for (const char* update : {"ps", "async"}) {
    place_.must_run({"bench",          "scaling",
                     "--ranks",        "3",
                     "--model",        "resnet18",
                     "--batch",        "4",
                     "--image",        "32",
                     "--threads",      "1",
                     "--warmup",       "2",
                     "--steps",        "5",
                     "--repeat",       "1",
                     "--device",       "emulated:20",
                     "--update",       update,
                     "--straggler",    "4",
                     "--json",         place_ / "scaling.json",
                     "--oversubscribe"});
    const Value result = read_json(place_ / "scaling.json");
    const Value& point = result.at("points").as_array().at(0);
    EXPECT_EQ(point.at("slowest_rank").as_integer(), 2) << update;
    EXPECT_GT(point.at("imbalance").as_double(), 0.2) << update;
  }
}

}  // namespace
}  // namespace roentgen::e2e
