// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JPEG extended, lossless and JPEG-LS streams from DCMTK's encoders, intact and damaged.
#include "data/codec/dicom/jpeg_stream.h"

#include <dcmtk/config/osconfig.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include <dcmtk/dcmdata/dcdatset.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpeg/djrplol.h>
#include <dcmtk/dcmjpeg/djrploss.h>
#include <dcmtk/dcmjpls/djencode.h>
#include <dcmtk/dcmjpls/djrparam.h>

#include "core/random.h"
#include "data/codec/codec_testing.h"
#include "data/codec/dicom/decode_testing.h"
#include "data/codec/dicom/frame.h"

namespace roentgen::data {
namespace {

using ::testing::HasSubstr;

constexpr std::uint16_t kWidth_px = 20, kHeight_px = 24;
constexpr const char* kExtended = "1.2.840.10008.1.2.4.51";
constexpr const char* kLossless = "1.2.840.10008.1.2.4.70";
constexpr const char* kAnyLossless = "1.2.840.10008.1.2.4.57";
constexpr const char* kJpegLs = "1.2.840.10008.1.2.4.80";

// A smooth ramp with noise, in `bits` bits.
std::vector<std::uint16_t> picture(int bits) {
  std::vector<std::uint16_t> levels;
  Random random(7, RandomStage::Test);
  for (int y = 0; y < kHeight_px; ++y) {
    for (int x = 0; x < kWidth_px; ++x) {
      const int level = ((1 << bits) - 100) * (x + y) / (kWidth_px + kHeight_px);
      levels.push_back(static_cast<std::uint16_t>(level + static_cast<int>(random.below(60))));
    }
  }
  return levels;
}

E_TransferSyntax syntax_of(std::string_view uid) {
  if (uid == kExtended) return EXS_JPEGProcess2_4;
  if (uid == kAnyLossless) return EXS_JPEGProcess14;
  return uid == kLossless ? EXS_JPEGProcess14SV1 : EXS_JPEGLSLossless;
}

// Stream that DCMTK writes for samples with a stated number of bits; `predictor` is used with kAnyLossless.
std::string encoded(std::string_view uid, const std::vector<std::uint16_t>& levels, std::uint16_t bits,
                    int predictor = 1) {
  static std::once_flag once;
  std::call_once(once, [] {
    DJEncoderRegistration::registerCodecs();
    DJLSEncoderRegistration::registerCodecs();
  });
  DcmDataset dataset;
  const auto put = [&dataset](const DcmTagKey& tag, std::uint16_t value) {
    EXPECT_TRUE(dataset.putAndInsertUint16(tag, value).good());
  };
  put(DCM_SamplesPerPixel, 1);
  put(DCM_Rows, kHeight_px);
  put(DCM_Columns, kWidth_px);
  put(DCM_BitsAllocated, 16);
  put(DCM_BitsStored, bits);
  put(DCM_HighBit, static_cast<std::uint16_t>(bits - 1));
  put(DCM_PixelRepresentation, 0);
  EXPECT_TRUE(dataset.putAndInsertString(DCM_PhotometricInterpretation, "MONOCHROME2").good());
  EXPECT_TRUE(dataset.putAndInsertString(DCM_SOPClassUID, "1.2.840.10008.5.1.4.1.1.1.1").good());
  EXPECT_TRUE(dataset.putAndInsertString(DCM_SOPInstanceUID, "1.2.3.4").good());
  EXPECT_TRUE(dataset.putAndInsertUint16Array(DCM_PixelData, levels.data(), levels.size()).good());
  const DJ_RPLossless lossless(predictor, 0);
  const DJ_RPLossy lossy(95);
  const DJLSRepresentationParameter jpeg_ls(0, OFTrue);
  const DcmRepresentationParameter* parameter = &lossless;
  if (uid == kExtended) parameter = &lossy;
  if (uid == kJpegLs) parameter = &jpeg_ls;
  EXPECT_TRUE(dataset.chooseRepresentation(syntax_of(uid), parameter).good());
  DcmElement* element = nullptr;
  DcmPixelSequence* sequence = nullptr;
  DcmPixelItem* item = nullptr;
  Uint8* bytes = nullptr;
  EXPECT_TRUE(dataset.findAndGetElement(DCM_PixelData, element).good());
  auto* pixels = dynamic_cast<DcmPixelData*>(element);
  if (pixels == nullptr || pixels->getEncapsulatedRepresentation(syntax_of(uid), parameter, sequence).bad() ||
      sequence->getItem(item, 1).bad() || item->getUint8Array(bytes).bad()) {
    ADD_FAILURE() << "DCMTK encodes nothing";
    return {};
  }
  return {reinterpret_cast<const char*>(bytes), item->getLength()};
}

TestDicom dicom_of(const char* syntax, const std::string& stream) {
  return {.width_px = kWidth_px,
          .height_px = kHeight_px,
          .syntax = syntax,
          .fragments = {stream + std::string(stream.size() % 2, '\0')}};
}

class JpegStream : public testing::TestWithParam<const char*> {};

TEST_P(JpegStream, that_is_whole_gives_its_samples) {
  const std::vector<std::uint16_t> levels = picture(12);
  const auto read = decoded(dicom_of(GetParam(), encoded(GetParam(), levels, 12)));
  EXPECT_EQ(read.white, 4095U);
  ASSERT_EQ(read.levels.size(), levels.size());
  if (std::string_view(GetParam()) == kExtended) {
    constexpr int kLossy = 60;  // tolerance for noise that quality 95 can remove
    for (std::size_t i = 0; i < levels.size(); ++i) ASSERT_NEAR(read.levels[i], levels[i], kLossy);
  } else {
    EXPECT_EQ(read.levels, levels);
  }
}

TEST_P(JpegStream, in_two_fragments_is_one_stream_and_two_streams_are_refused) {
  const std::string stream = dicom_of(GetParam(), encoded(GetParam(), picture(12), 12)).fragments[0];
  TestDicom dicom = dicom_of(GetParam(), stream);
  const auto whole = levels_of(dicom);
  dicom.fragments = {stream.substr(0, 100), stream.substr(100)};
  EXPECT_EQ(levels_of(dicom), whole);
  dicom.fragments = {stream, stream};
  EXPECT_THAT(error_of(dicom), HasSubstr("got pixel data of 2 frames"));
}

TEST_P(JpegStream, that_is_cut_is_refused) {
  const std::string stream = encoded(GetParam(), picture(12), 12);
  const std::size_t end = stream.rfind("\xFF\xD9");
  for (std::size_t size = 0; size < end + 2; size += 11) {
    EXPECT_THAT(error_of(dicom_of(GetParam(), stream.substr(0, size) + "  ")), HasSubstr("[data.dicom] study.dcm"))
        << size;
  }
}

// Lossless streams have no checksum. With three bytes missing or added, a few streams still decode to the right end.
TEST_P(JpegStream, with_bytes_missing_or_too_many_is_refused) {
  const std::string stream = encoded(GetParam(), picture(12), 12);
  const std::size_t begin = stream.find("\xFF\xDA") + 10, end = stream.rfind("\xFF\xD9");
  const bool is_lossy = std::string_view(GetParam()) == kExtended;
  int taken = 0, tried = 0;
  for (std::size_t at = begin; at + 3 < end; at += 5) {
    std::string missing = stream, surplus = stream;
    missing.erase(at, 3);
    surplus.insert(at, "\x12\x34\x56");
    for (const std::string& damaged : {missing, surplus}) {
      ++tried;
      taken += error_of(dicom_of(GetParam(), damaged)) == "no error" ? 1 : 0;
    }
  }
  EXPECT_GT(tried, 50);
  // A block of a lossy stream ends with an end code, so decoding can resynchronise after damage.
  EXPECT_LE(taken, is_lossy ? tried / 3 : tried / 20) << "of " << tried;
}

TEST_P(JpegStream, of_another_size_or_kind_is_refused) {
  TestDicom dicom = dicom_of(GetParam(), encoded(GetParam(), picture(12), 12));
  dicom.width_px = kWidth_px + 1;
  EXPECT_THAT(error_of(dicom), HasSubstr("20x24"));
  EXPECT_THAT(error_of(dicom_of(GetParam(), "no JPEG stream")), HasSubstr("no end marker"));
}

INSTANTIATE_TEST_SUITE_P(All, JpegStream, testing::Values(kExtended, kLossless, kJpegLs),
                         [](const auto& instance) { return "syntax_" + std::string(instance.param).substr(20); });

TEST(JpegStreamLimits, of_lossless_jpeg_have_any_predictor) {
  const std::vector<std::uint16_t> levels = picture(12);
  for (int predictor = 1; predictor <= 7; ++predictor) {
    EXPECT_EQ(levels_of(dicom_of(kAnyLossless, encoded(kAnyLossless, levels, 12, predictor))), levels) << predictor;
  }
}

// The picture is scaled by the header's bits, so a sample that needs more bits must not wrap around.
TEST(JpegStreamLimits, with_samples_beyond_the_bits_stored_is_refused) {
  std::vector<std::uint16_t> levels = picture(12);
  levels[100] = 4300;
  for (const char* syntax : {kLossless, kJpegLs}) {
    EXPECT_THAT(
        error_of(dicom_of(syntax, encoded(syntax, levels, 13))),
        HasSubstr("expected pixel values of at most 12 bits, as Bits Stored says, got 4300 in a JPEG stream of"));
  }
}

// Without an end marker the decoder reads beyond the fragment, so the result would depend on the heap.
TEST(JpegStreamLimits, of_jpeg_ls_without_its_end_marker_is_refused_before_it_is_decoded) {
  std::string stream = encoded(kJpegLs, picture(12), 12);
  stream.resize(stream.rfind("\xFF\xD9"));
  EXPECT_THAT(error_of(dicom_of(kJpegLs, stream)), HasSubstr("got damaged markers or no end marker"));
}

// An 8-bit baseline or progressive stream, which our own JPEG codec decodes.
std::string baseline_stream(int flags = 0) {
  const auto bytes = encode_test_jpeg({.width_px = kWidth_px,
                                       .height_px = kHeight_px,
                                       .flags = flags,
                                       .samples = smooth_bytes(kWidth_px, kHeight_px, 1)});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TestDicom baseline_dicom(const std::string& stream) {
  TestDicom dicom = dicom_of("1.2.840.10008.1.2.4.50", stream);
  dicom.bits_allocated = dicom.bits_stored = 8;
  return dicom;
}

// In a plain JPEG file, the codec accepts surplus bytes after the last pixel. In DICOM they are an error.
TEST(JpegBaseline, with_data_behind_its_last_pixel_is_refused) {
  for (const int flags : {0, int{TJFLAG_PROGRESSIVE}}) {
    std::string stream = baseline_stream(flags);
    EXPECT_EQ(levels_of(baseline_dicom(stream)).size(), std::size_t{kWidth_px} * kHeight_px);
    stream.insert(stream.rfind("\xFF\xD9"), "\x55\x55\x55");
    EXPECT_THAT(error_of(baseline_dicom(stream)), HasSubstr("surplus data")) << flags;
  }
}

TEST(JpegBaseline, with_less_data_than_pixels_or_without_its_end_is_refused) {
  const std::string stream = baseline_stream();
  const std::size_t begin = stream.find("\xFF\xDA") + 10, end = stream.rfind("\xFF\xD9");
  for (std::size_t at = end; at > begin + 8; at -= 7) {
    EXPECT_THAT(error_of(baseline_dicom(stream.substr(0, at))), HasSubstr("no end marker")) << at;
    std::string early = stream.substr(0, at - 7) + "\xFF\xD9";
    EXPECT_THAT(error_of(baseline_dicom(early)), HasSubstr("expected a complete JPEG stream, got truncated data"))
        << at;
  }
}

TEST(JpegFrame, ends_at_its_end_marker) {
  const std::string stream = encoded(kLossless, picture(12), 12);
  const std::size_t end = stream.rfind("\xFF\xD9") + 2;
  const auto frame = read_jpeg_frame(std::as_bytes(std::span(stream)));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->marker, kLosslessFrame);
  EXPECT_EQ(frame->width_px, kWidth_px);
  EXPECT_EQ(frame->height_px, kHeight_px);
  EXPECT_EQ(frame->components, 1);
  EXPECT_EQ(frame->length_bytes, end);
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_FALSE(read_jpeg_frame(std::as_bytes(std::span(stream)).first(size)).has_value()) << size;
  }
}

}  // namespace
}  // namespace roentgen::data
