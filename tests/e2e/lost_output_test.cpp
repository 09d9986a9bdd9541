// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests outputs that cannot be written to: lost results are an error, lost progress is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

// Runs the program with redirections of a shell.
Ended run_with(const Workplace& place, const std::string& redirections, const std::vector<std::string>& arguments) {
  Process process(arguments, place.root(), {"/bin/sh", "-c", "exec \"$@\" " + redirections, "sh"});
  return process.wait();
}

TEST(LostOutput, of_results_is_an_error_that_names_the_cause) {
  const Workplace place;
  for (const char* model : {"resnet18", "resnet50"}) {  // one text fits the output buffer, the other does not
    const Ended run = run_with(place, ">/dev/full", {"inspect", "--model", model, "--print"});
    EXPECT_EQ(run.code, 2) << model;
    EXPECT_THAT(run.err,
                HasSubstr("standard output: expected space for the whole result, got No space left on device"));
  }
  EXPECT_EQ(run_with(place, ">&-", {"--help"}).code, 2) << "closed before";
}

TEST(LostOutput, of_errors_keeps_the_exit_code) {
  const Workplace place;
  EXPECT_EQ(run_with(place, "2>/dev/full", {"inspect", "--data", "/nonexistent"}).code, 2);
  EXPECT_EQ(run_with(place, "2>/dev/full", {"--nosuch"}).code, 2);
  EXPECT_EQ(run_with(place, "2>&-", {"--nosuch"}).code, 2);
}

TEST(LostOutput, at_the_limit_of_a_files_size_is_an_error_that_leaves_no_part_of_it) {
  const Workplace place;
  Process process({"inspect", "--model", "resnet152", "--plan", "--json", "plan.json"}, place.root(),
                  {"/bin/sh", "-c", "ulimit -f 2; exec \"$@\"", "sh"});
  const Ended run = process.wait();
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("File too large"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place.root())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr(".tmp")));
  }
}

TEST(LostOutput, of_progress_ends_no_training) {
  const Workplace place;
  const auto data = place.synth("data", 24);
  EXPECT_EQ(run_with(place, "2>/dev/full", place.train_arguments(data, "run")).code, 0);
  EXPECT_TRUE(std::filesystem::exists(place / "run/checkpoints/best.safetensors"));
}

}  // namespace
}  // namespace roentgen::e2e
