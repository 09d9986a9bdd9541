// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Splits and patients in record fields with other names are read, or a note names them.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "data/source/record_files.h"
#include "data/source/tfrecord_testing.h"
#include "io/tar.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RecordSplits : public TfRecord {
 protected:
  /// Builds a shard with one image for each text of fields, such as R"("patient": 7)".
  [[nodiscard]] std::string shard(const std::vector<std::string>& fields) const {
    std::string members;
    for (const std::string& known : fields) {
      const std::size_t i = count_++;
      members += io::tar_member(fmt::format("{:06}.png", i), image(0)) +
                 io::tar_member(fmt::format("{:06}.json", i), fmt::format(R"({{"labels": {{"x": 1}}, {}}})", known));
    }
    return members + std::string(io::kTarEnd_bytes, '\0');
  }
  static SourceOptions by_image(const TestFolder& folder) {
    return {.root = folder.path(), .split = {.unit = SplitUnit::Image}};
  }
  /// Options that put all images into test, so that few images suffice.
  static SourceOptions all_as_test(const TestFolder& folder) {
    return {.root = folder.path(), .split = {.mode = SplitMode::Whole}};
  }
  static std::vector<Split> splits_of(const Dataset& dataset) {
    std::vector<Split> splits;
    for (const Sample& sample : dataset.samples) splits.push_back(sample.split);
    return splits;
  }

 private:
  mutable std::size_t count_ = 0;
};

TEST_F(RecordSplits, are_those_of_names_in_any_case_with_a_dash_or_without) {
  for (const auto& [test, train, val] :
       {std::array{"Test-0.tar", "Train-0.tar", "Val-0.tar"}, std::array{"TEST_0.tar", "TRAIN_0.tar", "VALID_0.tar"},
        std::array{"test0.tar", "train0.tar", "val0.tar"},
        std::array{"testing 0.tar", "training 0.tar", "val(0).tar"}}) {
    const TestFolder folder;
    for (const char* name : {test, train, val}) folder.write(name, shard({R"("patient": null)"}));
    const Dataset dataset = load_dataset(by_image(folder));
    EXPECT_EQ(dataset.split_origin, "names of the record files") << test;
    EXPECT_THAT(splits_of(dataset), ElementsAre(Split::Test, Split::Train, Split::Val)) << test;
  }
  for (const char* name : {"trainer-0.tar", "tests.tar", "value.tar", "trainval-0.tar"}) {
    EXPECT_EQ(split_of_name(name), Split::None) << name;
  }
}

TEST_F(RecordSplits, of_names_that_hold_them_elsewhere_are_named) {
  const TestFolder folder;
  folder.write("cxr-test-0.tar", shard({R"("patient": 1)", R"("patient": 2)"}));
  folder.write("cxr-train-0.tar", shard({R"("patient": 3)", R"("patient": 4)"}));
  EXPECT_THAT(load_dataset(by_image(folder)).notes,
              Contains("record files not read as splits, because train, val or test is not at the beginning of the "
                       "name: 2 (cxr-test-0.tar, cxr-train-0.tar)"));
  EXPECT_THAT(load_dataset(all_as_test(folder)).notes, Not(Contains(HasSubstr("not read as splits"))));
}

TEST_F(RecordSplits, of_fields_are_read_in_any_case_of_the_key) {
  for (const char* key : {"split", "Split", "SPLIT"}) {
    const TestFolder folder;
    folder.write("a.tar",
                 shard({fmt::format(R"("{}": "train", "Patient": 7, "VIEW": "PA", "Sex": "F", "Age": 50)", key),
                        fmt::format(R"("{}": "test", "PATIENT": 8)", key)}));
    SourceOptions options = by_image(folder);
    options.split.validation = ValidationFrom::None;
    const Dataset dataset = load_dataset(options);
    EXPECT_THAT(splits_of(dataset), ElementsAre(Split::Train, Split::Test)) << key;
    EXPECT_EQ(dataset.samples[0].patient, "7");
    EXPECT_EQ(dataset.samples[1].patient, "8");
    EXPECT_EQ(dataset.samples[0].view + dataset.samples[0].sex, "PAF");
    EXPECT_EQ(dataset.samples[0].age_years, 50.0F);
    EXPECT_THAT(dataset.notes, Not(Contains(HasSubstr("not read, record field"))));
  }
  const TestFolder other;
  other.write("a.tar", shard({R"("Split": "fold1")"}));
  EXPECT_THAT(refusal(by_image(other)), HasSubstr("expected train, val, test or none as Split, got fold1"));
  const TestFolder both;
  both.write("test-0.tar", shard({R"("PATIENT": 7, "patient": 8, "Patient": [9])"}));
  const Dataset read = load_dataset(by_image(both));
  EXPECT_EQ(read.samples[0].patient, "8");
  EXPECT_THAT(read.notes, Contains(HasSubstr("not read, record field PATIENT (patients are read from patient): 1")));
}

TEST_F(RecordSplits, of_fields_under_other_names_are_named_with_their_count) {
  for (const char* key : {"set", "fold", "subset", "Partition", "phase", "data_split"}) {
    const TestFolder folder;
    folder.write("a.tar", shard({fmt::format(R"("{}": "train")", key), fmt::format(R"("{}": "Test")", key)}));
    EXPECT_THAT(load_dataset(all_as_test(folder)).notes,
                Contains(fmt::format(
                    "not read, record field {} with train, val or test (splits are read from split): 2 (a.tar)", key)));
  }
  const TestFolder silent;  // cases without a note
  silent.write("test-0.tar", shard({R"("set": "A", "fold": 3, "status": "valid")", R"("set": "test")"}));
  EXPECT_THAT(load_dataset(by_image(silent)).notes, Not(Contains(HasSubstr("not read, record field"))));
  silent.write("test-0.tar", shard({R"("meta": {"split": "train"})"}));
  EXPECT_THAT(load_dataset(by_image(silent)).notes, Contains(HasSubstr("not read, record field meta.split")));
}

TEST_F(RecordSplits, of_tfrecords_are_read_and_named_likewise) {
  const auto record = [this](std::string_view key, std::string_view split, std::string_view patient) {
    io::ExampleWriter example;
    example.text("image/encoded", image(0));
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", 1);
    example.text(key, split);
    example.text(patient, "7");
    return frame(example);
  };
  const TestFolder folder;
  folder.write("a.tfrecord", record("image/Split", "test", "image/Patient"));
  const Dataset read = load_dataset(in(folder));
  EXPECT_EQ(read.samples[0].split, Split::Test);
  EXPECT_EQ(read.samples[0].patient, "7");
  const TestFolder other;
  other.write("a.tfrecord", record("image/fold", "test", "image/mrn"));
  EXPECT_THAT(
      load_dataset(all_as_test(other)).notes,
      testing::IsSupersetOf({HasSubstr("not read, record field image/fold with train, val or test (splits are read "
                                       "from image/split): 1 (a.tfrecord)"),
                             HasSubstr("not read, record field image/mrn (patients are read from image/patient): 1")}));
}

TEST_F(RecordSplits, come_with_notes_on_patients_under_the_names_that_tables_have) {
  for (const char* key : {"mrn", "PID", "person_id", "ptid", "PatientID", "study_subject"}) {
    const TestFolder folder;
    folder.write("test-0.tar", shard({fmt::format(R"("{}": 7)", key)}));
    EXPECT_THAT(
        load_dataset(by_image(folder)).notes,
        Contains(fmt::format("not read, record field {} (patients are read from patient): 1 (test-0.tar)", key)));
  }
  const TestFolder facts;
  facts.write("test-0.tar", shard({R"("patient_age": 61, "patient": 3, "patients": {"sex": "M"})"}));
  EXPECT_THAT(load_dataset(by_image(facts)).notes, Not(Contains(HasSubstr("not read, record field"))));
}

TEST_F(RecordSplits, count_images_whose_record_names_nobody) {
  const TestFolder folder;
  folder.write("test-0.tar", shard({R"("patient": "nan")", R"("patient": "")", R"("patient": 7)"}));
  const Dataset dataset = load_dataset(by_image(folder));
  EXPECT_EQ(dataset.summary(Split::Test).patients, 1);
  EXPECT_THAT(dataset.notes, Contains("images with unknown patient (blank, nan, none or similar): 2"));
}

}  // namespace
}  // namespace roentgen::data
