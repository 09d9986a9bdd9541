// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/codec/dicom_testing.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "data/source/dicom_choice.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kModality = 0x00080060, kIntent = 0x00080068, kBodyPart = 0x00180015, kView = 0x00185101;

class DicomSource : public testing::Test {
 protected:
  void SetUp() override {
    if (!dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << dicom_support().text;
  }
  void put(std::string_view name, std::map<std::uint32_t, TestElement> elements = {}) const {
    static_cast<void>(folder_.write(name, encode_test_dicom({.elements = std::move(elements)})));
  }
  [[nodiscard]] Dataset load() const { return load_dataset({.root = folder_.path()}); }
  [[nodiscard]] const TestFolder& folder() const { return folder_; }

 private:
  TestFolder folder_;
};

DicomStudy chest() { return {.modality = "DX", .body_part = "CHEST", .view = "PA", .has_size = true}; }

TEST(DicomChoice, keeps_frontal_radiographs_of_the_chest) {
  for (const char* modality : {"CR", "DX", "RG"}) {
    DicomStudy study = chest();
    study.modality = modality;
    EXPECT_EQ(exclusion_of(study), "");
  }
  for (const char* view : {"AP", "PA", "", "LLD", "RLD", "AP AXIAL"}) {
    DicomStudy study = chest();
    study.view = view;
    EXPECT_EQ(exclusion_of(study), "") << view;
  }
  for (const char* part : {"", "THORAX", "CHEST 1 VIEW", "LUNG"}) {
    DicomStudy study = chest();
    study.body_part = part;
    EXPECT_EQ(exclusion_of(study), "") << part;
  }
}

TEST(DicomChoice, names_what_it_leaves_out) {
  DicomStudy study = chest();
  study.has_size = false;
  EXPECT_EQ(exclusion_of(study), "no image");
  study = chest();
  study.modality = "CT";
  EXPECT_EQ(exclusion_of(study), "modality CT");
  study.modality = "";
  EXPECT_EQ(exclusion_of(study), "no modality");
  study = chest();
  study.intent = "FOR PROCESSING";
  EXPECT_EQ(exclusion_of(study), "for processing");
  study = chest();
  study.body_part = "HAND\nNAME^OF^A^PATIENT";
  EXPECT_EQ(exclusion_of(study), "body part HAND_NAME_OF_A_P") << "nothing long, no line break";
  for (const char* view : {"LL", "RL", "LATERAL", "LAT"}) {
    study = chest();
    study.view = view;
    EXPECT_EQ(exclusion_of(study), "laterals") << view;
  }
  study.view = "LLO";
  EXPECT_EQ(exclusion_of(study), "obliques");
}

TEST(DicomChoice, takes_the_code_of_the_view_where_there_is_no_other) {
  DicomStudy study = chest();
  study.view = "";
  study.view_code = "LEFT LATERAL";
  EXPECT_EQ(exclusion_of(study), "laterals");
  study.view_code = "LEFT LATERAL DECUBITUS";
  EXPECT_EQ(exclusion_of(study), "");
  study.view_code = "POSTERO-ANTERIOR";
  EXPECT_EQ(view_of(study), "PA");
  study.view_code = "ANTERO-POSTERIOR";
  EXPECT_EQ(view_of(study), "AP");
}

TEST(DicomChoice, knows_names_that_dicom_files_have) {
  for (const char* name : {"a.dcm", "a.DCM", "b.dicom", "IM000001", "1.2.840.113619.2.5", "x.ima"}) {
    EXPECT_TRUE(may_be_dicom(name)) << name;
  }
  for (const char* name : {"a.png", "labels.csv", "a.dcm.gz"}) EXPECT_FALSE(may_be_dicom(name)) << name;
}

TEST_F(DicomSource, lists_a_folder_without_a_table) {
  put("b/IM0002", {{0x00100020, text_element("LO", "P17")},
                   {0x00100040, text_element("CS", "F")},
                   {0x00101010, text_element("AS", "058Y")}});
  put("a.dcm", {{kView, text_element("CS", "AP")}});
  static_cast<void>(folder().write("notes.txt", "no image"));
  static_cast<void>(folder().write("IM9999", "no image either"));
  static_cast<void>(folder().write("NORMAL/1.png", "of another kind"));
  const Dataset dataset = load();
  EXPECT_THAT(dataset.notes, testing::Contains("files left out, not DICOM: .png 1, .txt 1, no ending 1"));
  EXPECT_EQ(dataset.source, "dicom");
  ASSERT_EQ(dataset.samples.size(), 2U);
  EXPECT_EQ(dataset.samples[0].id, "a.dcm");
  EXPECT_EQ(dataset.samples[0].view, "AP");
  const Sample& second = dataset.samples[1];
  EXPECT_EQ(second.id, "b/IM0002");
  EXPECT_EQ(second.patient, "P17");
  EXPECT_EQ(second.sex, "F");
  EXPECT_EQ(second.age_years, 58.0F);
  EXPECT_EQ(second.view, "PA");
  EXPECT_EQ(second.split, Split::Test);
  EXPECT_TRUE(dataset.label_names.empty());
  EXPECT_THAT(describe(dataset), Not(HasSubstr("P17"))) << "patients are named nowhere";
}

TEST_F(DicomSource, lists_files_without_a_preamble) {
  static_cast<void>(folder().write("meta.dcm", encode_test_dicom({}).substr(132)));
  static_cast<void>(folder().write("IM0001", encode_dataset({})));
  EXPECT_EQ(load().samples.size(), 2U);
}

TEST_F(DicomSource, counts_by_kind_what_it_leaves_out) {
  put("keep.dcm");
  put("l1.dcm", {{kView, text_element("CS", "LL")}});
  put("l2.dcm", {{kView, text_element("CS", "LATERAL")}});
  put("hand.dcm", {{kBodyPart, text_element("CS", "HAND")}});
  put("raw.dcm", {{kIntent, text_element("CS", "FOR PROCESSING")}});
  put("ct.dcm", {{kModality, text_element("CS", "CT")}});
  put("report.dcm", {{0x00280010, {}}});
  const std::string damaged = encode_test_dicom({}).substr(0, 200);
  static_cast<void>(folder().write("damaged.dcm", damaged));
  const Dataset dataset = load();
  EXPECT_EQ(dataset.samples.size(), 1U);
  EXPECT_THAT(
      dataset.notes,
      testing::Contains("DICOM files left out, body part HAND: 1, for processing: 1, laterals: 2, modality CT: 1, no "
                        "image: 1, unreadable: 1"));
}

TEST_F(DicomSource, counts_files_that_are_named_as_dicom_and_are_not) {
  put("keep.dcm");
  static_cast<void>(folder().write("empty.dcm", ""));
  static_cast<void>(folder().write("text.DCM", "no image"));
  std::filesystem::create_symlink("nowhere", folder().path() / "dangling.dcm");
  EXPECT_THAT(load().notes, testing::IsSupersetOf({"files left out, not DICOM: .dcm 2", "broken links, left out: 1"}));
}

TEST_F(DicomSource, refuses_a_folder_of_which_nothing_is_left) {
  put("ct.dcm", {{kModality, text_element("CS", "CT")}});
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load()); }),
              AllOf(HasSubstr("[data.dicom]"), HasSubstr("got only DICOM files left out, modality CT: 1")));
}

TEST_F(DicomSource, has_no_labels) {
  put("a.dcm");
  EXPECT_THAT(
      message_of<ConfigError>([&] { static_cast<void>(load_dataset({.root = folder().path(), .labels = {"Mass"}})); }),
      HasSubstr("DICOM headers contain no labels"));
}

TEST_F(DicomSource, stands_behind_a_table) {
  put("a.dcm");
  static_cast<void>(folder().write("labels.csv", "path,sick\na.dcm,1\n"));
  const Dataset dataset =
      load_dataset({.root = folder().path(), .labels = {"sick"}, .split = {.mode = SplitMode::Whole}});
  EXPECT_EQ(dataset.source, "csv");
  EXPECT_EQ(dataset.samples.size(), 1U);
}

}  // namespace
}  // namespace roentgen::data
