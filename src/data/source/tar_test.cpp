// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/tar.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/record_source.h"
#include "data/source/source_testing.h"
#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"
#include "io/npy.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class TarSource : public LoaderTest {
 protected:
  TarSource() : LoaderTest(12) {}

  [[nodiscard]] std::string image(std::size_t i) const {
    std::ifstream file(dataset_.samples.at(i).path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string sample(std::size_t i, std::string_view ending, std::string_view known) const {
    return io::tar_member(fmt::format("{:06}.png", i), image(i)) +
           io::tar_member(fmt::format("{:06}.{}", i, ending), known);
  }
  static std::string ended(std::string_view members) {
    return std::string(members) + std::string(io::kTarEnd_bytes, '\0');
  }
  static SourceOptions in(const TestFolder& folder) {
    SourceOptions options;
    options.root = folder.path();
    options.split.unit = SplitUnit::Image;
    return options;
  }
  static Dataset read(std::string_view members) {
    const TestFolder folder;
    folder.write("a.tar", ended(members));
    return load_dataset(in(folder));
  }
  /// Reads all samples as test, so that few samples suffice.
  static Dataset read_whole(const TestFolder& folder, std::string_view members) {
    folder.write("a.tar", ended(members));
    SourceOptions options = in(folder);
    options.split.mode = SplitMode::Whole;
    return load_dataset(options);
  }
  static Dataset read_whole(std::string_view members) { return read_whole(TestFolder(), members); }
  static std::string refusal(std::string_view members) {
    return message_of<DataError>([&] { static_cast<void>(read(members)); });
  }
};

TEST_F(TarSource, gives_the_batches_of_the_files_it_was_made_of) {
  const auto label = [this](std::size_t i, int k) {
    const float value = dataset_.samples[i].labels[static_cast<std::size_t>(k)];
    return std::isnan(value) ? "null" : value > 0 ? "1" : "0";
  };
  const TestFolder folder;
  std::string first, second;
  for (std::size_t i = 0; i < 12; ++i) {
    (i < 7 ? first : second) +=
        sample(i, "json",
               fmt::format(R"({{"filename": "{}.png", "labels": {{"even": {}, "odd": {}}}, "split": "train"}})", i,
                           label(i, 0), label(i, 1)));
  }
  folder.write("x-000000.tar", ended(first));
  folder.write("x-000001.tar", ended(second));
  EXPECT_EQ(record_source(folder.path()), "tar");
  const auto from_files = run(options());
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  dataset_ = load_dataset(wanted);
  EXPECT_EQ(dataset_.source, "tar");
  EXPECT_THAT(dataset_.label_names, ElementsAre("even", "odd"));
  EXPECT_EQ(run(options()), from_files);
}

TEST_F(TarSource, knows_what_json_says) {
  const Dataset dataset = read(
      sample(0, "json", R"({"labels": {"Mass": true, "Edema": -1}, "patient": "7", "view": "PA", "sex": "F", "age": 61,
                            "split": "val", "other": [1, 2]})") +
      sample(1, "json", R"({"filename": "00000013_005.png", "labels": {"Mass": 0, "Edema": 1}, "split": "train"})"));
  EXPECT_EQ(dataset.samples[0].id, "000000.png");
  EXPECT_EQ(dataset.samples[0].patient, "7");
  EXPECT_EQ(dataset.samples[0].view, "PA");
  EXPECT_EQ(dataset.samples[0].sex, "F");
  EXPECT_EQ(dataset.samples[0].age_years, 61.0F);
  EXPECT_EQ(dataset.samples[0].split, Split::Val);
  EXPECT_EQ(dataset.samples[0].labels[0], 1.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[0].labels[1]));
  EXPECT_EQ(dataset.samples[1].id, "00000013_005.png");
  EXPECT_EQ(dataset.samples[1].patient, "13");
}

TEST_F(TarSource, has_labels_in_json_cls_or_txt) {
  std::string names, classes, words, texts, labels;
  for (std::size_t i = 0; i < 12; ++i) {
    names += sample(i, "json", i % 2 == 0 ? R"({"labels": ["Mass", "Edema"]})" : R"({"labels": []})");
    labels += sample(i, "json", fmt::format(R"({{"label": {}}})", i % 2 + 4));
    classes += sample(i, "cls", fmt::format("{}\n", i % 3));
    words += sample(i, "cls", i % 3 == 0 ? "cat" : "dog");
    texts += sample(i, "txt", i % 2 == 0 ? "Mass|Pleural Effusion" : "No Finding\n");
  }
  EXPECT_THAT(read(names).label_names, ElementsAre("Edema", "Mass"));
  EXPECT_THAT(read(names).samples[1].labels, ElementsAre(0.0F, 0.0F));
  EXPECT_THAT(read(labels).label_names, ElementsAre("class 4", "class 5"));
  EXPECT_THAT(read(classes).label_names, ElementsAre("class 0", "class 1", "class 2"));
  EXPECT_THAT(read(classes).samples[5].labels, ElementsAre(0.0F, 0.0F, 1.0F));
  EXPECT_THAT(read(words).label_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(read(texts).label_names, ElementsAre("Mass", "Pleural Effusion"));
  EXPECT_THAT(read(texts).samples[2].labels, ElementsAre(1.0F, 1.0F));
}

TEST_F(TarSource, holds_pixels_as_npy) {
  const std::array<std::uint16_t, 6> wide{0, 257, 514, 65535, 4095, 1};
  const std::string data(reinterpret_cast<const char*>(wide.data()), 12);
  const auto with = [&](const Shape& shape, DType dtype, std::string_view more = "") {
    return io::tar_member("a.npy", io::npy_head(shape, dtype) + data) +
           io::tar_member("a.json", fmt::format(R"({{"labels": {{"x": 1}}{}}})", more));
  };
  const TestFolder folder;
  folder.write("test-0.tar", ended(with({2, 3}, DType::U16, R"(, "max_value": 4095)")));
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  SampleReader reader;
  Image pixels;
  ASSERT_TRUE(reader.load(dataset.samples[0], Channels::Gray, pixels));
  EXPECT_EQ(pixels.layout(), (ImageLayout{.width_px = 3, .height_px = 2, .bits = 16, .max_value = 4095}));
  EXPECT_THAT(pixels.samples<std::uint16_t>(), testing::ElementsAreArray(wide));
  EXPECT_THAT(refusal(with({3}, DType::F32)), HasSubstr("(H, W, 3) of dtype uint8 or uint16, got (3) f32"));
  EXPECT_THAT(refusal(with({6, 2}, DType::U16)), HasSubstr("[io.npy] a.tar, record 1: expected 24 bytes of elements"));
  EXPECT_THAT(refusal(with({2, 3}, DType::U16, R"(, "max_value": 70000)")), HasSubstr("max_value from 1 to 65535"));
}

TEST_F(TarSource, takes_splits_from_names_of_shards) {
  const TestFolder folder;
  folder.write("train-000000.tar", ended(sample(0, "cls", "0") + sample(1, "cls", "1")));
  folder.write("val-000000.tar", ended(sample(2, "cls", "0")));
  folder.write("notes.tar.txt", "not one");
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.summary(Split::Val).images, 1);
}

TEST_F(TarSource, passes_over_other_files) {
  const Dataset dataset = read(io::tar_member("readme.txt", "about") + io::tar_member(".hidden.png", "x") +
                               io::tar_member("a/0.PNG", image(0)) + io::tar_member("a/0.seg.png", "a mask") +
                               io::tar_member("a/0.cls", "1") + sample(1, "cls", "0") + sample(2, "cls", "0"));
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.samples[0].id, "a/0.PNG");
  EXPECT_THAT(dataset.notes, Contains("left out, files .seg.png: 1 (a.tar)"));
  EXPECT_THAT(dataset.notes, Contains("left out, hidden images: 1 (a.tar)"));
  EXPECT_THAT(dataset.notes, Contains("left out, .txt files without an image: 1 (a.tar)"));
}

TEST_F(TarSource, refuses_samples_without_a_label_or_with_two_images) {
  EXPECT_THAT(refusal(io::tar_member("a.png", "x")),
              HasSubstr("[data.tar] a.tar, record 1: expected labels in a .json"));
  EXPECT_THAT(refusal(io::tar_member("a.png", "x") + io::tar_member("a.jpg", "x")),
              HasSubstr("a.tar, a: expected only one image per sample, got png and jpg"));
  EXPECT_THAT(refusal(io::tar_member("a.txt", "x")),
              HasSubstr("expected a record, got none; left out, .txt files without an image"));
  EXPECT_THAT(refusal(sample(0, "json", "[]")), HasSubstr("expected a JSON object in the .json file, got array"));
  EXPECT_THAT(refusal(sample(0, "json", "{")), HasSubstr("a.tar, record 1"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"a": "yes"}})")),
              HasSubstr("expected 1, 0, -1 or null as label"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"a": 2}})")),
              HasSubstr("expected 1, 0 or -1 as label value, got 2"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {}})")), HasSubstr("expected at least one entry in \"labels\""));
  EXPECT_THAT(refusal(sample(0, "cls", "-3")), HasSubstr("expected a class number of at least 0, got -3"));
  EXPECT_THAT(refusal(sample(0, "cls", "")), HasSubstr("one line of text as .cls, got an empty text"));
  EXPECT_THAT(refusal(sample(0, "cls", "1") + sample(1, "txt", "Mass")), HasSubstr("names as in earlier records"));
  EXPECT_THAT(refusal(sample(0, "cls", "1") + sample(1, "cls", "1") + sample(0, "cls", "1")),
              HasSubstr("expected one row for each image, got 1 repeated (000000.png)"));
  std::string descriptions;
  for (int i = 0; i < 5000; ++i) {
    descriptions += io::tar_member(fmt::format("{}.png", i), "x") +
                    io::tar_member(fmt::format("{}.txt", i), fmt::format("an image of {}", i));
  }
  EXPECT_THAT(refusal(descriptions), HasSubstr("expected at most 4096 different labels"));
}

TEST_F(TarSource, reads_names_that_hold_dots) {
  std::string uids, mixed;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string uid = fmt::format("1.2.276.0.7230010.3.1.4.832.{}", i);
    uids += io::tar_member(uid + ".png", image(i)) + io::tar_member(uid + ".json", R"({"labels": {"x": 1}})") +
            io::tar_member(uid + ".seg.png", "a mask");
    mixed += i < 2 ? sample(i, "cls", "1") : "";
    mixed += io::tar_member(fmt::format("v1.{}.cls", i), "0") + io::tar_member(fmt::format("v1.{}.PNG", i), image(i));
  }
  const Dataset of_uids = read_whole(uids);
  ASSERT_EQ(of_uids.samples.size(), 4U);
  EXPECT_EQ(of_uids.samples[3].id, "1.2.276.0.7230010.3.1.4.832.3.png");
  EXPECT_THAT(of_uids.notes, Contains("left out, files .seg.png: 4 (a.tar)"));
  EXPECT_EQ(read_whole(mixed).samples.size(), 6U);
  // WebDataset's own rule, to cut at the first dot, is used if that gives a sample.
  const Dataset with_masks =
      read_whole(sample(0, "cls", "1") + io::tar_member("000000.seg.png", "a mask") +
                 io::tar_member("000000.seg.cls", "2") + io::tar_member("000000.1.2.bin", "") +
                 io::tar_member("000000.a\nb", "") + io::tar_member("000000", "") + sample(1, "cls", "0"));
  EXPECT_EQ(with_masks.samples.size(), 2U);
  for (const char* files : {".seg.png", ".seg.cls", ".bin", "with other endings", "without ending"}) {
    EXPECT_THAT(with_masks.notes, Contains(fmt::format("left out, files {}: 1 (a.tar)", files)));
  }
}

TEST_F(TarSource, takes_numbers_for_texts) {
  const Dataset dataset = read_whole(
      sample(0, "json", R"({"labels": {"x": 1}, "filename": 17, "patient": 4, "view": 1, "sex": 0, "age": "061"})") +
      sample(1, "json", R"({"labels": {"x": 0}, "patient": 100000.0, "view": null, "age": "unknown"})") +
      sample(2, "json", R"({"labels": {"x": 0}, "patient": 9007199254740993})"));
  EXPECT_EQ(dataset.samples[0].id, "17");
  EXPECT_EQ(dataset.samples[0].patient, "4");
  EXPECT_EQ(dataset.samples[0].view, "1");
  EXPECT_EQ(dataset.samples[0].sex, "0");
  EXPECT_EQ(dataset.samples[0].age_years, 61.0F);
  EXPECT_EQ(dataset.samples[1].view, "");
  EXPECT_TRUE(std::isnan(dataset.samples[1].age_years));
  EXPECT_EQ(dataset.samples[2].patient, "9007199254740993");
  for (const char* patient : {"true", "[4]", R"({"id": 4})", "12345678901234567890", "1e300"}) {
    EXPECT_THAT(refusal(sample(0, "json", fmt::format(R"({{"labels": {{"x": 1}}, "patient": {}}})", patient))),
                HasSubstr("expected text or a number of at most 15 digits as patient"))
        << patient;
  }
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"x": 1}, "split": 2})")),
              HasSubstr("expected train, val, test or none as split, got 2"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"label": 1.5})")), HasSubstr("a whole number or a name as label"));
}

TEST_F(TarSource, leaves_other_words_for_splits_alone_where_all_images_are_the_test) {
  const TestFolder folder;
  EXPECT_EQ(
      read_whole(folder, sample(0, "json", R"({"labels": {"x": 1}, "split": "fold1"})")).summary(Split::Test).images,
      1);
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"x": 1}, "split": "fold1"})")), HasSubstr("got fold1"));
}

TEST_F(TarSource, finds_findings_of_a_text_in_any_spelling_and_separator) {
  const Dataset dataset = read_whole(sample(0, "txt", "Mass|Effusion") + sample(1, "txt", "mass, effusion") +
                                     sample(2, "txt", "MASS; no finding") + sample(3, "txt", "No Finding"));
  EXPECT_THAT(dataset.label_names, ElementsAre("Effusion", "Mass"));
  EXPECT_EQ(dataset.summary(Split::Test).labels[0].positives, 2);
  EXPECT_EQ(dataset.summary(Split::Test).labels[1].positives, 3);
}

TEST_F(TarSource, refuses_patients_in_two_splits_though_they_are_numbers) {
  const TestFolder folder;
  for (const auto& [name, i] : {std::pair("train-0.tar", 0U), std::pair("test-0.tar", 1U)}) {
    folder.write(name, ended(sample(i, "json", R"({"labels": {"x": 1}, "patient": 7})")));
  }
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(wanted)); }),
              HasSubstr("1 of 1 patient in two or more"));
}

TEST_F(TarSource, tells_of_a_patient_under_another_name) {
  const Dataset dataset = read_whole(sample(0, "json", R"({"labels": {"x": 1}, "PatientID": 7})") +
                                     sample(1, "json", R"({"labels": {"x": 1}, "PatientID": 8})"));
  EXPECT_THAT(dataset.notes, Contains("not read, record field PatientID (patients are read from patient): 2 (a.tar)"));
}

TEST_F(TarSource, tells_of_a_patient_in_a_table_within_the_json) {
  const Dataset dataset =
      read_whole(sample(0, "json", R"({"labels": {"x": 1, "patient rotated": 0}, "meta": {"patient_id": 7}})") +
                 sample(1, "json", R"({"labels": {"x": 1, "patient rotated": 1}, "study": [{"subject": 8}]})"));
  EXPECT_THAT(
      dataset.notes,
      testing::IsSupersetOf({HasSubstr("not read, record field meta.patient_id (patients are read from patient): 1"),
                             HasSubstr("not read, record field study.subject (patients are read from patient): 1")}));
  EXPECT_THAT(dataset.notes, testing::Not(Contains(HasSubstr("rotated"))));
}

TEST_F(TarSource, takes_labels_of_json_before_those_of_cls_and_txt_and_says_so) {
  const auto both = [this](std::size_t i, std::string_view json, std::string_view ending, std::string_view text) {
    return sample(i, "json", json) + io::tar_member(fmt::format("{:06}.{}", i, ending), text);
  };
  const Dataset classes = read_whole(both(0, R"({"label": 3})", "cls", "3\n") + both(1, R"({"label": 3})", "cls", "4") +
                                     both(2, R"({"label": 4})", "cls", "a line\nand another"));
  EXPECT_THAT(classes.label_names, ElementsAre("class 3", "class 4"));
  EXPECT_THAT(classes.notes, testing::IsSupersetOf(
                                 {HasSubstr("not read, .cls files with another label than the sample's .json file: 1"),
                                  HasSubstr("not read, .cls files of samples with labels in a .json file: 1")}));
  const Dataset texts =
      read_whole(both(0, R"({"label": 3})", "txt", "patient: 12") + both(1, R"({"label": 4})", "txt", "patient: 12"));
  EXPECT_THAT(texts.notes, Contains(HasSubstr("not read, .txt files of samples with labels in a .json file: 2")));
  const Dataset words =
      read_whole(sample(0, "cls", "1") + io::tar_member("000000.txt", "Mass") + sample(1, "cls", "0"));
  EXPECT_THAT(words.notes, Contains(HasSubstr("not read, .txt files of samples with labels in a .cls file: 1")));
}

TEST_F(TarSource, names_shards_that_are_absent_between_others) {
  const TestFolder folder;
  const auto write = [&](const char* name, std::size_t i) { folder.write(name, ended(sample(i, "cls", "1"))); };
  write("train-000.tar", 0);
  write("train-003.tar", 1);
  write("test_9.tar", 2);
  write("test_11.tar", 3);
  write("b-20200101.tar", 4);
  write("b-20200301.tar", 5);
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  EXPECT_THAT(load_dataset(options).notes,
              Contains("numbers missing between record files: 3 (test_10.tar, train-001.tar, train-002.tar)"));
  write("test_10.tar", 6);
  write("train-001.tar", 7);
  write("train-002.tar", 8);
  EXPECT_THAT(load_dataset(options).notes, testing::Not(Contains(HasSubstr("numbers missing"))));
}

TEST_F(TarSource, counts_shards_in_folders_below) {
  const TestFolder folder;
  folder.write("more/b.tar", ended(sample(2, "cls", "1")));
  folder.write("more/c.tar.gz", "x");
  const Dataset dataset = read_whole(folder, sample(0, "cls", "1") + sample(1, "cls", "0"));
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_THAT(dataset.notes, Contains("record files in subfolders that are not read (.gz 1, .tar 1)"));
}

TEST_F(TarSource, refuses_samples_that_lost_their_image) {
  const std::string known = R"({"labels": {"x": 1}})";
  const std::string archive = sample(0, "json", known) + io::tar_member("s3.json", known) +
                              io::tar_member("s4.tiff", "x") + io::tar_member("s4.cls", "1") +
                              io::tar_member("about.json", R"({"licence": "none"})") + sample(1, "json", known);
  EXPECT_THAT(refusal(archive),
              HasSubstr("expected an image in every labelled sample, got samples without an image: 2 (a.tar, s3, "
                        "a.tar, s4: .tiff); try --set data.absent=skip"));
  const TestFolder folder;
  folder.write("a.tar", ended(archive));
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  wanted.absent = Absent::Skip;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_THAT(dataset.notes, Contains("left out, samples without an image: 2 (a.tar)"));
  EXPECT_THAT(dataset.notes, Contains("left out, files .tiff: 1 (a.tar)"));
  EXPECT_THAT(dataset.notes, Contains("left out, .json files without labels or an image: 1 (a.tar)"));
  EXPECT_THAT(refusal(sample(0, "json", known) + sample(1, "json", known) + io::tar_member("000000.json", known)),
              HasSubstr("a.tar, 000000: expected all files of a sample next to each other"));
}

TEST_F(TarSource, follows_links_to_images_and_refuses_those_that_lead_nowhere) {
  const auto link = [](std::string_view name, char type, std::string_view target) {
    std::string member = io::tar_member(name, "");
    member[156] = type;
    member.replace(157, target.size(), target);
    member.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char byte : member) sum += static_cast<unsigned char>(byte);
    return member.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  };
  const TestFolder folder;
  const Dataset dataset =
      read_whole(folder, sample(0, "cls", "0") + link("y.png", '1', "000000.png") + io::tar_member("y.cls", "1") +
                             link("z.png", '2', "000000.png") + link("z.cls", '2', "y.cls"));
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.samples[2].id, "z.png");
  EXPECT_EQ(dataset.samples[2].labels[1], 1.0F);
  SampleReader reader;
  Image first, linked;
  ASSERT_TRUE(reader.load(dataset.samples[0], Channels::Gray, first));
  for (const std::size_t i : {1U, 2U}) {
    ASSERT_TRUE(reader.load(dataset.samples[i], Channels::Gray, linked));
    EXPECT_TRUE(std::ranges::equal(std::as_const(first).bytes(), std::as_const(linked).bytes()));
  }
  EXPECT_THAT(refusal(sample(0, "cls", "0") + link("z.png", '2', "../gone.png") + io::tar_member("z.cls", "1")),
              HasSubstr("samples without an image: 1 (a.tar, z: a link to ../gone.png)"));
  EXPECT_THAT(refusal(io::tar_member("z.png", image(0)) + link("z.txt", '2', "gone")),
              HasSubstr("a.tar, record 1: expected labels, got a link to gone, which is not in the archive"));
}

TEST_F(TarSource, refuses_two_files_of_labels_and_bytes_behind_a_nul) {
  const std::string known = R"({"labels": {"x": 1}})";
  EXPECT_THAT(refusal(sample(0, "json", known) + io::tar_member("000000.json", R"({"labels": {"x": 0}})")),
              HasSubstr("a.tar, 000000: expected only one .json file per sample, got json and json"));
  EXPECT_THAT(refusal(sample(0, "cls", "1") + io::tar_member("000000.CLS", "2")), HasSubstr("one .cls file per"));
  EXPECT_THAT(refusal(sample(0, "json", known + '\0' + known)), HasSubstr("got a zero byte followed by other bytes"));
  EXPECT_THAT(refusal(sample(0, "cls", std::string("1\0002", 3))), HasSubstr("got control characters"));
  EXPECT_EQ(read_whole(sample(0, "json", known + std::string(3, '\0'))).samples.size(), 1U) << "padding";
}

}  // namespace
}  // namespace roentgen::data
