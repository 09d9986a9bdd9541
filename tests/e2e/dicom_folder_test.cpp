// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests a folder of DICOM files without any table, as a hospital may export it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kView = 0x00185101, kPatient = 0x00100020, kAge = 0x00101010;

// DICOM file of 40 x 40 pixels with 12 bits, brighter from left to right.
data::TestDicom radiograph() {
  data::TestDicom dicom{.width_px = 40, .height_px = 40, .samples = {}};
  for (int i = 0; i < 1600; ++i) dicom.samples.push_back(static_cast<std::uint16_t>(i % 40 * 100));
  dicom.elements = {{kPatient, data::text_element("LO", "HOSPITAL-4711")}, {kAge, data::text_element("AS", "063Y")}};
  return dicom;
}

TEST(DicomFolder, is_inspected_and_predicted_but_not_trained_on) {
  if (!data::dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << data::dicom_support().text;
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  place.must_run(plus(place.train_arguments(data, "run"), {"--set", "train.epochs=1", "preprocess.intensity=voi"}));
  const fs::path folder = place / "hospital";
  place.write("hospital/study/IM0001", data::encode_test_dicom(radiograph()));
  data::TestDicom inverted = radiograph();
  inverted.photometric = "MONOCHROME1";
  for (std::uint16_t& sample : inverted.samples) sample = static_cast<std::uint16_t>(4095 - sample);
  place.write("hospital/study/IM0002", data::encode_test_dicom(inverted));
  data::TestDicom lateral = radiograph();
  lateral.elements[kView] = data::text_element("CS", "LL");
  place.write("hospital/study/IM0003", data::encode_test_dicom(lateral));

  const Ended inspected = place.must_run({"inspect", "--data", folder});
  EXPECT_THAT(inspected.out, HasSubstr("dicom (2 images)"));
  EXPECT_THAT(inspected.out, HasSubstr("laterals: 1"));
  EXPECT_THAT(inspected.out + inspected.err, Not(HasSubstr("4711")));

  const std::string checkpoint = (place / "run/checkpoints/best.safetensors").string();
  const Ended predicted = place.must_run({"predict", "--checkpoint", checkpoint, folder, "--preds", place / "p.csv"});
  EXPECT_THAT(predicted.err, HasSubstr("laterals: 1"));
  EXPECT_THAT(predicted.err, Not(HasSubstr("stored values"))) << "the checkpoint says voi";
  EXPECT_THAT(predicted.out + predicted.err, Not(HasSubstr("4711")));
  const std::string table = read_all(place / "p.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 3) << table;
  const auto probabilities = [&table](std::string_view name) {
    const std::size_t at = table.find(name);
    const std::size_t begin = table.find(',', at);
    return table.substr(begin, table.find('\n', begin) - begin);
  };
  EXPECT_EQ(probabilities("IM0001"), probabilities("IM0002")) << "one picture, stored the other way round";

  const Ended trained = place.run(place.train_arguments(folder, "none"));
  EXPECT_EQ(trained.code, 2);
  EXPECT_THAT(trained.err, HasSubstr("expected a data set with labels, got images without labels"));

  place.write("hospital/befunde.csv", "file;sick\nstudies/IM0001;1\nstudies/IM0002;0\n");
  expect_refusal(place.run({"inspect", "--data", folder}), {"befunde.csv", "none of them", "--set data.source=dicom"});
  place.write("hospital/befunde.csv", "file;sick\nstudy/IM0001;1\nstudy/IM0002;0\n");
  EXPECT_THAT(place.must_run({"inspect", "--data", folder}).out, AllOf(HasSubstr("csv (2 images)"), HasSubstr("sick")));
}

}  // namespace
}  // namespace roentgen::e2e
