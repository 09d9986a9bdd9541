// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen eval --list: results on a list of images, the name of the list, and comparison with published results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "io/sha256.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream text(read_all(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines, std::string_view behind = "") {
  std::string text;
  for (const std::string& line : lines) text += line + std::string(behind) + "\n";
  return text;
}

class EvalList : public testing::Test {
 protected:
  EvalList() : data_(place_.synth("data", 240)) {
    place_.must_run(plus(place_.train_arguments(data_, "run"), {"--set", "train.epochs=1"}));
    test_ = lines_of(data_ / "test_list.txt");
  }
  [[nodiscard]] std::vector<std::string> eval(const std::vector<std::string>& more) const {
    return plus(
        {"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", data_, "--replicates", "20"},
        more);
  }

  Workplace place_;
  fs::path data_;
  std::vector<std::string> test_;
};

TEST_F(EvalList, takes_the_images_of_a_file) {
  place_.must_run(eval({"--json", place_ / "split.json", "--preds", place_ / "preds.csv"}));
  // List in the format of the community: labels after each name, in another order.
  const fs::path whole = place_.write("whole.txt", joined({test_.rbegin(), test_.rend()}, " 0 1 0"));
  const Ended run = place_.must_run(eval({"--list", whole, "--json", place_ / "list.json"}));
  EXPECT_THAT(run.out, HasSubstr("list whole.txt: " + std::to_string(test_.size()) + " images of "));
  EXPECT_THAT(run.out, HasSubstr("leak check: none of "));
  const Value list = read_json(place_ / "list.json");
  EXPECT_EQ(list.at("auroc"), read_json(place_ / "split.json").at("auroc"));
  EXPECT_EQ(list.at("split").at("name"), Value("list"));
  EXPECT_EQ(list.at("split").at("list_sha256"), Value(io::name_list_sha256(test_)));

  // A part of the list, and the same part of the predictions.
  const fs::path part = place_.write("part.txt", joined({test_.begin(), test_.begin() + 20}));
  place_.must_run(eval({"--list", part, "--json", place_ / "part.json"}));
  place_.must_run({"eval", "--predictions", place_ / "preds.csv", "--labels", data_ / "Data_Entry_2017_v2020.csv",
                   "--list", part, "--replicates", "20", "--json", place_ / "rows.json"});
  EXPECT_EQ(read_json(place_ / "part.json").at("split").at("images"), Value(20));
  EXPECT_EQ(read_json(place_ / "part.json").at("auroc"), read_json(place_ / "rows.json").at("auroc"));
  EXPECT_EQ(read_json(place_ / "part.json").at("label_version"), read_json(place_ / "rows.json").at("label_version"));
}

TEST_F(EvalList, names_the_version_of_the_labels) {
  const Ended run = place_.must_run(eval({"--json", place_ / "eval.json"}));
  const std::string sha = io::sha256_hex(read_all(data_ / "Data_Entry_2017_v2020.csv"));
  EXPECT_THAT(run.out, HasSubstr("labels: Data_Entry_2017_v2020.csv, sha256 " + sha.substr(0, 12) + "\n"));
  const Value json = read_json(place_ / "eval.json");
  const Value& version = json.at("label_version");
  EXPECT_EQ(version.at("csv").as_array()[0].at("sha256"), Value(sha));
  for (const auto& [label, row] : json.at("auroc").at("labels").as_table()) {
    EXPECT_EQ(version.at("positives").at(label), row.at("positives")) << label;
  }
}

TEST_F(EvalList, is_not_what_was_trained_on) {
  std::vector<std::string> names = test_;
  const std::vector<std::string> other = lines_of(data_ / "train_val_list.txt");
  names.insert(names.end(), other.begin(), other.end());
  const fs::path all = place_.write("all.txt", joined(names));
  expect_stop(place_.run(eval({"--list", all})), {"no patient of the training set"});
  const Ended run = place_.must_run(eval({"--list", all, "--allow-overlap"}));
  EXPECT_THAT(run.err, HasSubstr("no patient of the training set"));
  EXPECT_THAT(run.out, HasSubstr("list all.txt: 240 images"));
}

// A radiograph occurs twice in the data, under two names and patients. No list of names would show it.
TEST_F(EvalList, has_no_picture_that_was_trained_on) {
  EXPECT_THAT(place_.must_run(eval({})).out, HasSubstr("pixel check: none of "));
  const std::vector<std::string> others = lines_of(data_ / "train_val_list.txt");
  for (std::size_t i = 0; i < 40; ++i) {  // one of them is no validation image
    fs::copy_file(data_ / "images" / others[i], data_ / "images" / test_[i], fs::copy_options::overwrite_existing);
  }
  const Ended refused = place_.run(eval({}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected no image of the training set, got "));
  EXPECT_THAT(refused.err, HasSubstr("test images with the pixels of one of the "));
  EXPECT_THAT(refused.out, Not(HasSubstr("Cardiomegaly"))) << "no figure is seen";
  EXPECT_THAT(place_.must_run(eval({"--allow-overlap"})).err, HasSubstr("with the pixels of one of the "));
}

TEST_F(EvalList, is_published_by_its_hash_alone) {
  const std::string count = std::to_string(test_.size());
  expect_stop(place_.run(eval({"--list", "official"})),
              {"--list official: expected the 25596 images of the NIH official test list (list 3d0c44b6",
               "got " + count + " images in test_list.txt (list "});
  const Ended run = place_.must_run(eval({"--preds", place_ / "preds.csv", "--json", place_ / "eval.json"}));
  EXPECT_THAT(run.out, HasSubstr("(not a published list)"));
  EXPECT_THAT(run.out, Not(HasSubstr("CheXNet")));
  EXPECT_EQ(read_json(place_ / "eval.json").find("published"), nullptr);
  EXPECT_TRUE(read_json(place_ / "eval.json").at("split").at("known_list").is_null());
  expect_refusal(
      place_.run({"eval", "--predictions", place_ / "preds.csv", "--labels", data_ / "Data_Entry_2017_v2020.csv",
                  "--list", "nih-community-test"}),
      {"the 22433 images of the community random split of NIH: test", "got " + count + " images in preds.csv"});
  fs::remove(data_ / "test_list.txt");
  fs::remove(data_ / "train_val_list.txt");
  expect_stop(place_.run(eval({"--list", "official"})), {"got no test_list.txt in the data folder"});
}

TEST_F(EvalList, refuses_what_it_cannot_take_whole) {
  const fs::path more = place_.write("more.txt", joined(test_) + "00099999_000.png\n");
  expect_stop(place_.run(eval({"--list", more})),
              {"list more.txt: expected each of its " + std::to_string(test_.size() + 1) + " images in the data folder",
               "got 1 image missing"});
  expect_refusal(place_.run(eval({"--list", more, "--split", "val"})), {"--list or --split, got both"});
  expect_stop(place_.run(eval({"--list", place_ / "none.txt"})),
              {"official, nih-official-train-val", "got no such file"});
  expect_refusal(place_.run(eval({"--list", more, "--json", more})), {"got that of --list"});
}

}  // namespace
}  // namespace roentgen::e2e
