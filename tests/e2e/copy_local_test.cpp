// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen copy-local: once, killed and restarted, and by two processes at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files[entry.path().lexically_relative(folder)] = read_all(entry.path());
  }
  return files;
}

std::string line_of(const Ended& run) { return run.out.substr(0, run.out.find('\n')); }

TEST(CopyLocal, gives_a_folder_that_trains_as_the_source_does) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  const Ended copied = place.must_run({"copy-local", data, place / "scratch", "--json", place / "copy.json"});
  const fs::path copy = line_of(copied);
  EXPECT_EQ(copy.filename(), "data");
  EXPECT_EQ(tree(copy), tree(data));
  EXPECT_EQ(read_json(place / "copy.json").at("folder").as_string(), copy.string());
  place.must_run(place.train_arguments(data, "there"));
  place.must_run(place.train_arguments(copy, "here"));
  expect_equal_tensors(place / "there/checkpoints/best.safetensors", place / "here/checkpoints/best.safetensors");
  place.must_run({"copy-local", data, place / "scratch", "--json", place / "copy.json"});
  EXPECT_EQ(read_json(place / "copy.json").at("copied_bytes").as_integer(), 0);
}

TEST(CopyLocal, goes_on_after_a_kill) {
  const Workplace place;
  const fs::path data = place / "data";
  for (int i = 0; i < 2000; ++i) {
    place.write("data/images/" + std::to_string(i) + ".png",
                std::string(static_cast<std::size_t>(20'000), static_cast<char>('a' + i % 26)));
  }
  const std::vector<std::string> copy{"copy-local", data,     place / "scratch",  "--workers",
                                      "1",          "--json", place / "copy.json"};
  int kills = 0;
  for (const int lines : {50, 400, 800}) {
    Process process(copy, place.root());
    if (!process.wait_for_lines(place / "scratch/.data.copy-local/journal", lines)) break;
    process.signal(SIGKILL);
    kills += process.wait().code == 128 + SIGKILL ? 1 : 0;
    EXPECT_TRUE(kills == 0 || !fs::exists(place / "scratch/data"));
  }
  EXPECT_GT(kills, 0);
  const Ended last = place.must_run(copy);
  EXPECT_EQ(tree(line_of(last)), tree(data));
  const Value json = read_json(place / "copy.json");
  EXPECT_LT(json.at("copied_bytes").as_integer(), json.at("bytes").as_integer());
}

TEST(CopyLocal, is_done_once_by_two_processes) {
  const Workplace place;
  const fs::path data = place.synth("data", 200);
  fs::create_directories(place / "a");
  fs::create_directories(place / "b");
  const auto copy = [&](const char* json) {
    return std::vector<std::string>{"copy-local", data, place / "scratch", "--json", place / json};
  };
  Process a(copy("a.json"), place / "a"), b(copy("b.json"), place / "b");
  const Ended first = a.wait(), second = b.wait();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(line_of(first), line_of(second));
  const Value one = read_json(place / "a.json"), other = read_json(place / "b.json");
  EXPECT_EQ(one.at("copied_bytes").as_integer() + other.at("copied_bytes").as_integer(), one.at("bytes").as_integer());
  EXPECT_EQ(tree(line_of(first)), tree(data));
}

TEST(CopyLocal, refuses_what_it_cannot_copy) {
  const Workplace place;
  const fs::path data = place.synth("data", 20);
  expect_refusal(place.run({"copy-local", place / "nowhere", place / "scratch"}), {"[io.copy]", "expected a folder"});
  expect_refusal(place.run({"copy-local", data, data / "copy"}), {"data"});
  expect_refusal(place.run({"copy-local", data, place.root()}), {"[io.copy]", "one folder inside the other"});
  place.write("scratch/data/mine.txt", "mine");
  expect_refusal(place.run({"copy-local", data, place / "scratch"}),
                 {"a folder of that name that copy-local did not make"});
}

}  // namespace
}  // namespace roentgen::e2e
