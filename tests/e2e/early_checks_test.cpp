// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that faults which do not depend on the data are found before the data folder is read. The data folder does not
// exist here, so a program that reads it first would report that instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <set>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

class EarlyChecks : public testing::Test {
 protected:
  // Expects a refusal that does not mention the absent data folder and leaves no run folder.
  void refused_train(const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    const Ended run = place_.run(plus(place_.train_arguments(place_ / "nodata", "run"), more));
    expect_refusal(run, parts);
    EXPECT_EQ(run.err.find("nodata: expected"), std::string::npos) << run.err;
    EXPECT_FALSE(fs::exists(place_ / "run"));
  }
  // All paths below a folder, except the output files of these tests.
  static std::set<std::string> paths(const fs::path& folder) {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.path().filename().string().starts_with("std")) all.insert(entry.path().string());
    }
    return all;
  }
  // Trains one epoch on the test's own data.
  void trained() {
    place_.must_run(plus(place_.train_arguments(place_.synth("data", 80), "trained"), {"--set", "train.epochs=1"}));
  }

  Workplace place_;
};

TEST_F(EarlyChecks, absent_data_comes_last) {
  expect_refusal(place_.run(place_.train_arguments(place_ / "nodata", "run")), {"nodata: no such folder"});
}

TEST_F(EarlyChecks, a_bad_model) {
  refused_train({"--model", place_ / "none.txt"}, {"none.txt"});
  refused_train({"--model", "resnet19"}, {"got 'resnet19'"});
  refused_train({"--model", place_.write("a.txt", "graph \"a\"\ninput image (N, C, S, S)\nx = rleu(image)\n")},
                {"a.txt line 3", "'rleu'"});
  refused_train({"--model", place_.write("b.txt", "graph \"b\"\ninput image (N, C, S, S)\n")},
                {"an output named logits"});
  refused_train({"--model", place_.write("c.txt", "graph \"c\"\ninput image (N, C, 99, S)\noutput logits = image\n")},
                {"c: image", "99"});
}

TEST_F(EarlyChecks, more_threads_than_the_machine_has) {
  refused_train({"--set", "train.threads=4000"}, {"[train.recipe] threads", "got 4000"});
}

TEST_F(EarlyChecks, more_threads_for_eval_than_the_machine_has) {
  trained();
  expect_refusal(place_.run({"eval", "--checkpoint", place_ / "trained/checkpoints/best.safetensors", "--data",
                             place_ / "data", "--threads", "100000"}),
                 {"[train.recipe] threads", "got 100000"});
}

TEST_F(EarlyChecks, omp_num_threads_beyond_the_machine_is_cut_with_a_warning) {
  const char* set = std::getenv("OMP_NUM_THREADS");
  const std::string before = set == nullptr ? "" : set;
  ASSERT_EQ(::setenv("OMP_NUM_THREADS", "100000", 1), 0);
  const fs::path data = place_.synth("data", 80);
  const Ended run = place_.run(plus(place_.train_arguments(data, "run"), {"--stop-after", "1"}));
  ASSERT_EQ(set == nullptr ? ::unsetenv("OMP_NUM_THREADS") : ::setenv("OMP_NUM_THREADS", before.c_str(), 1), 0);
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_THAT(run.err, testing::HasSubstr("OMP_NUM_THREADS=100000: computing with"));
}

TEST_F(EarlyChecks, weights_of_a_run_without_a_whole_epoch) {
  const fs::path data = place_.synth("data", 80);
  ASSERT_EQ(place_.run(plus(place_.train_arguments(data, "run"), {"--stop-after", "1"})).code, 3);
  expect_refusal(place_.run({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", data}),
                 {"best.safetensors", "a run that stopped before its first epoch ended", "--resume"});
}

TEST_F(EarlyChecks, first_weights_in_the_run_that_is_overwritten) {
  trained();
  const auto before = paths(place_ / "trained");
  const fs::path weights = place_ / "trained/checkpoints/best.safetensors";
  const auto overwrite = plus(place_.train_arguments(place_ / "data", "trained"), {"--overwrite"});
  expect_refusal(place_.run(plus(overwrite, {"--init", weights})),
                 {"--overwrite", "best.safetensors", "try copying the file"});
  // This fault is known only after the data are read.
  expect_stop(place_.run(plus(overwrite, {"--set", "train.accumulate=1000"})), {"train.accumulate"});
  EXPECT_EQ(paths(place_ / "trained"), before);
  place_.must_run(plus(overwrite, {"--set", "train.epochs=1"}));
}

TEST_F(EarlyChecks, a_run_folder_of_other_files) {
  place_.write("thesis/notes.txt", "mine");
  const auto train = place_.train_arguments(place_ / "nodata", "thesis");
  for (const auto& more : {std::vector<std::string>{}, {"--resume"}}) {
    expect_refusal(place_.run(plus(train, more)),
                   {"thesis: expected a new or empty folder, or a run, got 1 other file or folder; try another --out"});
  }
  EXPECT_EQ(paths(place_ / "thesis").size(), 1U);
}

TEST_F(EarlyChecks, resuming_what_cannot_be) {
  trained();
  const auto base = place_.train_arguments(place_ / "nodata", "trained");
  expect_refusal(place_.run(plus(base, {"--resume", "--overwrite"})), {"--resume or --overwrite, got both"});
  fs::remove(place_ / "trained/checkpoints/resume.safetensors");
  expect_refusal(place_.run(plus(base, {"--resume"})), {"resume.safetensors", "--init", "--overwrite"});
}

TEST_F(EarlyChecks, a_second_trainer_in_the_same_folder) {
  const auto base = plus(place_.train_arguments(place_.synth("data", 80), "run"), {"--set", "train.epochs=100000"});
  Process first(base, place_.root());
  ASSERT_TRUE(first.wait_for_lines(place_ / "run/log.jsonl", 1));
  for (const char* how : {"--resume", "--overwrite"}) {
    expect_refusal(place_.run(plus(base, {how})), {"no other process trains in"});
  }
  EXPECT_TRUE(fs::exists(place_ / "run/recipe.toml"));
  first.signal(SIGKILL);
  static_cast<void>(first.wait());
  EXPECT_EQ(place_.run(plus(base, {"--overwrite", "--stop-after", "1"})).code, 3) << "a killed one holds nothing";
  EXPECT_FALSE(fs::exists(place_ / "run/lock"));
}

TEST_F(EarlyChecks, what_a_trace_should_hold_without_one) {
  for (const char* option : {"--trace-steps", "--trace-every", "--trace-ranks"}) {
    refused_train({option, "7"}, {": --trace is missing"});
  }
}

TEST_F(EarlyChecks, a_result_file_that_is_another_file_of_the_run) {
  const auto base = place_.train_arguments(place_ / "nodata", "run");
  const std::string recipe = base[2];
  const std::string before = read_all(recipe);
  refused_train({"--json", recipe}, {"--json", "got that of --recipe"});
  EXPECT_EQ(read_all(recipe), before);
  refused_train({"--json", place_ / "run/log.jsonl"}, {"the command itself writes"});
  refused_train({"--json", place_ / "run/checkpoints/best.safetensors"}, {"the command itself writes"});
}

TEST_F(EarlyChecks, a_run_folder_that_is_there_or_cannot_be) {
  trained();
  const auto before = paths(place_ / "trained");
  expect_refusal(place_.run(place_.train_arguments(place_ / "nodata", "trained")), {"trained", "--overwrite"});
  EXPECT_EQ(paths(place_ / "trained"), before);
  place_.write("file", "x");
  expect_refusal(place_.run(place_.train_arguments(place_ / "nodata", "file/run")), {"file/run", "a folder"});
}

TEST_F(EarlyChecks, an_overwritten_run_stays_while_its_successor_is_refused) {
  trained();
  const auto before = paths(place_ / "trained");
  expect_refusal(place_.run(plus(place_.train_arguments(place_ / "nodata", "trained"), {"--overwrite"})), {"nodata"});
  EXPECT_EQ(paths(place_ / "trained"), before);
}

TEST_F(EarlyChecks, bad_first_weights) {
  refused_train({"--init", place_ / "none.safetensors"}, {"none.safetensors"});
  refused_train({"--init", place_.write("cut.safetensors", "x")}, {"cut.safetensors", "a complete copy"});
  trained();
  const fs::path weights = place_ / "trained/checkpoints/best.safetensors";
  refused_train({"--init", weights, "--init-preset", "imagenet"}, {"--init-preset"});
  refused_train({"--init", weights, "--model", "resnet18"}, {"best.safetensors", "missing", "--partial"});
}

TEST_F(EarlyChecks, an_init_of_other_labels_is_fine) {
  trained();
  const fs::path weights = place_ / "trained/checkpoints/best.safetensors";
  place_.must_run(plus(place_.train_arguments(place_ / "data", "again"),
                       {"--init", weights, "--set", "train.epochs=1", "data.labels=Effusion"}));
}

TEST_F(EarlyChecks, a_resumed_run_with_another_recipe_names_both_values) {
  trained();
  expect_refusal(place_.run(plus(place_.train_arguments(place_ / "nodata", "trained"),
                                 {"--resume", "--set", "optimizer.lr=0.02"})),
                 {"optimizer.lr: expected 0.01, as at the start of the run, got 0.02", "--out"});
}

TEST_F(EarlyChecks, a_resumed_run_with_other_data_names_both_lists) {
  trained();
  const fs::path other = place_.synth("other", 40);
  expect_stop(place_.run(plus(place_.train_arguments(other, "trained"), {"--resume", "--set", "train.epochs=2"})),
              {"train: expected ", "images of", "as at the start of the run, got ", "the same --data"});
}

TEST_F(EarlyChecks, a_result_file_that_cannot_be_written) {
  const std::string lost = (place_ / "no/such/train.json").string();
  refused_train({"--json", lost}, {lost, "a folder that can be written to"});
  refused_train({"--json", place_ / "nodata/train.json"}, {"--json", "outside the data folder"});
  fs::create_directories(place_ / "folder");
  refused_train({"--json", place_ / "folder"}, {"got a folder"});
  refused_train({"--json", "/dev/full"}, {"got a device"});
}

TEST_F(EarlyChecks, a_result_file_may_lie_in_the_run_folder_to_be) {
  place_.must_run(plus(place_.train_arguments(place_.synth("data", 80), "run"),
                       {"--set", "train.epochs=1", "--json", place_ / "run/train.json"}));
  EXPECT_TRUE(fs::exists(place_ / "run/train.json"));
}

TEST_F(EarlyChecks, results_of_eval_stay_out_of_the_data) {
  trained();
  const auto before = paths(place_.root());
  const std::vector<std::string> eval{"eval", "--checkpoint", place_ / "trained/checkpoints/best.safetensors", "--data",
                                      place_ / "data"};
  const std::string preds = place_ / "trained/preds.csv";
  expect_refusal(place_.run(plus(eval, {"--preds", preds})), {preds + ", which belongs to a run"});
  for (const std::string option : {"--json", "--preds", "--aucs"}) {
    expect_refusal(place_.run(plus(eval, {option, place_ / "data/result"})), {option, "outside the data folder"});
    expect_refusal(place_.run(plus(eval, {option, place_ / "no/result"})),
                   {"no/result", "a folder that can be written to"});
    // The fault is found before the checkpoint is read.
    expect_refusal(
        place_.run({"eval", "--checkpoint", "none", "--data", place_ / "data", option, place_ / "no/result"}),
        {"no/result"});
  }
  EXPECT_EQ(paths(place_.root()), before);
}

TEST_F(EarlyChecks, eval_advises_what_eval_can_do) {
  trained();
  const fs::path weights = place_ / "trained/checkpoints/best.safetensors";
  const fs::path empty = place_.write("empty.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  expect_refusal(place_.run({"eval", "--checkpoint", empty, "--data", place_ / "data"}),
                 {"a file without a format", "; try best.safetensors of a run"});
  expect_refusal(place_.run(plus(place_.train_arguments(place_ / "data", "run"), {"--init", empty})),
                 {"; try --init-preset imagenet"});
  const fs::path image = place_.write("other/a.png", "x").parent_path();
  place_.write("other/labels.csv", "path,finding\na.png,1\n");
  expect_refusal(place_.run({"eval", "--checkpoint", weights, "--data", image, "--set", "data.source=csv", "--set",
                             "data.split=whole"}),
                 {"[data.labels]", "; try a data folder with the labels that the checkpoint knows"});
}

}  // namespace
}  // namespace roentgen::e2e
