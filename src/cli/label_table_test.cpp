// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/label_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/file_testing.h"
#include "core/error.h"
#include "data/source/dataset.h"
#include "eval/predictions.h"

namespace roentgen::cli {
namespace {

using eval::kUnknown;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kNih =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,\n"
    "00000001_000.png,Cardiomegaly|Pleural Thickening,0,1,058Y,M,PA,\n"
    "00000001_001.png,No Finding,1,1,59,M,AP,\n"
    "00000002_000.png,Hernia,0,2,411,F,PA,\n";

TEST(LabelTable, reads_nih) {
  const ScratchFile file(kNih);
  const LabelTable table =
      read_label_table(file.path(), {"Cardiomegaly", "Pleural_Thickening", "View:AP", "No Finding"}, {});
  const LabelRow* first = table.find("00000001_000.png");
  ASSERT_NE(first, nullptr);
  EXPECT_THAT(first->labels, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(first->patient, "1");
  EXPECT_EQ(first->study, "1/0");
  EXPECT_EQ(first->view, "PA");
  EXPECT_EQ(first->sex, "M");
  EXPECT_EQ(first->age_years, 58.0F);
  EXPECT_EQ(table.find("images_001/00000001_001.png"), &table.rows[1]);
  EXPECT_THAT(table.rows[1].labels, ElementsAre(0, 0, 1, 1));
  EXPECT_TRUE(std::isnan(table.rows[2].age_years));
  EXPECT_EQ(table.find("00000009_000.png"), nullptr);
}

TEST(LabelTable, reads_a_column_a_label) {
  const ScratchFile file(
      "path,patient,study,sex,Mass,Edema,cause\na.png,p,s1,F,1,-1,virus\nb.png,q,s1,M,no,,\nc.png,q,,M,0,1.0,"
      "bacteria\n");
  const LabelTable table = read_label_table(file.path(), {"Edema", "Mass", "cause:virus"}, {});
  EXPECT_THAT(table.rows[0].labels, ElementsAre(kUnknown, 1, 1));
  EXPECT_THAT(table.rows[1].labels, ElementsAre(kUnknown, 0, kUnknown));
  EXPECT_THAT(table.rows[2].labels, ElementsAre(1, 0, 0));
  EXPECT_EQ(table.rows[0].study, "p/s1");
  EXPECT_EQ(table.rows[1].study, "q/s1");
  EXPECT_EQ(table.rows[2].study, "");
  EXPECT_EQ(table.find("x/a.png"), &table.rows[0]);
  EXPECT_EQ(table.find("x/z.png"), nullptr);
}

TEST(LabelTable, reads_blanks_and_uncertain_ones_as_it_is_told) {
  const ScratchFile file("path,Mass,Edema\na.png,-1,-1\nb.png,,\n");
  data::SourceOptions options{.policy = {.blank = data::Blank::Negative, .uncertain = data::Uncertain::One}};
  options.label_policies = {{"Edema", {}}};
  const LabelTable table = read_label_table(file.path(), {"Mass", "Edema"}, options);
  EXPECT_THAT(table.rows[0].labels, ElementsAre(1, kUnknown));
  EXPECT_THAT(table.rows[1].labels, ElementsAre(0, kUnknown));
}

TEST(LabelTable, knows_studies_by_their_folders) {
  const ScratchFile file(
      "image,Mass\ntrain/patient1/study2/view1_frontal.jpg,1\np10/p100/s500/x.jpg,0\nstuff/y.jpg,0\n");
  const LabelTable table = read_label_table(file.path(), {}, {});
  EXPECT_EQ(table.rows[0].study, "train/patient1/study2");
  EXPECT_EQ(table.rows[1].study, "p10/p100/s500");
  EXPECT_EQ(table.rows[2].study, "");
}

void expect_refused(std::string_view text, const std::vector<std::string>& labels, const std::string& part) {
  const ScratchFile file(text);
  try {
    static_cast<void>(read_label_table(file.path(), labels, {}));
    ADD_FAILURE() << "not refused: " << part;
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("a.png")));
  }
}

TEST(LabelTable, refuses_what_it_cannot_read_and_names_no_image) {
  expect_refused("name,Mass\na.png,1\n", {"Mass"}, "expected a column that names images");
  expect_refused("path,Mass\na.png,1\n", {"Nodule"},
                 "expected the label Nodule of the predictions, got columns path, Mass");
  expect_refused("path,Mass\na.png,perhaps\n", {"Mass"}, "line 2: expected 1, 0, -1, yes, no or nothing as Mass");
  expect_refused("path,Mass\na.png,1\n./a.png,1\n", {"Mass"}, "line 3: expected an image's name, each once");
  expect_refused("path,Mass\n,1\n", {"Mass"}, "line 2: expected an image's name, each once, got none");
  expect_refused("Image Index,Finding Labels\na.png,Mass\n", {"Fracture"}, "the label Fracture of the predictions");
}

TEST(LabelTable, refuses_labels_that_several_columns_could_be) {
  const ScratchFile file("path,mass,MASS,Cardiomegaly\na.png,1,0,1\n");
  for (const char* label : {"Mass", "Mass:1"}) {
    try {
      static_cast<void>(
          read_label_table(file.path(), {label, "Cardiomegaly"}, {.unknown_labels = data::UnknownLabels::Mask}));
      FAIL() << label;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("got mass, MASS; try"));
    }
  }
}

TEST(LabelTable, finds_labels_in_any_spelling_and_leaves_those_it_lacks_unknown) {
  const ScratchFile nih("Image Index,Finding Labels\na.png,\"mass, PLEURAL thickening\"\nb.png,Efusion\nc.png,nan\n");
  const LabelTable table = read_label_table(nih.path(), {"Mass", "Pleural_Thickening", "Fracture"},
                                            {.unknown_labels = data::UnknownLabels::Mask});
  EXPECT_THAT(table.rows[0].labels, ElementsAre(1, 1, kUnknown));
  EXPECT_THAT(table.rows[1].labels, ElementsAre(0, 0, kUnknown));
  EXPECT_THAT(table.rows[2].labels, ElementsAre(kUnknown, kUnknown, kUnknown));
  EXPECT_THAT(table.absent, ElementsAre("Fracture"));
  EXPECT_THAT(table.notes, ElementsAre("findings that no label asks for: Efusion 1"));
  const ScratchFile own("path,patient,MASS,Cause\na.png,12.0,1,Virus|fungus\nb.png,12,0,bacteria\n");
  const LabelTable other = read_label_table(own.path(), {"Mass", "cause:virus"}, {});
  EXPECT_THAT(other.rows[0].labels, ElementsAre(1, 1));
  EXPECT_THAT(other.rows[1].labels, ElementsAre(0, 0));
  EXPECT_EQ(other.rows[0].patient, other.rows[1].patient);
}

}  // namespace
}  // namespace roentgen::cli
