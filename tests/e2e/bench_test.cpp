// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the benchmark cases for pipelines run on a few small images, describe their settings, and leave no files.
// The measured times mean nothing here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/core_list.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::string_view kNet = R"(graph "tiny"
input image (N, C, S, S)
v = conv2d(image, out=8, kernel=3x3, bias=no)
p = global_avg_pool(v)
f = flatten(p)
l = linear(f, out=K)
output logits = l
)";

class Bench : public testing::Test {
 protected:
  Bench() : images_(place_.synth("data", 24) / "images") { fs::create_directory(place_ / "work"); }

  // Result of a case on images of 32 px.
  Value measure(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = plus({"bench", name}, small());
    out_ = place_.must_run(plus(plus(arguments, {"--json", place_ / "bench.json"}), more)).out;
    EXPECT_TRUE(fs::is_empty(place_ / "work")) << name;
    return read_json(place_ / "bench.json");
  }
  [[nodiscard]] std::vector<std::string> small() const {
    return {"--data", images_, "--image", "32", "--batch", "4", "--workers", "2", "--warmup", "1"};
  }

  Workplace place_;
  std::string images_;
  std::string out_;
};

TEST_F(Bench, overlap_shows_steps_of_a_network_and_of_an_emulated_device_beside_their_least_time) {
  const fs::path net = place_.write("net.graph", kNet);
  const Value network = measure("overlap", {"--model", net, "--labels", "3", "--steps", "3", "--rounds", "1"});
  EXPECT_EQ(network.at("cores").as_string(), "shared");
  EXPECT_FALSE(network.at("emulated").as_bool());
  EXPECT_THAT(out_, HasSubstr("train + input_work / cores"));
  const Value device = measure("overlap", {"--device", "emulated:2000", "--steps", "3", "--rounds", "2"});
  EXPECT_EQ(device.at("cores").as_string(), "disjoint");
  EXPECT_TRUE(device.at("emulated").as_bool());
  EXPECT_EQ(device.at("by_round").as_array().size(), 2U);
  EXPECT_GE(device.at("step_ms").at("train").as_double(), 2.0);
  const Value timed = measure("overlap", {"--device", "emulated:2000", "--steps", "100000", "--cell-seconds", "0.01",
                                          "--readers", "2", "--rounds", "1"});
  EXPECT_LT(timed.at("n").as_integer(), 100'000);
}

TEST_F(Bench, formats_compares_files_with_records) {
  const Value result =
      measure("formats", {"--work", place_ / "work", "--resize", "16", "--cell-seconds", "0.01", "--rounds", "1"});
  EXPECT_GE(result.at("formats").as_array().size(), 8U);
  EXPECT_THAT(out_, HasSubstr("warm_images_per_s"));
  EXPECT_THAT(out_, HasSubstr("16 px"));
}

TEST_F(Bench, ablation_compares_orders) {
  const Value result = measure("ablation", {"--emulate-storage", "open=100us", "--steps", "2", "--rounds", "1"});
  EXPECT_TRUE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("ranks").as_integer(), 2);
  EXPECT_THAT(out_, HasSubstr("shard-after-map"));
}

// If OpenMP gives only one thread, two threads that wait for each other would hang.
TEST_F(Bench, and_training_compute_with_the_threads_that_openmp_gives) {
  const auto with_one = [&](const std::vector<std::string>& arguments) {
    Process process(arguments, place_.root(), {"/usr/bin/env", "OMP_THREAD_LIMIT=1"});
    const Ended run = process.wait();
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("OpenMP gives 1 of 2 threads (OMP_THREAD_LIMIT"));
  };
  with_one({"bench", "step", "--model", place_.write("net.txt", kNet), "--batch", "2", "--image", "32", "--threads",
            "2", "--oversubscribe", "--warmup", "0", "--steps", "1", "--json", place_ / "step.json"});
  EXPECT_EQ(read_json(place_ / "step.json").at("threads").as_integer(), 1);
  if (runtime::usable_cores().size() < 2) GTEST_SKIP() << "SKIPPED: training with two threads takes two cores";
  with_one(plus(place_.train_arguments(fs::path(images_).parent_path(), "run"), {"--set", "train.threads=2"}));
}

TEST_F(Bench, refuses_options_of_other_cases_and_what_it_cannot_use) {
  const auto run = [&](const std::string& name, const std::vector<std::string>& more) {
    return place_.run(plus(plus({"bench", name}, small()), more));
  };
  expect_refusal(place_.run({"bench", "overlap"}), {"[cli.bench] --data"});
  expect_refusal(place_.run({"doctor", "scale", "--model", "resnet18", "--threads", "4096"}),
                 {"[bench.options] threads", "got 4096", "--oversubscribe"});
  expect_refusal(run("scaling", {"--synthetic"}), {"[cli.bench] --synthetic: expected no --data"});
  expect_refusal(run("overlap", {"--ranks", "2"}), {"[cli.bench] --ranks", "got overlap"});
  expect_refusal(run("overlap", {"--input-cores", "a"}), {"[runtime.cores] cores", "got a"});
  expect_refusal(run("overlap", {"--input-cores", runtime::text_of(runtime::usable_cores())}),
                 {"[runtime.cores] cores: expected at least one core left"});
  expect_refusal(run("overlap", {"--device", "emulated:x"}), {"emulated:RATE"});
  expect_refusal(run("formats", {}), {"[cli.bench] --work"});
  expect_refusal(run("formats", {"--cold", "--work", place_ / "work"}), {"[cli.bench] --cold", "got formats"});
  expect_refusal(run("formats", {"--work", fs::path(images_) / "work"}), {"--work"});
  expect_refusal(run("formats", {"--work", place_ / "nowhere"}), {"[bench.records]", "nowhere"});
  expect_refusal(place_.run({"bench", "choose", "--write", place_ / "nowhere/choices.json"}), {"--write", "nowhere"});
  expect_refusal(run("ablation", {"--json", fs::path(images_) / "result.json"}), {"--json"});
}

TEST_F(Bench, infer_shows_latencies_by_batch_of_a_model_and_of_a_graph_file) {
  const fs::path net = place_.write("net.graph", kNet);
  const std::vector<std::string> sizes{"--image", "32",      "--labels", "3",        "--warmup",
                                       "0",       "--steps", "2",        "--rounds", "1"};
  const auto run = [&](const std::string& model) {
    out_ = place_
               .must_run(
                   plus({"bench", "infer", "--model", model, "--batch", "1,3", "--json", place_ / "infer.json"}, sizes))
               .out;
    return read_json(place_ / "infer.json");
  };
  for (const std::string& model : {std::string("resnet18"), net.string()}) {
    const Value result = run(model);
    ASSERT_EQ(result.at("batches").as_array().size(), 2U);
    EXPECT_EQ(result.at("batches").as_array()[1].at("batch").as_integer(), 3);
    EXPECT_EQ(result.at("algorithms").as_string(), "auto");
    EXPECT_THAT(out_, HasSubstr("p99_ms"));
  }
  expect_refusal(place_.run({"bench", "infer", "--batch", "1,none"}), {"--batch", "1,none"});
  expect_refusal(place_.run({"bench", "step", "--batch", "1,2"}), {"--batch", "1,2", "the case infer"});
  const char* refused = "--batch: expected numbers from 1 to 65536, got 0; try --batch 16";
  for (const char* name : {"step", "infer", "fusion"}) {
    expect_refusal(place_.run({"bench", name, "--batch", "0"}), {refused});
  }
  expect_refusal(place_.run({"bench", "pipeline", "--data", images_, "--batch", "0"}), {refused});
}

TEST_F(Bench, fusion_shows_passes_alone_and_together) {
  const std::string json = place_ / "fusion.json";
  const Ended ended = place_.must_run({"bench", "fusion", "--models", "resnet18", "--batch", "2", "--image", "32",
                                       "--warmup", "0", "--steps", "1", "--rounds", "1", "--json", json});
  EXPECT_EQ(read_json(json).at("batch").as_integer(), 2);
  EXPECT_THAT(ended.out, HasSubstr("fold_batch_norm"));
  expect_refusal(place_.run({"bench", "fusion", "--models", "resnet17"}), {"resnet17"});
}

TEST_F(Bench, lists_its_cases) {
  const std::string names = place_.must_run({"bench", "--list"}).out;
  for (const char* name :
       {"step", "pipeline", "overlap", "formats", "ablation", "infer", "fusion", "data.decode_png"}) {
    EXPECT_THAT("\n" + names, ContainsRegex("\n" + std::string(name) + " +[a-z]")) << "and a sentence for each";
  }
}

TEST(InputCores, change_no_weight) {
  const runtime::CoreList cores = runtime::usable_cores();
  if (cores.size() < 2) GTEST_SKIP() << "NOT TESTED: this process may use one core only";
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const std::vector<std::string> one_thread{"--set", "train.threads=1", "--set", "train.epochs=1"};
  place.must_run(plus(place.train_arguments(data, "shared"), one_thread));
  const Ended apart = place.must_run(plus(plus(place.train_arguments(data, "apart"), one_thread),
                                          {"--input-cores", runtime::text_of({cores.front()}), "--verbose"}));
  EXPECT_THAT(apart.err, HasSubstr("cores: " + runtime::text_of({cores.front()}) + " for input"));
  expect_equal_tensors(place / "shared/checkpoints/best.safetensors", place / "apart/checkpoints/best.safetensors");
  expect_refusal(place.run(plus(place.train_arguments(data, "none"), {"--input-cores", "x"})),
                 {"[runtime.cores] cores", "got x"});
}

}  // namespace
}  // namespace roentgen::e2e
