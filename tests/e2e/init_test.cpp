// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen init on typical folders, and training with the recipe that it writes. Also tests the lists of built-in
// models and recipes.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"
#include "io/jpeg_writer.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Init : public ::testing::Test {
 protected:
  // Paths of `count` synthetic images.
  std::vector<fs::path> drawn(int count) {
    std::vector<fs::path> images;
    for (const auto& entry : fs::recursive_directory_iterator(place_.synth("drawn", count) / "images")) {
      if (entry.path().extension() == ".png") images.push_back(entry.path());
    }
    std::ranges::sort(images);
    return images;
  }
  [[nodiscard]] Ended init(const fs::path& data) const {
    return place_.must_run({"init", data, "--out", place_ / "recipe.toml", "--json", place_ / "init.json"});
  }
  // Trains one epoch with the recipe that init wrote.
  void train(const fs::path& data) const {
    place_.must_run({"train", "--recipe", place_ / "recipe.toml", "--data", data, "--out", place_ / "run", "--set",
                     "train.epochs=1", "--set", "train.threads=1"});
    EXPECT_TRUE(fs::exists(place_ / "run/checkpoints/best.safetensors"));
  }

  Workplace place_;
};

TEST_F(Init, proposes_a_recipe_for_a_known_data_set_that_trains) {
  const fs::path data = place_.synth("nih", 60);
  const Ended run = init(data);
  EXPECT_THAT(run.out, AllOf(HasSubstr("source    nih"), HasSubstr("network   resnet18, 32 px"), HasSubstr("limit"),
                             HasSubstr("roentgen train --recipe")));
  const std::string recipe = read_all(place_ / "recipe.toml");
  EXPECT_THAT(recipe, AllOf(HasSubstr("source = \"nih\""), HasSubstr("# Time    about"), HasSubstr("epochs = 40")));
  const Value json = read_json(place_ / "init.json");
  EXPECT_GT(json.at("images_per_s").as_double(), 0.0);
  EXPECT_EQ(json.at("next").as_array().size(), 3U);
  train(data);
}

TEST_F(Init, reads_a_table_with_semicolons_of_png_jpeg_and_dicom_files) {
  if (!data::dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << data::dicom_support().text;
  const std::vector<fs::path> images = drawn(40);
  std::string table = "image;patient_id;view;diagnosis\n";
  for (int i = 0; i < 60; ++i) {
    std::string name = fmt::format("im/scan{}", i);
    if (i < 40) {
      name += ".png";
      place_.write("ours/" + name, read_all(images[static_cast<std::size_t>(i)]));
    } else if (i < 50) {
      name += ".jpg";
      const std::vector<std::uint8_t> gray(48 * 40, static_cast<std::uint8_t>(4 * i));
      const auto bytes = io::encode_jpeg({.width_px = 48, .height_px = 40, .pixels = gray}, 90);
      place_.write("ours/" + name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } else {
      data::TestDicom dicom{.width_px = 40, .height_px = 40, .samples = {}};
      dicom.samples.assign(1600, static_cast<std::uint16_t>(50 * i));
      name += ".dcm";
      place_.write("ours/" + name, data::encode_test_dicom(dicom));
    }
    const std::string diagnosis = i % 3 == 0 ? "Normal" : i % 3 == 1 ? "Pneumonia" : "\"Effusion, left\"";
    table += fmt::format("{};HOSPITAL-{};{};{}\n", name, i / 2, i % 5 == 0 ? "LATERAL" : "PA", diagnosis);
  }
  place_.write("ours/findings.csv", table);
  const Ended run = init(place_ / "ours");
  const std::string recipe = read_all(place_ / "recipe.toml");
  EXPECT_THAT(recipe, AllOf(HasSubstr("csv = [\"findings.csv\"]"),
                            HasSubstr("labels = [\"diagnosis:Effusion, left\", \"diagnosis:Pneumonia\"]"),
                            HasSubstr("Patients: column patient_id"), HasSubstr("views = [\"frontal\"]"),
                            HasSubstr("intensity = \"voi\""), HasSubstr("Normal means that all labels are absent")));
  EXPECT_THAT(run.out + run.err + recipe, AllOf(Not(HasSubstr("HOSPITAL")), Not(HasSubstr("scan"))))
      << "no patient and no image is named";
  train(place_ / "ours");
}

TEST_F(Init, takes_folders_as_classes_and_warns_of_leaks) {
  const std::vector<fs::path> images = drawn(60);
  for (std::size_t i = 0; i < images.size(); ++i) {
    place_.write(fmt::format("ours/{}/x{}.png", i % 2 == 0 ? "NORMAL" : "PNEUMONIA", i), read_all(images[i]));
  }
  const Ended run = init(place_ / "ours");
  EXPECT_THAT(run.out, HasSubstr("check     no patient is known, so the split is drawn by image"));
  EXPECT_THAT(read_all(place_ / "recipe.toml"),
              AllOf(HasSubstr("labels = [\"PNEUMONIA\"]"), HasSubstr("split_unit = \"image\""), HasSubstr("a leak")));
  train(place_ / "ours");
}

TEST_F(Init, keeps_the_rows_of_train_csv_and_test_csv_apart_in_all_commands) {
  const std::vector<fs::path> images = drawn(40);
  std::string train_rows = "path,patient,sick\n", test_rows = train_rows;
  for (std::size_t i = 0; i < images.size(); ++i) {
    place_.write(fmt::format("ours/x{}.png", i), read_all(images[i]));
    (i < 24 ? train_rows : test_rows) += fmt::format("x{}.png,p{},{}\n", i, i, i % 2);
  }
  place_.write("ours/train.csv", train_rows);
  place_.write("ours/test.csv", test_rows);
  const fs::path ours = place_ / "ours";
  const std::string origin = "names of the tables: test.csv for test, train.csv for train";
  EXPECT_THAT(place_.must_run({"inspect", "--data", ours, "--no-files"}).out, HasSubstr(origin));
  static_cast<void>(init(ours));
  EXPECT_THAT(read_all(place_ / "recipe.toml"), HasSubstr(origin));
  train(ours);
  place_.must_run({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", ours, "--split",
                   "test", "--threads", "1", "--preds", place_ / "preds.csv"});
  const std::string preds = read_all(place_ / "preds.csv");
  EXPECT_EQ(std::ranges::count(preds, '\n'), 1 + 16);
  EXPECT_THAT(preds, AllOf(HasSubstr("x24.png"), Not(HasSubstr("x23.png"))));
  place_.write("ours/more.csv", train_rows);
  const fs::path second = place_ / "second";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"inspect", "--data", ours.string()},
                                                  {"init", ours.string(), "--out", second.string()},
                                                  {"train", "--recipe", "default", "--data", ours.string(), "--out",
                                                   second.string(), "--set", "data.labels=[\"sick\"]"}}) {
    expect_refusal(place_.run(command), {"[data.csv] names of the tables", "more.csv for none", "--set data.csv=FILE",
                                         "--set data.split=random"});
  }
}

TEST_F(Init, admits_images_that_it_could_not_read_and_trains_on_the_others) {
  const std::vector<fs::path> images = drawn(40);
  std::string table = "path,patient,sick,split\n";
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string bytes = read_all(images[i]);
    // The header is intact, so that only decoding finds the damage.
    place_.write(fmt::format("ours/x{}.png", i), i == 3 ? bytes.substr(0, bytes.size() / 2) : bytes);
    table += fmt::format("x{}.png,p{},{},{}\n", i, i, i % 2, i < 30 ? "train" : i < 35 ? "val" : "test");
  }
  place_.write("ours/labels.csv", table);
  EXPECT_THAT(init(place_ / "ours").out, HasSubstr("check     1 image cannot be read; roentgen inspect --broken"));
  EXPECT_THAT(read_all(place_ / "recipe.toml"), AllOf(HasSubstr("max_bad = 0.034\n"), HasSubstr("# Check   1 image")));
  train(place_ / "ours");
  expect_refusal(place_.run({"eval", "--checkpoint", place_ / "run", "--data", place_ / "ours"}),
                 {"run: expected a checkpoint file, got a folder; try", "checkpoints/best.safetensors"});
}

TEST_F(Init, refuses_what_it_cannot_propose_for_in_one_line) {
  const std::vector<fs::path> images = drawn(4);
  for (std::size_t i = 0; i < images.size(); ++i) {
    place_.write(fmt::format("ours/x{}.png", i), read_all(images[i]));
  }
  const fs::path ours = place_ / "ours", out = place_ / "recipe.toml";
  expect_refusal(place_.run({"init", ours, "--out", out}),
                 {"[task.init]", "images with labels", "4 images and no table", "labels.csv"});
  place_.write("ours/table.csv", "path,site,side\nx0.png,a,l\nx1.png,b,r\nx2.png,a,l\nx3.png,b,r\n");
  expect_refusal(place_.run({"init", ours, "--out", out}),
                 {"[task.init] table.csv", "columns path, site, side", "--set data.labels=site:VALUE"});
  expect_refusal(place_.run({"init", place_ / "none", "--out", out}), {"[data.source]", "no such folder"});
  expect_refusal(place_.run({"init", ours, "--out", ours / "recipe.toml"}), {"recipe.toml", "outside"});
  expect_refusal(place_.run({"init", ours, "--out", out, "--set", "train.epochs=3"}), {"a key of [data]"});
  place_.write("ours/table.csv", "path,mrn,sick\ny0,a,1\ny1,b,0\n");
  expect_refusal(place_.run({"init", ours, "--out", out}), {"[data.source] table.csv", "none of them (y0, y1)"});
  expect_refusal(place_.run({"init", ours, "--out", out, "--set", "data.csv=table.csv", "data.patient=PID"}),
                 {"[data.csv] data.patient", "a column of table.csv", "path, mrn, sick"});
  EXPECT_FALSE(fs::exists(out));
  place_.write("recipe.toml", "mine");
  expect_refusal(place_.run({"init", ours, "--out", out}), {"recipe.toml: expected a new file", "an existing file"});
  EXPECT_EQ(read_all(out), "mine");
}

TEST(BuiltIn, recipes_and_models_are_listed_printed_and_used_by_name) {
  const Workplace place;
  EXPECT_THAT(place.must_run({"recipes", "--json", place / "r.json"}).out, HasSubstr("quickstart    "));
  EXPECT_GE(read_json(place / "r.json").at("recipes").as_array().size(), 15U);
  const std::string text = place.must_run({"recipes", "default"}).out;
  place.write("mine.toml", text);
  EXPECT_EQ(place.must_run({"schedule", "--recipe", "default"}).out,
            place.must_run({"schedule", "--recipe", place / "mine.toml"}).out);
  expect_refusal(place.run({"recipes", "defalt"}), {"[task.recipe] defalt", "try default"});
  EXPECT_THAT(place.must_run({"models", "--json", place / "m.json"}).out, HasSubstr("densenet121         7.0 M"));
  EXPECT_EQ(read_json(place / "m.json").at("models").as_array().front().at("name").as_string(), "resnet18");
}

}  // namespace
}  // namespace roentgen::e2e
