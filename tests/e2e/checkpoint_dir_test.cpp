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

TEST_F(CheckpointDir, a_run_never_takes_the_files_of_an_earlier_run) {
  const auto has_local_file = [this] {
    for (const auto& entry : fs::recursive_directory_iterator(place_ / "disk")) {
      if (entry.path().filename() == "resume.safetensors") return true;
    }
    return false;
  };
  Process process(local("run"), place_.root());
  EXPECT_TRUE(process.wait_for_lines(place_ / "run/log.jsonl", 9));
  process.signal(SIGKILL);
  static_cast<void>(process.wait());
  ASSERT_TRUE(has_local_file());
  const std::vector<std::string> other{"--set", "optimizer.lr=0.003"};
  EXPECT_EQ(place_.run(train("run", plus(other, {"--overwrite", "--stop-after", "1"}))).code, 3);
  const Ended resumed = place_.run(local("run", plus(other, {"--resume", "--stop-after", "2"})));
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed at step 1,"));
  EXPECT_THAT(resumed.err, HasSubstr("checkpoints of another run"));
  place_.must_run(local("run", plus(other, {"--overwrite"})));
  EXPECT_TRUE(fs::is_empty(place_ / "disk")) << "a new run removes the files of the earlier one";
}

TEST_F(CheckpointDir, a_run_without_id_resumes_from_its_own_folder_only) {
  Process process(local("run"), place_.root());
  EXPECT_TRUE(process.wait_for_lines(place_ / "run/log.jsonl", 9));
  process.signal(SIGKILL);
  static_cast<void>(process.wait());
  // Versions without ids named the local folder after the run's path alone.
  const fs::path folder = fs::directory_iterator(place_ / "disk")->path();
  const std::string name = folder.filename();
  fs::rename(folder, folder.parent_path() / name.substr(0, name.rfind('-')));
  place_.write("run/environment.json", "{}\n");
  const Ended resumed = place_.run(local("run", {"--resume"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("a version without run ids, are ignored"));
  EXPECT_THAT(read_all(place_ / "run/environment.json"), HasSubstr("run_id"));
  EXPECT_FALSE(fs::is_empty(place_ / "disk")) << "files of another run are kept";
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
