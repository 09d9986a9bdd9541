// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/data_look.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "core/folder_testing.h"
#include "io/png_writer.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Fixture with a folder of 24 images of 8 x 8 pixels: a0.png to a23.png.
class DataLookTest : public testing::Test {
 protected:
  DataLookTest() {
    for (int i = 0; i < 24; ++i) write_image(fmt::format("a{}.png", i));
  }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  void write_image(const std::string& name) const {
    const std::vector<std::byte> pixels(64, std::byte{100});
    const auto bytes = io::encode_png({.width_px = 8, .height_px = 8, .pixels = pixels});
    write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// Writes a table with this header; `row` makes its rows.
  template <typename Row>
  void write_table(const std::string& name, const std::string& header, const Row& row) const {
    std::string text = header + "\n";
    for (int i = 0; i < 24; ++i) text += row(i) + "\n";
    write(name, text);
  }
  [[nodiscard]] DataLook look(data::SourceOptions asked = {}) const {
    asked.root = folder_.path();
    return look_at_data(asked);
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(look());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(DataLookTest, takes_columns_that_tell_images_apart_and_keeps_patients_apart) {
  write_table("labels.csv", "path,patient,sick,all,old",
              [](int i) { return fmt::format("a{}.png,p{},{},1,{}", i, i / 2, i % 2, i == 0 ? 1 : 0); });
  const DataLook found = look();
  EXPECT_EQ(found.source.source, "csv");
  EXPECT_THAT(found.source.csv, IsEmpty());
  EXPECT_THAT(found.dataset.label_names, ElementsAre("sick", "old"));
  EXPECT_EQ(found.patient_from, "column patient");
  EXPECT_EQ(found.source.split.unit, data::SplitUnit::Patient);
  EXPECT_GT(found.dataset.summary(data::Split::Test).images, 0);
  EXPECT_EQ(found.census.images, 24);
  EXPECT_THAT(found.doubts, Contains(HasSubstr("because all images have the same value: all")));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("labels with fewer than 10 positive or negative images: old")));
}

TEST_F(DataLookTest, reads_a_folder_by_a_relative_path) {
  write_table("labels.csv", "path,patient,sick", [](int i) { return fmt::format("a{}.png,p{},{}", i, i / 2, i % 2); });
  data::SourceOptions asked;
  asked.root = fs::relative(folder_.path());
  EXPECT_THAT(look_at_data(asked).dataset.label_names, ElementsAre("sick"));
}

TEST_F(DataLookTest, joins_tables_of_one_header_and_names_the_others) {
  write_table("a.csv", "file;sick", [](int i) { return fmt::format("a{}.png;{}", i % 12, i % 2); });
  write_table("b.csv", "file;sick", [](int i) { return fmt::format("a{}.png;{}", 12 + i % 12, i % 2); });
  write_table("c.csv", "file;age", [](int i) { return fmt::format("a{}.png;{}", i, 40 + i); });
  data::SourceOptions asked;
  asked.duplicates = data::Duplicates::First;
  const DataLook found = look(asked);
  EXPECT_THAT(found.source.csv, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(found.dataset.samples.size(), 24U);
  EXPECT_EQ(found.source.split.unit, data::SplitUnit::Image);
  EXPECT_THAT(found.doubts, Contains(HasSubstr("read as one table")));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("not read: c.csv")));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("no patient is known, so the split is drawn by image")));
}

TEST_F(DataLookTest, counts_images_whose_heads_are_broken) {
  write_table("labels.csv", "path,patient,sick", [](int i) { return fmt::format("a{}.png,p{},{}", i, i / 2, i % 2); });
  write("a5.png", "no image");
  EXPECT_THAT(look().unreadable, ElementsAre(5U));
}

TEST_F(DataLookTest, keeps_frontal_views_where_there_are_others) {
  const auto row = [](const char* other) {
    return [other](int i) { return fmt::format("a{}.png,{},{},{}", i, i, i % 2, i % 3 == 0 ? other : "PA"); };
  };
  write_table("labels.csv", "path,patient,sick,view", row("LL"));
  const DataLook found = look();
  EXPECT_THAT(found.source.views, ElementsAre("frontal"));
  EXPECT_EQ(found.dataset.samples.size(), 16U);
  write_table("labels.csv", "path,patient,sick,view", row("AP"));
  EXPECT_THAT(look().source.views, IsEmpty());
}

TEST_F(DataLookTest, refuses_images_that_say_nothing_of_findings) {
  EXPECT_THAT(refusal(), HasSubstr("expected images with labels, got 24 images and no table that lists them; try"));
  write("Befunde.XLSX", "PK");
  EXPECT_THAT(refusal(), HasSubstr("(Befunde.XLSX cannot be read); try saving the spreadsheet as labels.csv"));
  write_table("mine.csv", "img,sick", [](int i) { return fmt::format("b{}.png,{}", i, i % 2); });
  EXPECT_THAT(refusal(), HasSubstr("24 images and no table that lists them (mine.csv has columns img, sick); try "
                                   "--set data.image=COLUMN with the column of image files; no column names"));
  fs::remove(folder_.path() / "mine.csv");
  write("labels.csv", "path,patient,sick\na0.png,p0,0\n");
  EXPECT_THAT(refusal(),
              HasSubstr("labels.csv: expected several rows, of images with and without a label, got one row; try a"));
  write_table("labels.csv", "path,patient", [](int i) { return fmt::format("a{}.png,p{}", i, i); });
  EXPECT_THAT(refusal(), HasSubstr("[task.init] labels.csv: expected a column of 1 and 0, or of class names"));
  write_table("labels.csv", "path,patient,sick", [](int i) { return fmt::format("a{}.png,p{},1", i, i); });
  EXPECT_THAT(refusal(),
              HasSubstr("a label with positive and negative images, got only labels with a single value: sick"));
}

TEST_F(DataLookTest, takes_the_column_whose_values_name_image_files) {
  write_table("mine.csv", "Nr;Bild;patient;sick",
              [](int i) { return fmt::format("{};a{}.png;p{};{}", i, i == 7 ? 99 : i, i / 2, i % 2); });
  data::SourceOptions asked;
  asked.absent = data::Absent::Skip;
  const DataLook found = look(asked);
  EXPECT_EQ(found.source.image, "Bild");
  EXPECT_EQ(found.source.source, "csv");
  EXPECT_THAT(found.dataset.label_names, ElementsAre("sick"));
  EXPECT_THAT(found.doubts,
              Contains("image files are read from column Bild of mine.csv, because 23 of 24 examined rows "
                       "name existing files; to use another column, set data.image"));
  asked.csv = {"mine.csv"};
  EXPECT_EQ(look(asked).source.image, "Bild");
  write_table("labels.csv", "path;patient;sick", [](int i) { return fmt::format("a{}.png;p{};{}", i, i / 2, i % 2); });
  EXPECT_EQ(look().source.image, "") << "a table with a usual column";
}

TEST_F(DataLookTest, leaves_folders_of_classes_with_a_table_without_labels) {
  for (int i = 0; i < 24; ++i) {
    write_image(fmt::format("{}/b{}.png", i % 2 == 0 ? "sick" : "normal", i));
    fs::remove(folder_.path() / fmt::format("a{}.png", i));
  }
  write_table("sums.csv", "img,sum", [](int i) { return fmt::format("b{}.png,{}x", i, i); });
  const DataLook found = look();
  EXPECT_EQ(found.source.source, "class_folders");
  EXPECT_EQ(found.source.image, "");
  write_table("sums.csv", "img,old", [](int i) { return fmt::format("b{}.png,{}", i, i % 3 == 0 ? 1 : 0); });
  EXPECT_EQ(look().source.image, "img");
}

TEST_F(DataLookTest, asks_which_of_two_columns_names_the_images) {
  write_table("labels.csv", "Bild,name,sick", [](int i) { return fmt::format("a{0}.png,a{0},{1}", i, i % 2); });
  EXPECT_THAT(refusal(), HasSubstr("expected one column that names image files, got Bild of labels.csv, name of "
                                   "labels.csv; try --set data.image=Bild or another of them"));
}

TEST_F(DataLookTest, lists_labels_that_may_be_no_findings) {
  write_table("labels.csv", "path,patient,male,Pleural Effusion",
              [](int i) { return fmt::format("a{}.png,p{},{},{}", i, i, i % 2, i % 3 == 0 ? 1 : 0); });
  EXPECT_THAT(look().doubts,
              Contains("columns of 1 and 0 are used as labels: male; if one of them is no finding, remove "
                       "it from data.labels"));
  write_table("labels.csv", "path,patient,cause",
              [](int i) { return fmt::format("a{}.png,p{},{}", i, i, i % 3 == 0 ? "virus" : "bacteria"); });
  const DataLook found = look();
  EXPECT_THAT(found.dataset.label_names, ElementsAre("cause:virus"));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("so only the rarer is a label: cause:virus; for the other one, set "
                                               "data.labels = [\"cause:bacteria\"]")));
}

TEST_F(DataLookTest, counts_unknown_labels_and_names_columns_that_are_not_used) {
  write_table("labels.csv", "path,patient,sick,old,mark", [](int i) {
    return fmt::format("a{}.png,p{},{},{},{}", i, i / 2, i % 6 == 0 ? "none" : std::to_string(i % 2),
                       i == 5 ? "?" : std::to_string(i % 2), i % 3 == 0 ? "x" : "");
  });
  const DataLook found = look();
  EXPECT_THAT(found.dataset.label_names, ElementsAre("sick"));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("images with an unknown label")));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("or -1), of 24 images: sick 4; data.blank = \"negative\"")));
  EXPECT_THAT(found.doubts,
              Contains(HasSubstr("other than 1, 0, -1, yes and no are not used as labels: old (line 7)")));
  EXPECT_THAT(found.doubts, Contains(HasSubstr("with one text and empty fields are not used as labels: mark")));
}

TEST_F(DataLookTest, warns_of_labels_with_only_one_class_in_a_split) {
  write_table("labels.csv", "path,patient,split,sick", [](int i) {
    return fmt::format("a{}.png,p{},{},{}", i, i, i < 16 ? "train" : i < 20 ? "val" : "test", i < 20 ? i % 2 : 1);
  });
  const DataLook found = look();
  EXPECT_THAT(found.doubts, Contains(HasSubstr("labels with only one class in the test images: sick")));
  EXPECT_THAT(found.doubts, testing::Not(Contains(HasSubstr("in the validation images"))));
}

TEST_F(DataLookTest, names_the_line_of_a_typo_and_the_candidates_among_class_columns) {
  write_table("labels.csv", "path,patient,sick",
              [](int i) { return fmt::format("a{}.png,p{},{}", i, i, i == 3 ? "l" : std::to_string(i % 2)); });
  EXPECT_THAT(refusal(), HasSubstr("got columns path, patient, sick; other text in sick (line 5); try correcting"));
  write_table("labels.csv", "path,patient,sick,cause", [](int i) {
    return fmt::format("a{}.png,p{},{},{}", i, i, i == 3 ? "l" : std::to_string(i % 2), i % 2 ? "virus" : "bacteria");
  });
  EXPECT_THAT(refusal(), HasSubstr("other text in sick (line 5)")) << "rather than labels from the column cause";
  write_table("labels.csv", "path,patient,sick,sick",
              [](int i) { return fmt::format("a{}.png,p{},{},{}", i, i, i % 2, i % 2); });
  EXPECT_THAT(refusal(), HasSubstr("one column of each name, got two named \"sick\"; try renaming one of them"));
  write_table("labels.csv", "path,patient,site,side",
              [](int i) { return fmt::format("a{}.png,p{},{},{}", i, i, i % 2 ? "x" : "y", i % 2 ? "l" : "r"); });
  EXPECT_THAT(refusal(), HasSubstr("class names may be in site, side; try --set data.labels=site:VALUE"));
  write_table("labels.csv", "path,patient,sick",
              [](int i) { return fmt::format("a{}.png,p{},{}", i, i, i % 2 ? "x" : ""); });
  EXPECT_THAT(refusal(),
              HasSubstr("try --set data.labels=sick:VALUE with a value of that column, and --set data.blank=negative"));
}

}  // namespace
}  // namespace roentgen::task
