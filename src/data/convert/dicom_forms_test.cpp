// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One study as 12-bit DICOM, 16-bit PNG, 8-bit PNG and in record files. All must give a network the same input, up to
// the rounding of each format.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"
#include "data/convert/convert.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/stage/loader.h"
#include "data/stage/sample_loader.h"
#include "io/png_writer.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t kSide_px = 40;
constexpr double kWhite12 = 4095.0;

class DicomForms : public testing::Test {
 protected:
  void SetUp() override {
    if (!dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << dicom_support().text;
    Random random(4, RandomStage::Test);
    for (int i = 0; i < kSide_px * kSide_px; ++i) levels_.push_back(static_cast<std::uint16_t>(random.below(4096)));
    write("dicom/a.dcm", encode_test_dicom({.width_px = kSide_px, .height_px = kSide_px, .samples = levels_}));
    write("png16/a.png", png(16));
    write("png8/a.png", png(8));
  }
  void write(std::string_view name, const std::string& bytes) const {
    static_cast<void>(folder_.write(name, bytes));
    static_cast<void>(folder_.write((fs::path(name).parent_path() / "labels.csv").string(),
                                    fmt_row(fs::path(name).filename().string())));
  }
  static std::string fmt_row(const std::string& name) { return "path,sick\n" + name + ",1\n"; }
  [[nodiscard]] std::string png(int bits) const {
    std::vector<std::byte> pixels;
    for (const std::uint16_t level : levels_) {
      const auto value = std::lround(level / kWhite12 * (bits == 8 ? 255.0 : 65535.0));
      if (bits == 16) pixels.push_back(static_cast<std::byte>(value & 0xFF));
      pixels.push_back(static_cast<std::byte>(bits == 16 ? value >> 8 : value));
    }
    const auto file =
        io::encode_png({.width_px = kSide_px, .height_px = kSide_px, .channels = 1, .bits = bits, .pixels = pixels});
    return {reinterpret_cast<const char*>(file.data()), file.size()};
  }
  [[nodiscard]] static Dataset load(const fs::path& folder, std::vector<std::string> labels = {"sick"}) {
    return load_dataset({.root = folder, .labels = std::move(labels), .split = {.mode = SplitMode::Whole}});
  }
  // (25 x 25) levels from 0 to 1 of the only sample in a folder.
  [[nodiscard]] static std::vector<float> input_of(const Dataset& dataset) {
    LoaderOptions options;
    options.preprocess = preset("unit");
    options.preprocess.size_px = 25;
    SampleLoader loader(dataset, options);
    std::vector<float> input(25 * 25);
    const Status status =
        loader.load(0, nullptr, {.bytes = std::as_writable_bytes(std::span(input)), .dtype = DType::F32});
    EXPECT_TRUE(status.ok()) << status.error();
    return input;
  }
  static double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
    return largest;
  }
  [[nodiscard]] fs::path in(std::string_view name) const { return folder_.path() / name; }

  TestFolder folder_;
  std::vector<std::uint16_t> levels_;
};

// The resize is a mean whose weights sum to 1, so it does not amplify rounding errors. 1e-6 allows for float32 sums.
TEST_F(DicomForms, differ_by_their_rounding_alone) {
  const std::vector<float> dicom = input_of(load(in("dicom")));
  EXPECT_LE(largest_difference(input_of(load(in("png16"))), dicom), 0.5 / 65535.0 + 1e-6);
  const double narrow = largest_difference(input_of(load(in("png8"))), dicom);
  EXPECT_LE(narrow, 0.5 / 255.0 + 1e-6);
  EXPECT_GT(narrow, 1e-5) << "nothing was rounded: this test tests nothing";
}

TEST_F(DicomForms, are_counted_in_records_whose_readers_do_not_decode_them) {
  for (const char* form : {"recordio", "lmdb", "tfrecord"}) {
    ConvertOptions options{.folder = in(form), .form = form};
    EXPECT_EQ(convert(load(in("dicom")), options).uncommon_files, options.form == "tfrecord" ? 0 : 1);
    options.folder = in(std::string(form) + "_png");
    options.encoding = Encoding::Png;
    EXPECT_EQ(convert(load(in("dicom")), options).uncommon_files, 0);
  }
}

TEST_F(DicomForms, in_record_files_are_those_they_were_made_of) {
  const Dataset dataset = load(in("dicom"));
  const std::vector<float> dicom = input_of(dataset);
  struct Case {
    Encoding encoding;
    double bound;
  };
  for (const Case& one :
       {Case{Encoding::Keep, 0.0}, Case{Encoding::Raw, 0.0}, Case{Encoding::Png, 0.5 / 65535.0 + 1e-6}}) {
    const auto name = "records" + std::to_string(static_cast<int>(one.encoding));
    const Converted done =
        convert(dataset, {.folder = in(name), .encoding = one.encoding, .shards = 1, .should_verify = true});
    EXPECT_EQ(done.images, 1);
    EXPECT_LE(largest_difference(input_of(load(in(name), {})), dicom), one.bound) << name;
  }
}

TEST_F(DicomForms, are_stored_as_the_intensity_that_is_asked_for) {
  TestDicom windowed{.width_px = kSide_px, .height_px = kSide_px, .samples = levels_};
  windowed.elements = {{0x00281050, text_element("DS", "1000")}, {0x00281051, text_element("DS", "1500")}};
  write("voi/a.dcm", encode_test_dicom(windowed));
  const Dataset dataset = load(in("voi"));
  static_cast<void>(convert(dataset, {.folder = in("voi_records"),
                                      .encoding = Encoding::Raw,
                                      .intensity = Intensity::Voi,
                                      .shards = 1,
                                      .should_verify = true}));
  const std::vector<float> stored = input_of(dataset), viewed = input_of(load(in("voi_records"), {}));
  EXPECT_GT(largest_difference(stored, viewed), 0.05);
  EXPECT_THROW(static_cast<void>(convert(dataset, {.folder = in("no"), .intensity = Intensity::Voi})), ConfigError);
}

}  // namespace
}  // namespace roentgen::data
