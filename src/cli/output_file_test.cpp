// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/file.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;
using data::message_of;
using data::TestFolder;
using testing::HasSubstr;

class OutputFile : public testing::Test {
 protected:
  std::vector<Option> options() {
    return {{.name = "--in", .target = &in_, .doc = ""},
            {.name = "--model", .target = &model_, .doc = ""},
            {.name = "--a", .target = &a_, .doc = "", .is_output = true},
            {.name = "--b", .target = &b_, .doc = "", .is_output = true}};
  }
  std::string refusal(const Folders& folders = {}) {
    return message_of<ConfigError>([&] { check_apart(options(), folders); });
  }

  TestFolder folder_;
  fs::path in_;
  std::string model_;
  fs::path a_;
  fs::path b_;
};

TEST_F(OutputFile, is_no_input_and_no_other_output) {
  in_ = folder_.write("in.toml", "x");
  fs::create_symlink(in_, folder_.path() / "link");
  a_ = folder_.path() / "link";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--a "), HasSubstr("got that of --in")));
  a_ = folder_.path() / "none/../x.json";
  b_ = folder_.path() / "x.json";
  EXPECT_THAT(refusal(), HasSubstr("got that of --b"));
}

TEST_F(OutputFile, is_no_file_that_a_text_names) {
  a_ = folder_.write("net.txt", "x");
  model_ = a_.string();
  EXPECT_THAT(refusal(), HasSubstr("got that of --model"));
  model_ = "resnet18";
  a_ = "resnet18";  // name of a network, although a file of that name exists
  EXPECT_NO_THROW(check_apart(
      {{.name = "--model", .target = &model_, .doc = ""}, {.name = "--a", .target = &a_, .doc = "", .is_output = true}},
      {}));
}

TEST_F(OutputFile, is_no_file_that_a_list_names) {
  a_ = folder_.write("preds.csv", "x");
  std::vector<std::string> files{"none.csv", a_.string()};
  EXPECT_THAT(message_of<ConfigError>([&] {
                check_apart({{.name = "--predictions", .target = &files, .doc = ""},
                             {.name = "--a", .target = &a_, .doc = "", .is_output = true}},
                            {});
              }),
              HasSubstr("got that of --predictions"));
}

TEST_F(OutputFile, is_none_of_the_files_the_command_writes) {
  const fs::path run = folder_.path() / "run";
  const Folders folders{.data = {}, .made = run, .own = {run / "log.jsonl", run / "checkpoints"}};
  for (const char* name : {"log.jsonl", "checkpoints", "checkpoints/best.safetensors"}) {
    a_ = run / name;
    EXPECT_THAT(refusal(folders), HasSubstr("the command itself writes")) << name;
  }
}

TEST_F(OutputFile, is_no_part_of_a_run_that_is_read_and_none_of_its_data) {
  const fs::path run = folder_.path() / "run";
  const fs::path data = folder_.path() / "data";
  folder_.write("run/recipe.toml", "");
  folder_.write("run/data_folders.txt", "a=" + data.string() + "\n");
  const Folders folders{.data = {}, .made = {}, .runs = run_of(run / "checkpoints/best.safetensors")};
  ASSERT_EQ(folders.runs, Paths{run});
  for (const char* name : {"recipe.toml", "preds.csv", "checkpoints/new.onnx"}) {
    a_ = run / name;
    EXPECT_THAT(refusal(folders), HasSubstr("which belongs to a run")) << name;
  }
  a_ = data / "report.html";
  EXPECT_THAT(refusal(folders), HasSubstr("a path outside the data folder"));
  a_ = run / "report.html";
  EXPECT_NO_THROW(check_apart(options(), folders));
  EXPECT_TRUE(run_of(folder_.path() / "best.safetensors").empty());
  EXPECT_TRUE(run_of(folder_.path() / "other/checkpoints/best.safetensors").empty());
}

TEST_F(OutputFile, checking_touches_nothing) {
  folder_.write("y.json.tmp", "mine");
  folder_.write("y.json", "old");
  check_output_file("--json", folder_.path() / "y.json", {});
  EXPECT_EQ(io::read_text(folder_.path() / "y.json.tmp").or_throw(), "mine");
  EXPECT_EQ(io::read_text(folder_.path() / "y.json").or_throw(), "old");
  for (const char* bad : {"none/y.json", "y.json/z.json"}) {
    EXPECT_THAT(message_of<DataError>([&] { check_output_file("--json", folder_.path() / bad, {}); }),
                HasSubstr("a folder that can be written to"))
        << bad;
  }
}

}  // namespace
}  // namespace roentgen::cli
