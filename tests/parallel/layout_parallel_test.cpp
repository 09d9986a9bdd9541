// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layout of ranks on a machine as people ask for it: ranks per host, cores for communication, and sizes of buckets that
// a run chooses itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/json.h"
#include "runtime/core_list.h"
#include "runtime/machine_testing.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Trains on a machine whose first two cores are shown as two sockets.
class Layout : public Launch {
 protected:
  void SetUp() override {
    const runtime::CoreList cores = runtime::usable_cores();
    if (cores.size() < 2 || cores[0] != 0 || cores[1] != 1) GTEST_SKIP() << "NOT TESTED: needs cores 0 and 1";
  }
  std::vector<std::string> layout(std::string_view run, const std::vector<std::string>& more) {
    return plus(train(run, {"--oversubscribe", "--comm-timeout", "20", "--set", "train.threads=1"}), more);
  }
  fs::path resume_file(const std::string& run) const { return place_ / run / "checkpoints/resume.safetensors"; }

  const runtime::MadeUpMachine machine_{"pack:2 [numa] core:1 pu:1"};
};

TEST_F(Layout, a_rank_per_socket_has_its_cores_and_the_bits_of_two_ranks) {
  place_.must_run(ranks("two", 2));
  for (const std::string unit : {"socket", "numa", "2"}) {
    const Ended ended = place_.must_run(layout(unit, {"--ppn", unit}));
    EXPECT_THAT(ended.err, HasSubstr(", cores 0; 1 on ")) << unit;
    EXPECT_THAT(ended.err, HasSubstr(", cores 1\n")) << unit;
    EXPECT_THAT(ended.err, Not(HasSubstr("several sockets"))) << unit;
    expect_equal_tensors(resume_file(unit), resume_file("two"));
  }
}

/// Starts two ranks by Open MPI's mpirun, which leaves both cores to each and needs Open MPI's library.
const std::vector<std::string> kUnbound{"/usr/bin/env",
                                        "-u",
                                        "ROENTGEN_MPI",
                                        "OMPI_ALLOW_RUN_AS_ROOT=1",
                                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                        "OMPI_MCA_rmaps_base_oversubscribe=1",
                                        "mpirun",
                                        "--bind-to",
                                        "none",
                                        "-np",
                                        "2"};

TEST_F(Layout, ranks_on_several_sockets_are_named) {
  const Ended ended = Process(layout("crossing", {}), place_.root(), kUnbound).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("cores of several sockets, .*: rank 0 on .* \\(cores .*, [0-9]+ sockets\\), "
                                       "rank 1 on .* sockets\\); --ppn socket starts a rank per socket"));
}

TEST_F(Launch, hosts_with_other_sockets_than_the_starting_one_are_named) {
  // Ranks as if a host with two sockets had started them, by --ppn socket, on a host with one socket.
  const runtime::MadeUpMachine machine("pack:1 [numa] core:2 pu:1");
  const std::vector<std::string> starter = plus({"/usr/bin/env", "ROENTGEN_RANKS=1"}, kUnbound);
  for (const std::string unit : {"socket", "numa"}) {
    const Ended ended =
        Process(train(unit, {"--ppn", unit, "--oversubscribe", "--set", "train.threads=1"}), place_.root(), starter)
            .wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, ContainsRegex("--ppn " + unit + ": .* has 1 (socket|NUMA node) but 2 ranks; --hosts"));
  }
}

TEST_F(Launch, the_ranks_of_a_host_share_the_cache_of_decoded_images) {
  const auto resume_file = [&](const std::string& run) { return place_ / run / "checkpoints/resume.safetensors"; };
  const Ended cached = place_.must_run(ranks("cached", 2, {"--verbose", "--set", "train.cache_mb=64"}));
  EXPECT_THAT(cached.err, HasSubstr("cache of decoded images: at most 64 MiB, shared by 2 ranks"));
  EXPECT_THAT(cached.err, HasSubstr("part of the node's cache of decoded images (limit) 32.0 MiB"));
  place_.must_run(ranks("plain", 2, {"--set", "train.cache_mb=0"}));
  expect_equal_tensors(resume_file("cached"), resume_file("plain"));
  const Ended alone = place_.must_run(train("alone", {"--verbose"}));
  EXPECT_THAT(alone.err, Not(HasSubstr("shared by")));
}

TEST_F(Layout, communication_has_the_cores_that_are_kept_for_it) {
  const Ended kept = place_.must_run(layout("kept", {"--ppn", "2", "--comm-cores", "1"}));
  EXPECT_THAT(kept.err, HasSubstr(", cores 0, communication 1; 1 on "));
  const Ended shared = place_.must_run(layout("shared", {"--ppn", "2", "--comm-threads", "0"}));
  EXPECT_THAT(shared.err, Not(HasSubstr("communication 1")));
  expect_equal_tensors(resume_file("kept"), resume_file("shared"));
}

TEST_F(Layout, two_hardware_threads_of_a_core_are_one_core) {
  const runtime::MadeUpMachine machine("pack:1 [numa] core:1 pu:2");
  expect_stop(place_.run(train("no", {"--ranks", "2"})),
              {"expected at most 1 compute thread, one per physical core within the CPU quota, got 2"});
}

TEST_F(Layout, what_cannot_be_followed_is_said_once) {
  expect_stop(place_.run(layout("no", {"--ppn", "2", "--comm-cores", "900"})),
              {"[cli.launch] --comm-cores: expected some of the cores", "of this host, but not all, got 900"});
  expect_stop(place_.run(layout("no", {"--ppn", "2", "--comm-threads", "1"})),
              {"[cli.launch] --comm-threads 1: expected at least two cores for the rank, got "});
  expect_stop(place_.run(layout("no", {"--ppn", "2", "--ranks", "3"})),
              {"--ranks: expected 2, as --ppn 2 gives, got 3"});
  expect_stop(place_.run(layout("no", {"--ppn", "2", "--comm-threads", "2"})), {"--comm-threads: expected 0 or 1"});
  EXPECT_FALSE(fs::exists(place_ / "no"));
}

TEST_F(Layout, one_rank_on_a_host_is_a_plain_process) {
  EXPECT_THAT(place_.must_run(layout("plain", {"--ppn", "1"})).err, Not(HasSubstr("ranks: ")));
}

TEST_F(Layout, a_benchmark_divides_the_same_cores_among_more_ranks) {
  const fs::path json = place_ / "layout.json";
  place_.must_run({"bench",    "scaling", "--ranks-per-node", "1,2",    "--model",  "resnet18", "--batch", "2",
                   "--image",  "32",      "--threads",        "2",      "--warmup", "1",        "--steps", "2",
                   "--repeat", "1",       "--strong",         "--json", json});
  const Value result = read_json(json);
  const Value::Array& points = result.at("points").as_array();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].at("threads").as_integer(), 2);
  EXPECT_EQ(points[1].at("threads").as_integer(), 1);
  EXPECT_EQ(points[1].at("ranks").as_integer(), 2);
  EXPECT_EQ(points[0].at("speedup").as_double(), 1.0);
  EXPECT_GT(points[1].at("speedup").as_double(), 0.0);
  EXPECT_EQ(points[0].find("efficiency"), nullptr);
  expect_refusal(place_.run({"bench", "scaling", "--ranks-per-node", "1,4", "--model", "resnet18", "--threads", "2"}),
                 {"--ranks-per-node: expected at most 2 ranks per host, one core each, got 4"});
}

// Three layers of more than a MiB, so that there are several sizes to try.
constexpr std::string_view kWideNet = R"(graph "wide"
input image (N, C, S, S)
flat = flatten(image)
fc1 = linear(flat, out=512)
relu1 = relu(fc1)
fc2 = linear(relu1, out=544)
relu2 = relu(fc2)
fc3 = linear(relu2, out=544)
relu3 = relu(fc3)
fc4 = linear(relu3, out=K)
output logits = fc4
)";

/// Trains the wide network by two ranks, in about 30 updates.
class TunedBuckets : public Launch {
 protected:
  std::vector<std::string> wide(const std::string& run, const std::string& bucket_mb,
                                const std::vector<std::string>& more = {}) {
    std::vector<std::string> words =
        ranks(run, 2, {"--bucket-mb", bucket_mb, "--set", "train.epochs=3", "--set", "train.batch=4"});
    *std::next(std::ranges::find(words, "--model")) = place_.write("wide.txt", kWideNet).string();
    return plus(words, more);
  }
  fs::path resume_file(const std::string& run) const { return place_ / run / "checkpoints/resume.safetensors"; }
};

TEST_F(TunedBuckets, are_chosen_once_and_change_no_bit) {
  place_.must_run(wide("fixed", "4"));
  const Ended tuned = place_.must_run(wide("tuned", "auto"));
  EXPECT_THAT(tuned.err, HasSubstr("bucket_mb = auto: "));
  EXPECT_THAT(tuned.err, HasSubstr(" ms per update; "));
  expect_equal_tensors(resume_file("tuned"), resume_file("fixed"));
  EXPECT_THAT(read_all(place_ / "tuned/recipe.toml"), HasSubstr("bucket_mb = \"auto\""));

  constexpr int kStopped = 3;
  EXPECT_EQ(place_.run(wide("parts", "auto", {"--stop-after", "26"})).code, kStopped);
  const Ended resumed = place_.must_run(wide("parts", "auto", {"--resume"}));
  EXPECT_THAT(resumed.err, Not(HasSubstr("bucket_mb"))) << "the size is that of the run";
  expect_equal_tensors(resume_file("parts"), resume_file("fixed"));
  EXPECT_THAT(read_all(resume_file("parts")), HasSubstr("bucket_mb"));
  EXPECT_THAT(place_.run(wide("short", "auto", {"--stop-after", "9"})).err,
              HasSubstr("bucket_mb = auto: not tuned; the run ended after 9 of the "));
  EXPECT_THAT(read_all(resume_file("fixed")), Not(HasSubstr("\\\"bucket_mb\\\"")));
}

TEST_F(TunedBuckets, are_not_where_results_would_depend_on_the_size) {
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--reduce", "ring"}, {"--wire", "bf16"}}) {
    const Ended ended = place_.must_run(wide(way[1], "auto", way));
    EXPECT_THAT(ended.err, HasSubstr("bucket_mb = auto: 4 MiB, not tuned; ")) << way[1];
  }
}

}  // namespace
}  // namespace roentgen::e2e
