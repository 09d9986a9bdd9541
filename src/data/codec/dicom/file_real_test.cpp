// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the stored samples of real and unusual DICOM files with pydicom's (dicom/labels.csv of the test data), and
// checks why the other files are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "data/codec/codec.h"
#include "data/codec/dicom/file.h"
#include "data/codec/sha1_testing.h"
#include "data/source/source_testing.h"
#include "data/transform/transform.h"
#include "io/csv.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Refused files below dicom/other, by error text. Names are without "pydicom_" and ".dcm".
const std::map<std::string, std::vector<std::string>> kRefused{
    {"got RGB, 3 values",
     {"ExplVR_BigEnd", "SC_jpeg_no_color_transform", "SC_jpeg_no_color_transform_2", "SC_rgb_dcmtk_+eb+cr",
      "SC_rgb_gdcm_KY", "SC_rgb_jls_lossy_line", "SC_rgb_jls_lossy_sample", "SC_rgb_jpeg_app14_dcmd",
      "SC_rgb_jpeg_dcmd", "SC_rgb_jpeg_gdcm", "SC_rgb_rle", "SC_rgb_rle_16bit", "SC_rgb_rle_16bit_2frame",
      "SC_rgb_rle_2frame", "SC_rgb_rle_32bit", "SC_rgb_rle_32bit_2frame", "SC_rgb_small_odd",
      "SC_rgb_small_odd_big_endian", "examples_rgb_color"}},
    {"got YBR_FULL, 3 values",
     {"SC_rgb_dcmtk_+eb+cy+n1", "SC_rgb_dcmtk_+eb+cy+n2", "SC_rgb_dcmtk_+eb+cy+s4", "SC_rgb_jpeg_dcmtk",
      "SC_rgb_jpeg_lossy_gdcm", "SC_rgb_small_odd_jpeg"}},
    {"got YBR_FULL_422, 3 values",
     {"SC_rgb_dcmtk_+eb+cy+np", "SC_rgb_dcmtk_+eb+cy+s2", "SC_ybr_full_422_uncompressed", "examples_ybr_color"}},
    {"got YBR_RCT, 3 values", {"GDCMJ2K_TextGBR", "examples_jpeg2k"}},
    {"got PALETTE COLOR", {"examples_palette"}},
    {"got no rows and columns",
     {"ExplVR_BigEndNoMeta", "ExplVR_LitEndNoMeta", "UN_sequence", "empty_charset_LEI", "no_meta_group_length",
      "priv_SQ", "reportsi", "reportsi_with_empty_number_tags", "rtplan", "rtstruct", "test-SR", "waveform_ecg",
      "meta_missing_tsyntax", "nested_priv_SQ"}},
    {"got 15 frames", {"rtdose", "rtdose_expb", "rtdose_rle"}},
    {"got 32 bits stored in 32", {"badVR", "rtdose_1frame", "rtdose_expb_1frame", "rtdose_rle_1frame"}},
    {"got 1 bits stored in 1", {"liver_1frame", "liver_expb_1frame"}},
    {"got Invalid number of tiles", {"JPEG2000-embedded-sequence-delimiter"}},
    // The fragments of SC_rgb_jpeg have no end mark, which pydicom accepts.
    {"got truncated data", {"SC_rgb_jpeg", "MR_truncated", "no_meta", "rtplan_truncated"}}};

// Files that pydicom 2.3.1 could not read, because decoders were not installed.
const std::vector<std::string> kOursAlone{"JPEG-lossy", "JPEGLSNearLossless_08", "JPEGLSNearLossless_16", "JPGExtended",
                                          "MR_small_jpeg_ls_lossless"};

std::map<std::string, std::string> reasons() {
  std::map<std::string, std::string> by_file;
  for (const auto& [reason, files] : kRefused) {
    for (const std::string& file : files) by_file["other/pydicom_" + file + ".dcm"] = reason;
  }
  return by_file;
}

// SHA-1 of the samples as pydicom's pixel_array stores them: little-endian, with their own type.
std::string sha1_of(const DicomHeader& header, std::span<const std::uint16_t> codes) {
  std::vector<std::byte> bytes;
  for (const std::uint16_t code : codes) {
    const std::int64_t value = value_of_code(code, header.meaning);
    for (int byte = 0; byte < header.bits_allocated / 8; ++byte) {
      bytes.push_back(static_cast<std::byte>((value >> (8 * byte)) & 0xFF));
    }
  }
  return sha1_hex(bytes);
}

class DicomReal : public RealDataTest {};

TEST_F(DicomReal, stored_values_are_pydicoms_and_each_refusal_has_its_reason) {
  const fs::path folder = real_data() / "dicom";
  const io::Csv csv = io::read_csv(folder / "labels.csv").or_throw();
  const std::size_t sha1 = csv.column("sha1_of_array_le").value();
  std::map<std::string, std::string> refused = reasons();
  int same = 0, ours_alone = 0;
  for (const std::vector<std::string>& row : csv.rows) {
    const std::string& name = row[0];
    const std::vector<std::byte> bytes = io::read_file(folder / name).or_throw();
    std::vector<std::uint16_t> codes;
    auto file = DicomFile::open(bytes, name);
    Status status = file ? Status(Done{}) : Status(file.why());
    if (status) {
      const DicomHeader& header = file.value().header();
      codes.resize(static_cast<std::size_t>(header.width_px * header.height_px));
      status = file.value().read_codes(name, codes);
    }
    if (!status) {
      ASSERT_TRUE(refused.contains(name)) << "refused: " << status.error();
      EXPECT_THAT(status.error(), testing::HasSubstr(refused[name])) << name;
      refused.erase(name);
      continue;
    }
    EXPECT_FALSE(refused.contains(name)) << "read: " << name;
    if (row[sha1].empty()) {
      ++ours_alone;
      EXPECT_THAT(kOursAlone, testing::Contains(name.substr(14, name.size() - 18)));
      continue;
    }
    EXPECT_EQ(sha1_of(file.value().header(), codes), row[sha1]) << name;
    ++same;
  }
  EXPECT_EQ(same, 16);
  EXPECT_EQ(ours_alone, 5);
  for (const auto& [name, reason] : refused) ADD_FAILURE() << name << " is no more in the test data";
}

// Truncates the small compressed files at every length. Each must be refused or decoded, without a crash.
TEST_F(DicomReal, compressed_files_cut_or_changed_give_a_picture_or_a_reason) {
  Decoder decoder;
  Image image;
  for (const char* name :
       {"JPEGLSNearLossless_08", "MR_small_RLE", "MR_small_jp2klossless", "MR_small_jpeg_ls_lossless", "693_J2KI"}) {
    const fs::path path = real_data() / "dicom/other" / ("pydicom_" + std::string(name) + ".dcm");
    const std::vector<std::byte> file = io::read_file(path).or_throw();
    for (std::uint64_t round = 0; round < 60; ++round) {
      Random random(3, RandomStage::Test, round);
      std::vector<std::byte> bytes = file;
      if (round % 2 == 0) bytes.resize(132 + random.below(file.size() - 132));
      for (std::uint64_t i = 0; round % 2 == 1 && i < 3; ++i) {
        bytes[132 + random.below(bytes.size() - 132)] = static_cast<std::byte>(random.below(256));
      }
      const Status status = decoder.decode(bytes, name, {.intensity = Intensity::Voi}, image);
      EXPECT_TRUE(status.ok() || status.error().find('\n') == std::string::npos) << status.error();
    }
  }
}

// A gray chest image has more than one level, and levels between the ends of its range.
TEST_F(DicomReal, chests_give_plausible_inputs_under_every_intensity) {
  Transformer transformer;
  Decoder decoder;
  Image image;
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(real_data() / "dicom/chest")) {
    const std::vector<std::byte> bytes = io::read_file(entry.path()).or_throw();
    for (const Intensity intensity : {Intensity::Stored, Intensity::Voi, Intensity::Nih, Intensity::MimicJpg,
                                      Intensity::Chexpert, Intensity::Xrv}) {
      const Status status = decoder.decode(bytes, entry.path().filename().string(), {.intensity = intensity}, image);
      ASSERT_TRUE(status.ok()) << status.error();
      Preprocess preprocess = preset("unit");
      std::vector<float> input(224 * 224);
      transformer.apply(image, preprocess, nullptr,
                        {.bytes = std::as_writable_bytes(std::span(input)), .dtype = DType::F32});
      double mean = 0.0, square = 0.0;
      for (const float v : input) mean += v / 50176.0;
      for (const float v : input) square += (v - mean) * (v - mean) / 50176.0;
      EXPECT_GT(mean, 0.25) << entry.path() << " " << name_of(intensity);
      EXPECT_LT(mean, 0.75) << entry.path() << " " << name_of(intensity);
      EXPECT_GT(std::sqrt(square), 0.1) << entry.path() << " " << name_of(intensity);
    }
    ++files;
  }
  EXPECT_EQ(files, 3);
}

// The two files differ only in the photometric interpretation in the header.
TEST_F(DicomReal, monochrome1_is_the_inverse_of_monochrome2) {
  const fs::path folder = real_data() / "dicom/chest";
  std::vector<Image> images(2);
  Decoder decoder;
  for (int i = 0; i < 2; ++i) {
    const char* name =
        i == 0 ? "siim_fake_mono1.dcm" : "siim_1.2.276.0.7230010.3.1.4.8323329.6904.1517875201.850819.dcm";
    ASSERT_TRUE(decoder.decode(io::read_file(folder / name).or_throw(), name, {}, images[static_cast<std::size_t>(i)]));
  }
  const auto inverted = images[0].samples<std::uint8_t>(), plain = images[1].samples<std::uint8_t>();
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(inverted[i] + plain[i], 255);
}

}  // namespace
}  // namespace roentgen::data
