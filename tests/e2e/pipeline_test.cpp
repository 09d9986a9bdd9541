// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests pipelines given in a recipe and to bench pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kStopped = 3;

std::vector<std::string> by(std::string_view pipeline) {
  return {"--set", "train.pipeline=\"" + std::string(pipeline) + "\""};
}

TEST(Pipelines, train_to_the_same_weights_wherever_the_work_is_done) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  place.must_run(place.train_arguments(data, "usual"));
  place.must_run(plus(place.train_arguments(data, "other"),
                      by("samples | shuffle | shard | map(parallel=2) | repeat | batch | prefetch(1)")));
  expect_equal_tensors(place / "usual/checkpoints/best.safetensors", place / "other/checkpoints/best.safetensors");
}

TEST(Pipelines, of_files_go_on_to_the_same_weights_where_they_were_stopped) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  for (const std::string name : {"tf-official", "naive"}) {
    place.must_run(plus(place.train_arguments(data, name), by(name)));
    const auto parts = plus(place.train_arguments(data, name + "-parts"), by(name));
    EXPECT_EQ(place.run(plus(parts, {"--stop-after", "5"})).code, kStopped);
    place.must_run(plus(parts, {"--resume"}));
    expect_equal_tensors(place / (name + "/checkpoints/best.safetensors"),
                         place / (name + "-parts/checkpoints/best.safetensors"));
  }
}

TEST(Pipelines, that_cannot_train_are_refused) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto train = [&](std::string_view pipeline, const std::vector<std::string>& more = {}) {
    return place.run(plus(plus(place.train_arguments(data, "run"), by(pipeline)), more));
  };
  expect_refusal(train("samples | shuffel | map_and_batch"),
                 {"[data.pipeline] --set train.pipeline=", "train.pipeline, stage: expected one of files, samples",
                  "got 'shuffel'"});
  expect_refusal(train("samples | map_and_batch"),
                 {"[train.recipe] --set train.pipeline=", "train.pipeline: expected a stage repeat without a number"});
  expect_refusal(train("naive", {"--set", "train.tail=wrap"}),
                 {"[train.recipe] --set train.tail=wrap: train.tail", "shard(tail=wrap)"});
  EXPECT_FALSE(fs::exists(place / "run/checkpoints"));
}

TEST(Pipelines, are_measured_and_give_equal_batches) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto measure = [&](const std::vector<std::string>& more) {
    place.must_run(plus({"bench", "pipeline", "--data", data / "images", "--image", "32", "--batch", "8", "--steps",
                         "4", "--json", place / "pipeline.json"},
                        more));
    return read_json(place / "pipeline.json");
  };
  const Value usual = measure({"--workers", "2"});
  EXPECT_EQ(usual.at("images").as_integer(), 60);
  EXPECT_EQ(usual.at("workers").as_integer(), 2);
  EXPECT_FALSE(usual.at("emulated").as_bool());
  EXPECT_GT(usual.at("images_per_s").as_double(), 0.0);
  EXPECT_EQ(usual.at("stages").as_array().size(), 6U);
  for (const bool is_filled : {false, true}) {
    const Value cached = measure({"--cache-dir", place / "cache", "--memory-budget", "64"});
    EXPECT_EQ(cached.at("checksum").as_string(), usual.at("checksum").as_string());
    EXPECT_EQ(cached.at("cache_kept").as_integer() > 0, is_filled);
    EXPECT_EQ(cached.at("memory").at("budget_bytes").as_integer(), 64 << 20);
  }
  const Value slow = measure({"--pipeline", "samples | shuffle | shard | repeat | map(3) | batch", "--cold",
                              "--emulate-storage", "open=100us,opens_per_s=5000", "--device", "emulated:5000"});
  EXPECT_EQ(slow.at("checksum").as_string(), usual.at("checksum").as_string());
  EXPECT_TRUE(slow.at("emulated").as_bool());
  EXPECT_EQ(slow.at("device").as_string(), "emulated:5000");
  EXPECT_LE(slow.at("images_per_s").as_double(), 5000.0);
}

TEST(Pipelines, that_cannot_be_measured_are_refused) {
  const Workplace place;
  const fs::path data = place.synth("data", 20);
  const auto measure = [&](const std::vector<std::string>& more) {
    return place.run(plus({"bench", "pipeline", "--data", data / "images", "--image", "32", "--batch", "8"}, more));
  };
  expect_refusal(place.run({"bench", "pipeline"}), {"[cli.bench] --data", "expected images or folders of images"});
  expect_refusal(
      place.run({"bench", "step", "--cold"}),
      {"[cli.bench] --cold", "expected one of the benchmark cases short, pipeline, overlap, ablation, got step"});
  expect_refusal(measure({"--pipeline", "fast"}), {"[data.pipeline] pipeline", "tf-official", "got 'fast'"});
  expect_refusal(measure({"--device", "gpu"}), {"[bench.pipeline] --device", "emulated:RATE", "got gpu"});
  expect_refusal(measure({"--rounds", "5"}), {"[cli.bench] --rounds", "expected also --compare-data DIR"});
  expect_refusal(measure({"--emulate-storage", "open=2"}), {"[data.storage]", "a time in s, ms or us"});
  expect_refusal(measure({"--cache-dir", data / "images/cache"}), {"--cache-dir"});
  EXPECT_FALSE(fs::exists(data / "images/cache"));
  expect_refusal(measure({"--memory-budget", "1", "--batch", "20", "--image", "256"}),
                 {"[data.memory] memory of the input pipeline: expected at most 1.0 MiB"});
  expect_refusal(place.run({"bench", "overlap", "--data", data / "images", "--cache-dir", place / "cache"}),
                 {"[cli.bench] --cache-dir", "expected one of the benchmark cases pipeline, got overlap"});
  expect_refusal(measure({"--batch", "21"}), {"[data.loader] images", "at least one batch of 21 images"});
  expect_refusal(measure({"--pipeline", "samples | map_and_batch"}), {"[bench.pipeline] pipeline", "try a repeat"});
  expect_refusal(place.run({"bench", "pipeline", "--data", place / "nowhere"}), {"nowhere"});
}

TEST(Convert, gives_records_that_train_to_the_same_weights) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  place.must_run({"convert", data, place / "records", "--to", "tfrecord", "--shards", "3", "--workers", "2", "--verify",
                  "--json", place / "convert.json"});
  EXPECT_EQ(read_json(place / "convert.json").at("images").as_integer(), 120);
  EXPECT_EQ(read_json(place / "convert.json").at("files_kept").as_integer(), 0);
  place.must_run(
      {"convert", data, place / "records", "--to", "tfrecord", "--shards", "3", "--json", place / "convert.json"});
  EXPECT_EQ(read_json(place / "convert.json").at("files_kept").as_integer(),
            read_json(place / "convert.json").at("files").as_integer());
  place.must_run({"inspect", "--data", place / "records", "--json", place / "inspect.json"});
  EXPECT_EQ(read_json(place / "inspect.json").at("source").as_string(), "tfrecord");
  // Samples of the training records come in the order of the data set, and random draws depend on their names.
  place.must_run(place.train_arguments(data, "files"));
  const auto recorded = place.train_arguments(place / "records", "records-run");
  const Ended run = place.run(recorded);
  EXPECT_EQ(run.code, 0) << run.err;
  constexpr const char* kBest = "checkpoints/best.safetensors";
  expect_equal_tensors(place / "files" / kBest, place / "records-run" / kBest);
  const Value measured = [&] {
    place.must_run({"bench", "pipeline", "--data", place / "records", "--image", "32", "--batch", "8", "--steps", "3",
                    "--json", place / "bench.json"});
    return read_json(place / "bench.json");
  }();
  EXPECT_EQ(measured.at("images").as_integer(), 120);
}

TEST(Convert, refuses_what_it_cannot_write) {
  const Workplace place;
  const fs::path data = place.synth("data", 20);
  const auto convert = [&](const std::vector<std::string>& more) {
    return place.run(plus({"convert", data, place / "records"}, more));
  };
  expect_refusal(convert({"--to", "hdf5"}),
                 {"[data.convert] --to", "expected tfrecord, tar, recordio, lmdb, png, got hdf5"});
  expect_refusal(convert({"--encode", "tiff"}), {"[data.convert] --encode", "keep, png, raw, jpeg"});
  expect_refusal(convert({"--fit", "round"}), {"squash"});
  EXPECT_FALSE(fs::exists(place / "records"));
  const Ended resized = convert({"--resize", "64"});
  expect_stop(resized, {"[data.convert] --resize", "--encode raw"});
  expect_stop(convert({"--shorter-edge", "64"}), {"[data.convert] --shorter-edge", "--encode raw"});
  expect_stop(convert({"--to", "lmdb"}), {"[data.convert] --to lmdb", "a record has a single label"});
  EXPECT_FALSE(fs::exists(place / "records"));
  expect_refusal(place.run({"convert", data, data / "records"}), {"records"});
  place.write("busy/notes.txt", "mine");
  expect_stop(place.run({"convert", data, place / "busy"}), {"expected a new or empty folder"});
}

}  // namespace
}  // namespace roentgen::e2e
