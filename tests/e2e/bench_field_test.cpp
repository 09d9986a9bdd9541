// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the benchmark cases that follow others in the field: `short`, `long`, and `cnn`, whose output programs parse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "io/json.h"
#include "tests/e2e/program.h"
#include "tests/parallel/folder_watch.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Numbers that a script for tf_cnn_benchmarks finds in its output.
struct ParsedRun {
  std::vector<std::int64_t> steps{};
  std::vector<double> speeds{};
  std::vector<double> losses{};
  double total = 0.0;
};

/// Parses as such scripts do: each line by itself, by regular expressions, after the heading.
ParsedRun parsed(const std::string& out) {
  const std::regex step_line(R"(^(\d+)\timages/sec: ([\d.]+) \+/- ([\d.]+) \(jitter = ([\d.]+)\)\t([\d.]+)$)");
  const std::regex total_line(R"(^total images/sec: ([\d.]+)$)");
  ParsedRun run;
  std::istringstream lines(out);
  bool is_begun = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    is_begun = is_begun || line == "Step\tImg/sec\ttotal_loss";
    if (is_begun && std::regex_match(line, found, step_line)) {
      run.steps.push_back(std::stoll(found[1]));
      run.speeds.push_back(std::stod(found[2]));
      run.losses.push_back(std::stod(found[5]));
    }
    if (std::regex_match(line, found, total_line)) run.total = std::stod(found[1]);
  }
  return run;
}

TEST(BenchCnn, is_parsed_by_scripts_for_tf_cnn_benchmarks) {
  const Workplace place;
  const Ended run =
      place.must_run({"bench", "cnn", "--device=cpu", "--model=resnet18", "--data_name=cifar10", "--batch_size=2",
                      "--num_warmup_batches=1", "--num_batches=6", "--display_every=2", "--ledger", place / "ledger"});
  const ParsedRun found = parsed(run.out);
  EXPECT_EQ(found.steps, (std::vector<std::int64_t>{1, 2, 4, 6}));
  EXPECT_EQ(found.losses.size(), 4U);
  EXPECT_GT(found.total, 0.0);
  EXPECT_THAT(run.out, testing::EndsWith(std::string(64, '-') + "\n"));
  EXPECT_THAT(run.out, testing::StartsWith("Step\t")) << "nothing but the form of tf_cnn_benchmarks";
  EXPECT_EQ(std::distance(fs::directory_iterator(place / "ledger"), {}), 1) << "and a record";
}

TEST(BenchCnn, runs_the_whitepapers_command) {
  const Workplace place;
  const std::string images = place.synth("data", 12) / "images";
  const Ended run = place.must_run({"bench", "cnn", "--device=cpu", "--data_format=NCHW", "--optimizer=sgd",
                                    "--distortions=false", "--use_fp16=True", "--local_parameter_device=gpu",
                                    "--variable_update=replicated", "--all_reduce_spec=nccl", "--data_dir=" + images,
                                    "--data_name=imagenet", "--model=resnet50", "--batch_size=1", "--num_gpus=4",
                                    "--xla=true", "--num_batches=2", "--num_warmup_batches=1", "--ledger=none"});
  EXPECT_EQ(parsed(run.out).steps, std::vector<std::int64_t>{1});
  EXPECT_THAT(run.err, HasSubstr("cnn: --num_gpus=4 becomes 1"));
  EXPECT_THAT(run.err, HasSubstr("cnn: --use_fp16=True becomes --dtype bf16"));
}

TEST(BenchCnn, takes_switches_without_a_value_as_absl_does) {
  const Workplace place;
  const Ended run = place.must_run({"bench", "cnn", "--device=cpu", "--use_fp16", "--nodistortions", "--xla",
                                    "--model=resnet18", "--data_name=cifar10", "--batch_size=1", "--num_batches=1",
                                    "--num_warmup_batches=1", "--ledger=none", "--noforward_only"});
  EXPECT_EQ(parsed(run.out).steps, std::vector<std::int64_t>{1});
  EXPECT_THAT(run.err, HasSubstr("cnn: --use_fp16=true becomes --dtype bf16"));
  EXPECT_THAT(run.err, HasSubstr("cnn: --xla=true becomes --fuse on"));
  expect_refusal(place.run({"bench", "cnn", "--forward_only", "--device=cpu"}), {"--forward_only", "got true"});
  expect_refusal(place.run({"bench", "cnn", "--nocross_replica_sync"}), {"--cross_replica_sync", "got false"});
  expect_refusal(place.run({"bench", "cnn", "--model"}), {"--model", "needs a value"});
}

TEST(BenchCnn, refuses_what_it_cannot_do) {
  const Workplace place;
  expect_refusal(place.run({"bench", "cnn", "--data_dir=/no/such/folder"}),
                 {"[bench.cnn] --data_dir", "no such folder"});
  expect_refusal(place.run({"bench", "cnn", "--forward_only=true"}), {"--forward_only", "bench infer"});
  expect_refusal(place.run({"bench", "cnn", "--ps_hosts=a"}), {"unknown option --ps_hosts"});
  expect_refusal(place.run({"bench", "short", "--num_gpus=2"}), {"--num_gpus", "cnn"});
}

TEST(BenchShort, measures_an_epoch_of_files) {
  const Workplace place;
  const std::string images = place.synth("data", 24) / "images";
  const fs::path json = place / "short.json";
  const Ended run = place.must_run({"bench",   "short", "--data",   images, "--epochs", "1",    "--model",   "resnet18",
                                    "--image", "32",    "--batch",  "4",    "--warmup", "1",    "--threads", "1",
                                    "--ranks", "1",     "--device", "cpu",  "--ledger", "none", "--json",    json});
  EXPECT_THAT(run.out, HasSubstr("= 1 * 24 / (4 * 1) = 6"));
  EXPECT_EQ(read_json(json).at("samples").at("step_s").as_array().size(), 6U);
}

TEST(BenchShort, two_records_tell_the_speed_of_the_machine) {
  const Workplace place;
  for (const std::string folder : {"a", "b"}) {
    place.must_run({"bench",   "short",    "--model",  "resnet18", "--image",  "32",          "--batch",
                    "2",       "--warmup", "1",        "--steps",  "4",        "--threads",   "1",
                    "--ranks", "1",        "--device", "cpu",      "--ledger", place / folder});
  }
  const fs::path json = place / "compare.json";
  const Ended run = place.must_run({"bench", "compare", place / "a", place / "b", "--json", json});
  EXPECT_THAT(run.out, ContainsRegex("machine_speed\n.* compute [0-9.]+, copy [0-9.]+\n"));
  const Value result = read_json(json);
  EXPECT_GT(result.at("figures").as_array().at(0).at("machine_speed").at("compute").as_double(), 0.0);
}

TEST(BenchShort, needs_numbers_of_ranks_for_hosts) {
  expect_refusal(Workplace().run({"bench", "short", "--hosts", "a:4,b:4"}), {"[bench.short] --hosts", "--ranks"});
}

TEST(BenchFormats, leaves_no_files_after_a_signal) {
  const Workplace place;
  const std::string images = place.synth("data", 60) / "images";
  const fs::path work = place / "work";
  fs::create_directory(work);
  Process process({"bench", "formats", "--data", images, "--work", work, "--batch", "8", "--ledger", "none"},
                  place.root());
  EXPECT_TRUE(process.wait_until([&] { return !fs::is_empty(work); }));
  const FolderWatch folder(work);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().code, 128 + SIGTERM);
  // Another process, which the end of the first one wakes, removes the files.
  for (folder.forget(); !fs::is_empty(work); folder.forget()) ASSERT_TRUE(folder.wait()) << "a folder is left";
}

class BenchLong : public testing::Test {
 protected:
  BenchLong() : data_(place_.synth("data", 90)) {
    // Recipe and network of training tests.
    for (const std::string& word : place_.train_arguments(data_, "unused")) words_.push_back(word);
  }
  /// Value of an option of the training tests.
  [[nodiscard]] std::string value(const std::string& option) const {
    return *std::next(std::ranges::find(words_, option));
  }
  [[nodiscard]] std::vector<std::string> command(const std::string& target,
                                                 const std::vector<std::string>& more = {}) const {
    return plus(
        {"bench", "long", "--recipe", value("--recipe"), "--model", value("--model"), "--data", data_, "--out",
         place_ / "long", "--target", target, "--device", "cpu", "--ledger", "none", "--json", place_ / "long.json"},
        more);
  }
  [[nodiscard]] Value result() const { return read_json(place_ / "long.json"); }

  Workplace place_;
  std::string data_;
  std::vector<std::string> words_;
};

TEST_F(BenchLong, trains_each_batch_size_until_the_target) {
  place_.must_run(command("auroc=0.01", {"--batch", "8,16", "--cost-per-hour", "3600"}));
  const Value found = result();
  ASSERT_EQ(found.at("runs").as_array().size(), 2U);
  for (const Value& run : found.at("runs").as_array()) {
    EXPECT_TRUE(run.at("reached").as_bool());
    EXPECT_EQ(run.at("epochs_to_target").as_integer(), 1);
    EXPECT_GT(run.at("images_per_s").as_double(), 0.0);
  }
  EXPECT_GT(found.at("time_to_target_s").as_double(), 0.0);
  EXPECT_NEAR(found.at("cost").at("to_target").as_double(), found.at("time_to_target_s").as_double(), 1e-9);
  EXPECT_TRUE(fs::exists(place_ / "long/batch-8/checkpoints/best.safetensors"));

  const std::string log = read_all(place_ / "long/batch-8/log.jsonl");
  place_.must_run(command("auroc=0.01", {"--batch", "8,16"}));
  EXPECT_EQ(read_all(place_ / "long/batch-8/log.jsonl"), log) << "nothing was left to do";
  EXPECT_FALSE(result().at("trained").as_bool());
  EXPECT_EQ(result().find("images_per_s"), nullptr);
}

TEST_F(BenchLong, refuses_to_mix_different_runs) {
  place_.must_run(command("auroc=0.01", {"--batch", "8", "--set", "train.threads=1"}));
  const std::vector<std::string> same{"--batch", "16,8", "--set", "train.threads=1"};
  expect_refusal(place_.run(plus(command("auroc=0.01", same), {"--set", "train.seed=77"})), {"train.seed", "got 77"});
  expect_refusal(place_.run(plus(command("auroc=0.01", same), {"--model", "resnet18"})), {"model.", "resnet18"});
  Value conditions = read_json(place_ / "long/batch-8/long.json");
  conditions.set("ranks", 4);
  place_.write("long/batch-8/long.json", io::to_json(conditions));
  expect_refusal(place_.run(command("auroc=0.01", same)),
                 {"[bench.long] ranks", "expected 4, as at the start of the run, got 1"});
  data_ = place_.synth("other", 90);
  expect_refusal(place_.run(command("auroc=0.01", same)), {"[bench.long] --data", "/data", "/other"});
  EXPECT_FALSE(fs::exists(place_ / "long/batch-16")) << "refused before the first training";
}

TEST_F(BenchLong, says_that_the_target_was_not_reached) {
  const Ended run = place_.run(command("auroc=1", {"--set", "train.epochs=1"}));
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_FALSE(result().at("reached").as_bool());
  EXPECT_TRUE(result().at("time_to_target_s").is_null());
  EXPECT_EQ(result().at("runs").as_array()[0].at("epochs_done").as_integer(), 1);
}

TEST_F(BenchLong, continues_after_an_interrupt_with_the_time_already_spent) {
  Process process(command("auroc=1", {"--set", "train.epochs=4000"}), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "long/batch-16/log.jsonl", 3));
  process.signal(SIGINT);
  const Ended stopped = process.wait();
  EXPECT_EQ(stopped.code, 3) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("the same command continues"));
  const Value first = result();
  const double spent_s = first.at("runs").as_array()[0].at("train_s").as_double();
  const std::string log = read_all(place_ / "long/batch-16/log.jsonl");

  Process again(command("auroc=1", {"--set", "train.epochs=4000"}), place_.root());
  ASSERT_TRUE(again.wait_for_lines(place_ / "long/batch-16/log.jsonl", std::ranges::count(log, '\n') + 3));
  again.signal(SIGKILL);
  static_cast<void>(again.wait());

  Process last(command("auroc=1", {"--set", "train.epochs=4000"}), place_.root());
  ASSERT_TRUE(last.wait_for_lines(place_ / "long/batch-16/log.jsonl", std::ranges::count(log, '\n') + 6));
  last.signal(SIGINT);
  EXPECT_EQ(last.wait().code, 3);
  EXPECT_GT(result().at("runs").as_array()[0].at("train_s").as_double(), spent_s);
  EXPECT_THAT(read_all(place_ / "long/batch-16/log.jsonl"), testing::StartsWith(log)) << "every update counts once";
}

TEST_F(BenchLong, reaches_an_accuracy_of_exclusive_classes) {
  std::string csv = "path,patient,split,odd,even\n";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(data_ + "/images")) {
    csv += entry.path().filename().string() + ",p" + std::to_string(count) + (count % 4 < 2 ? ",val," : ",train,") +
           (count % 2 == 1 ? "1,0\n" : "0,1\n");
    ++count;
  }
  data_ += "/images";
  place_.write("data/images/labels.csv", csv);
  place_.must_run(command("top1=0.01", {"--set", "loss.name=softmax", "--set", "data.labels=[\"odd\", \"even\"]"}));
  const Value::Array runs = result().at("runs").as_array();
  EXPECT_EQ(runs[0].at("epochs_to_target").as_integer(), 1);
  std::istringstream log(read_all(place_ / "long/batch-16/log.jsonl"));
  std::optional<double> top1;
  for (std::string line; std::getline(log, line);) {
    const Value record = io::parse_json(line, "log").or_throw<ConfigError>();
    if (const Value* const found = record.find("val_top1"); found != nullptr) top1 = found->as_double();
  }
  EXPECT_EQ(runs[0].at("best").as_double(), top1.value());
}

TEST_F(BenchLong, refuses_what_cannot_be_measured) {
  expect_refusal(place_.run(command("f1=0.5")), {"[bench.long] --target", "got f1=0.5"});
  expect_refusal(place_.run(command("top1=0.5")), {"--target top1", "softmax"});
  expect_refusal(place_.run(command("auroc=0.5", {"--batch", "8,8"})), {"--batch", "different sizes"});
  expect_refusal(place_.run({"bench", "long", "--target", "auroc=0.5"}), {"--recipe FILE"});
  EXPECT_FALSE(fs::exists(place_ / "long"));
}

}  // namespace
}  // namespace roentgen::e2e
