// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "io/csv.h"

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kSeed = 5;

/// Returns entries with random truth and without pixels.
std::vector<Entry> drawn(std::int64_t images) {
  std::vector<Entry> entries = list_studies(kSeed, images);
  for (Entry& entry : entries) {
    entry.study.size_px = 64;
    entry.study.pixel_mm = 5.0;
    entry.study.truth = draw_truth(entry.key, {});
  }
  return entries;
}

std::set<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> result;
  for (std::string line; std::getline(stream, line);) result.insert(line);
  return result;
}

TEST(ListStudies, has_as_many_as_asked_and_one_to_three_a_patient) {
  for (const std::int64_t images : {1, 2, 999, 1000}) {
    const auto entries = list_studies(kSeed, images);
    ASSERT_EQ(static_cast<std::int64_t>(entries.size()), images);
    for (const Entry& entry : entries) EXPECT_LT(entry.key.follow_up, 3);
  }
}

TEST(ListStudies, a_longer_list_begins_with_the_shorter) {
  const auto small = list_studies(kSeed, 100);
  const auto large = list_studies(kSeed, 500);
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_EQ(image_name(small[i].key), image_name(large[i].key));
    EXPECT_EQ(small[i].split, large[i].split);
  }
}

TEST(ListStudies, a_fifth_of_the_patients_are_for_the_test) {
  std::set<std::int64_t> all, test;
  for (const Entry& entry : list_studies(kSeed, 5000)) {
    all.insert(entry.key.patient);
    if (entry.split == Split::Test) test.insert(entry.key.patient);
  }
  EXPECT_NEAR(static_cast<double>(test.size()) / static_cast<double>(all.size()), 0.2, 0.001);
}

TEST(NameList, lists_share_no_patient_and_cover_everything) {
  const auto entries = list_studies(kSeed, 1000);
  const auto train = lines(name_list(entries, Split::TrainVal));
  const auto test = lines(name_list(entries, Split::Test));
  EXPECT_EQ(train.size() + test.size(), 1000U);
  std::set<std::string> train_patients;
  for (const std::string& name : train) train_patients.insert(name.substr(0, 8));
  for (const std::string& name : test) EXPECT_FALSE(train_patients.contains(name.substr(0, 8))) << name;
}

TEST(FilmCsv, says_what_is_on_every_film) {
  std::vector<Entry> entries = drawn(2);
  entries[0].study.marks.is_inverted = true;
  entries[0].study.marks.marker = Marker{.letter = 'R'};
  entries[1].study.marks.open = Rect{10.0, 20.0, 310.0, 300.0};  // in a field of 64 pixels of 5 mm
  EXPECT_EQ(film_csv(entries), "Image Index,inverted,marker,left,top,right,bottom\n" + image_name(entries[0].key) +
                                   ",1,R,0.000,0.000,1024.000,1024.000\n" + image_name(entries[1].key) +
                                   ",0,,32.000,64.000,992.000,960.000\n");
}

TEST(ImageName, is_nihs) { EXPECT_EQ(image_name({.seed = 1, .patient = 12, .follow_up = 3}), "00000012_003.png"); }

TEST(DataEntryCsv, parses_back_under_nihs_own_header) {
  const auto entries = drawn(200);
  const io::Csv csv = io::parse_csv(data_entry_csv(entries), "entries").or_throw();
  // NIH's header has 9 names, but 11 fields because of the commas inside brackets.
  const std::vector<std::string> header{"Image Index",
                                        "Finding Labels",
                                        "Follow-up #",
                                        "Patient ID",
                                        "Patient Age",
                                        "Patient Gender",
                                        "View Position",
                                        "OriginalImage[Width",
                                        "Height]",
                                        "OriginalImagePixelSpacing[x",
                                        "y]"};
  EXPECT_EQ(csv.header, header);
  ASSERT_EQ(csv.rows.size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& row = csv.rows[i];
    ASSERT_EQ(row.size(), header.size());
    EXPECT_EQ(row[0], image_name(entries[i].key));
    EXPECT_EQ(row[2], std::to_string(entries[i].key.follow_up));
    EXPECT_EQ(row[3], std::to_string(entries[i].key.patient));
    EXPECT_EQ(row[7], "64");
  }
}

TEST(DataEntryCsv, joins_labels_or_says_no_finding) {
  std::vector<Entry> entries = list_studies(kSeed, 2);
  entries[0].study.truth.label[static_cast<std::size_t>(Finding::Cardiomegaly)] = true;
  entries[0].study.truth.label[static_cast<std::size_t>(Finding::PleuralThickening)] = true;
  const io::Csv csv = io::parse_csv(data_entry_csv(entries), "entries").or_throw();
  EXPECT_EQ(csv.rows[0][1], "Cardiomegaly|Pleural_Thickening");
  EXPECT_EQ(csv.rows[1][1], "No Finding");
}

TEST(BoxCsv, scales_to_the_1024_grid_and_needs_a_label) {
  std::vector<Entry> entries = list_studies(kSeed, 1);
  Study& study = entries[0].study;
  study.size_px = 64;
  const auto nodule = static_cast<std::size_t>(Finding::Nodule), mass = static_cast<std::size_t>(Finding::Mass);
  study.boxes[nodule] = {16, 32, 20, 40};
  study.boxes[mass] = {1, 1, 2, 2};
  study.truth.label[nodule] = true;  // the mass is present, but its label is missing
  EXPECT_EQ(box_csv(entries), "Image Index,Finding Label,Bbox [x,y,w,h],,,\n" + image_name(entries[0].key) +
                                  ",Nodule,256.000,512.000,64.000,128.000,,,\n");
}

TEST(LabelsCsv, has_a_column_a_finding_and_a_word_for_what_is_not_known) {
  std::vector<Entry> entries = list_studies(kSeed, 6);
  auto& mark = entries[0].study.truth.mark;
  mark[0] = Mark::Positive;
  mark[1] = Mark::Uncertain;
  mark[2] = Mark::Blank;
  const io::Csv csv = io::parse_csv(labels_csv(entries, "images"), "labels").or_throw();
  ASSERT_EQ(csv.header.size(), 6U + kFindingNames.size());
  EXPECT_EQ(csv.header[6], "Atelectasis");
  EXPECT_EQ(csv.rows[0][0], "images/" + image_name(entries[0].key));
  EXPECT_EQ(csv.rows[0][1], "1");
  EXPECT_EQ(csv.rows[0][6], "1");
  EXPECT_EQ(csv.rows[0][7], "-1");
  EXPECT_EQ(csv.rows[0][8], "");
  EXPECT_EQ(csv.rows[0][9], "0");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(csv.rows[i][2], entries[i].split == Split::Test ? "test" : "train");
  }
}

TEST(TruthCsv, says_who_has_tubes_where_there_are_any) {
  std::vector<Entry> entries = list_studies(kSeed, 2);
  entries[1].study.truth.has_tubes = true;
  const io::Csv csv = io::parse_csv(truth_csv(entries, TubeColumn::Present), "truth").or_throw();
  EXPECT_EQ(csv.header.back(), "Tubes");
  EXPECT_EQ(csv.rows[0].back(), "0");
  EXPECT_EQ(csv.rows[1].back(), "1");
}

TEST(PairsCsv, names_both_pictures_of_each_asked_finding_that_is_there) {
  std::vector<Entry> entries = list_studies(kSeed, 2);
  const auto mass = static_cast<std::size_t>(Finding::Mass), edema = static_cast<std::size_t>(Finding::Edema);
  entries[1].study.truth.severity[mass] = 0.5;
  entries[1].study.truth.severity[edema] = 0.5;
  PerFinding<bool> pairs{};
  pairs[mass] = true;
  const std::string name = image_name(entries[1].key);
  EXPECT_EQ(pairs_csv(entries, pairs, "images"), "Image Index,finding,with,without,severity\n" + name +
                                                     ",Mass,images/" + name + ",pairs/Mass/" + name + ",0.500000\n");
}

TEST(TruthCsv, carries_every_severity_and_the_split) {
  const auto entries = drawn(50);
  const io::Csv csv = io::parse_csv(truth_csv(entries), "truth").or_throw();
  ASSERT_EQ(csv.header.size(), 2U + kFindingNames.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(csv.rows[i][1], entries[i].split == Split::Test ? "test" : "train_val");
    for (std::size_t f = 0; f < kFindingNames.size(); ++f) {
      // The file has six decimals
      EXPECT_NEAR(std::stod(csv.rows[i][2 + f]), entries[i].study.truth.severity[f], 5e-7);
    }
  }
}

}  // namespace
}  // namespace roentgen::synth
