// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests `train --checkpoint-dir`, which first writes checkpoints to a local disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckpointDir : public testing::Test {
 protected:
  std::vector<std::string> train(std::string_view run, const std::vector<std::string>& more = {}) {
    if (data_.empty()) data_ = place_.synth("data", 80);
    return plus(place_.train_arguments(data_, run),
                plus({"--set", "train.checkpoint_steps=2", "--set", "train.keep_best=2"}, more));
  }
  std::vector<std::string> local(std::string_view run, const std::vector<std::string>& more = {}) {
    return train(run, plus({"--checkpoint-dir", place_ / "disk"}, more));
  }
  void expect_same_run(std::string_view left, std::string_view right) {
    for (const char* name : {"resume", "best"}) {
      const std::string file = std::string("checkpoints/") + name + ".safetensors";
      expect_equal_tensors(place_ / left / file, place_ / right / file);
    }
  }
  Workplace place_;
  fs::path data_;
};

TEST_F(CheckpointDir, leaves_the_run_folder_of_a_run_without_it) {
  place_.must_run(train("plain"));
  place_.must_run(local("run"));
  expect_same_run("run", "plain");
  expect_nothing_half_written(place_ / "run");
  EXPECT_TRUE(fs::is_empty(place_ / "disk")) << "all is copied";
  std::vector<std::string> names[2];
  for (const int i : {0, 1}) {
    for (const auto& entry : fs::directory_iterator(place_ / (i == 0 ? "run" : "plain") / "checkpoints")) {
      names[i].push_back(entry.path().filename());
    }
    std::ranges::sort(names[i]);
  }
  EXPECT_EQ(names[0], names[1]);
}

TEST_F(CheckpointDir, a_killed_run_resumes_to_the_same_bits) {
  place_.must_run(train("plain"));
  for (const int lines : {3, 9, 14}) {
    SCOPED_TRACE(lines);
    fs::remove_all(place_ / "run");
    Process process(local("run"), place_.root());
    EXPECT_TRUE(process.wait_for_lines(place_ / "run/log.jsonl", lines));
    process.signal(SIGKILL);
    static_cast<void>(process.wait());
    place_.must_run(local("run", {"--resume"}));
    expect_same_run("run", "plain");
    expect_nothing_half_written(place_ / "run");
    EXPECT_TRUE(fs::is_empty(place_ / "disk"));
  }
}

TEST_F(CheckpointDir, a_signal_copies_all_before_the_end) {
  Process process(local("run", {"--set", "train.epochs=4000"}), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "run/log.jsonl", 4));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().code, 3);
  EXPECT_TRUE(fs::is_empty(place_ / "disk"));
  const Ended rest = place_.run(train("run", {"--set", "train.epochs=4000", "--resume", "--stop-after", "1"}));
  EXPECT_EQ(rest.code, 3) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("resumed at step "));
}

TEST_F(CheckpointDir, is_refused_where_it_cannot_help) {
  expect_refusal(place_.run(train("run", {"--checkpoint-dir", place_ / "run/checkpoints"})),
                 {"--checkpoint-dir", "outside of --out"});
  expect_refusal(place_.run(train("run", {"--checkpoint-dir", data_ / "disk"})), {"--checkpoint-dir"});
  expect_stop(place_.run(train("run", {"--checkpoint-dir", place_.write("a_file", "x")})), {"--checkpoint-dir"});
  const std::string impossible = "/proc/roentgen_nowhere";
  for (const auto& [option, arguments] : {std::pair{"--checkpoint-dir", train("run", {"--checkpoint-dir", impossible})},
                                          std::pair{"--out", train(impossible)}}) {
    const Ended refused = place_.run(arguments);
    expect_refusal(refused, {impossible, "got /proc: ", std::string("another ") + option});
    EXPECT_EQ(refused.out.find("images, "), std::string::npos) << "data were read: " << refused.out;
  }
  EXPECT_FALSE(fs::exists(place_ / "run")) << "a run that fails before its first update leaves no folder";
}

}  // namespace
}  // namespace roentgen::e2e
