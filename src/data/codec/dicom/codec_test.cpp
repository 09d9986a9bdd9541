// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <thread>

#include "core/random.h"
#include "data/codec/codec_testing.h"
#include "data/codec/dicom/decode_testing.h"
#include "data/codec/dicom_study.h"

namespace roentgen::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kWindowCenter = 0x00281050, kWindowWidth = 0x00281051, kPixelData = 0x7FE00010;
TEST(Dicom, is_known_by_its_header) {
  const std::string file = encode_test_dicom({});
  const auto info = read_info(std::as_bytes(std::span(file)), "x");
  ASSERT_TRUE(info.ok()) << info.error();
  EXPECT_EQ(info.value().format, "dicom");
  EXPECT_EQ(info.value().width_px, 2);
  EXPECT_EQ(info.value().height_px, 2);
  EXPECT_EQ(info.value().channels, 1);
  EXPECT_EQ(info.value().bits, 12);
}

// Some archives contain data sets as they were received over the network: without a preamble, or also without meta
// information.
TEST(Dicom, without_a_preamble_is_read) {
  const std::string file = encode_test_dicom({});
  const std::string meta = file.substr(132), dataset = encode_dataset({});
  std::string implicit;
  const auto add = [&implicit](std::uint32_t group, std::uint32_t element, const std::string& value) {
    implicit += little_endian(group, 2) + little_endian(element, 2) + little_endian(value.size(), 4) + value;
  };
  add(0x0008, 0x0060, "DX");
  add(0x0028, 0x0002, little_endian(1, 2));
  add(0x0028, 0x0004, "MONOCHROME2 ");
  for (const auto& [element, number] : std::map<std::uint32_t, std::uint64_t>{
           {0x10, 2}, {0x11, 2}, {0x100, 16}, {0x101, 12}, {0x102, 11}, {0x103, 0}}) {
    add(0x0028, element, little_endian(number, 2));
  }
  add(0x7FE0, 0x0010, pixel_bytes({}));
  for (const std::string& bytes : {meta, dataset, implicit}) {
    Image image;
    const Status status = decode_test_file(bytes, image);
    ASSERT_TRUE(status.ok()) << status.error();
    EXPECT_EQ(image.samples<std::uint16_t>()[1], 1000);
    EXPECT_EQ(image.samples<std::uint16_t>()[3], 4095);
  }
}

// A data set without meta information does not state how its pixels are compressed.
TEST(Dicom, of_compressed_pixels_without_a_transfer_syntax_is_refused) {
  EXPECT_THAT(error_of(encode_dataset({.fragments = {"fragment"}})), HasSubstr("[data.dicom] study.dcm: expected"));
}

TEST(Dicom, gives_stored_values_on_the_range_of_their_bits) {
  Image image;
  ASSERT_TRUE(decode_test_file(encode_test_dicom({}), image).ok());
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 2, .height_px = 2, .bits = 16, .max_value = 4095}));
  EXPECT_THAT(levels_of({}), ElementsAre(0, 1000, 2000, 4095));
  EXPECT_THAT(levels_of({.bits_allocated = 8, .bits_stored = 8, .samples = {0, 1, 254, 255}}),
              ElementsAre(0, 1, 254, 255));
  EXPECT_THAT(levels_of({.bits_stored = 16, .is_signed = true, .samples = {0x8000, 0xFFFF, 0, 0x7FFF}}),
              ElementsAre(0, 32767, 32768, 65535));
}

TEST(Dicom, of_monochrome1_is_inverted_in_its_range) {
  EXPECT_THAT(levels_of({.photometric = "MONOCHROME1"}), ElementsAre(4095, 3095, 2095, 0));
  EXPECT_THAT(levels_of({.elements = {{0x20500020, text_element("CS", "INVERSE")}}}), ElementsAre(4095, 3095, 2095, 0));
}

TEST(Dicom, is_read_from_its_high_bit_without_what_lies_above) {
  const TestDicom dicom{.samples = {0xF010, 0x3E80, 0x7D00, 0xFFFF},
                        .elements = {{0x00280101, number_element(10)}, {0x00280102, number_element(13)}}};
  EXPECT_THAT(levels_of(dicom), ElementsAre(0x301, 0x3E8, 0x3D0, 0x3FF));
}

std::string warning_of(const TestDicom& dicom) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(error_of(dicom), "no error");
  return testing::internal::GetCapturedStderr();
}

TEST(Dicom, with_bits_below_the_stored_ones_is_named_once) {
  TestDicom dicom{.bits_stored = 9,
                  .samples = {0x8000, 0x80, 0x100, 0},
                  .elements = {{0x00280101, number_element(9)}, {0x00280102, number_element(15)}}};
  EXPECT_EQ(warning_of(dicom), "");
  dicom.samples[3] = 0x40;
  EXPECT_THAT(warning_of(dicom),
              HasSubstr("DICOM files with bits set below the 9 stored bits (High Bit 15): these bits are ignored"));
  EXPECT_EQ(warning_of(dicom), "");
}

TEST(Dicom, with_more_pixel_data_than_its_image_is_named_once) {
  TestDicom dicom{};
  dicom.samples.push_back(7);
  EXPECT_THAT(warning_of(dicom),
              HasSubstr("DICOM files with more pixel data than the image needs: the surplus is ignored"));
  EXPECT_EQ(warning_of(dicom), "");
  EXPECT_THAT(levels_of(dicom), ElementsAre(0, 1000, 2000, 4095));
}

TEST(Dicom, with_bits_above_its_high_bit_is_named_once_unless_they_are_signs) {
  // Uses a High Bit that no other test in this executable uses, so that the warning has not been printed yet.
  TestDicom dicom{.bits_stored = 11, .samples = {0, 1, 2, 0x0C00}};
  dicom.is_signed = true;
  dicom.samples[3] = 0xFC00;
  EXPECT_EQ(warning_of(dicom), "") << "-1024 with its signs";
  dicom.samples[3] = 0x0C00;
  EXPECT_THAT(warning_of(dicom),
              HasSubstr("DICOM files with bits set above High Bit 10, such as overlays: these bits are ignored"));
  EXPECT_EQ(warning_of(dicom), "");
}

TEST(Dicom, fills_three_channels_where_they_are_asked_for) {
  Image image;
  ASSERT_TRUE(decode_test_file(encode_test_dicom({}), image, Intensity::Stored, Channels::Rgb).ok());
  EXPECT_EQ(image.channels(), 3);
  EXPECT_EQ(image.samples<std::uint16_t>()[3], 1000);
  EXPECT_EQ(image.samples<std::uint16_t>()[5], 1000);
}

TEST(Dicom, takes_the_first_window_under_voi_and_none_under_stored) {
  const TestDicom dicom{.elements = {{kWindowCenter, text_element("DS", "2000\\40")},
                                     {kWindowWidth, text_element("DS", "1000.0\\400")},
                                     {0x00281056, text_element("CS", "LINEAR_EXACT")}}};
  EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(0, 0, 32768, 65535));
  EXPECT_THAT(levels_of(dicom, Intensity::Nih), ElementsAre(0, 0, 128, 255));
  EXPECT_THAT(levels_of(dicom), ElementsAre(0, 1000, 2000, 4095));
}

TEST(Dicom, takes_no_window_that_the_standard_does_not_define) {
  for (const char* width : {"0", "0.5", "-3", ""}) {
    const TestDicom dicom{
        .elements = {{kWindowCenter, text_element("DS", "2000")}, {kWindowWidth, text_element("DS", width)}}};
    EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(0, 1000, 2000, 4095)) << width;
  }
}

TEST(Dicom, takes_its_tables_in_their_order) {
  const auto lut = [](const std::string& entries, std::uint16_t count, std::uint16_t first, std::uint16_t bits) {
    return sequence_element(
        {{0x00283002, {"US", little_endian(count, 2) + little_endian(first, 2) + little_endian(bits, 2)}},
         {0x00283006, {"OW", entries}}});
  };
  TestDicom dicom{.bits_allocated = 8, .bits_stored = 8, .samples = {0, 1, 2, 3}};
  dicom.elements[0x00283000] = lut(std::string("\x05\0\x06\0\x07\0\x09\0", 8), 4, 0, 12);
  EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(5, 6, 7, 9));
  dicom.elements[0x00283010] = lut(std::string("\x0A\x14\x1E\x28", 4), 4, 6, 8);
  EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(10, 10, 20, 40)) << "8-bit entries, two to a word";
  EXPECT_THAT(levels_of(dicom), ElementsAre(0, 1, 2, 3));
  dicom.elements[0x00283010] = lut("ab", 4, 0, 12);
  EXPECT_THAT(error_of(dicom, Intensity::Voi), HasSubstr("got 1 of 4 entries, 12 bits"));
  EXPECT_EQ(error_of(dicom), "no error") << "stored values need no table";
}

TEST(Dicom, blackens_padding_under_voi) {
  const TestDicom dicom{.photometric = "MONOCHROME1", .elements = {{0x00280120, number_element(1000)}}};
  EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(4095, 0, 2095, 0));
}

TEST(Dicom, is_equalised_as_published_sets_were) {
  TestDicom dicom{.samples = {1000, 1000, 1001, 1002}};
  EXPECT_THAT(levels_of(dicom, Intensity::MimicJpg), ElementsAre(0, 0, 128, 255));
  EXPECT_THAT(levels_of(dicom, Intensity::Chexpert), ElementsAre(0, 0, 255, 255)) << "1001 of 1002 is 255 too";
}

TEST(Dicom, that_is_no_gray_image_is_refused_by_name) {
  const auto with = [](std::uint32_t tag, TestElement element) {
    return error_of({.elements = {{tag, std::move(element)}}});
  };
  EXPECT_THAT(with(kPixelData, {}), HasSubstr("[data.dicom] study.dcm: expected an image, got no pixel data"));
  EXPECT_THAT(with(0x00280004, text_element("CS", "RGB")), HasSubstr("got RGB"));
  EXPECT_THAT(with(0x00280004, text_element("CS", "PALETTE COLOR")), HasSubstr("got PALETTE COLOR"));
  EXPECT_THAT(with(0x00280002, number_element(3)), HasSubstr("3 values per pixel"));
  EXPECT_THAT(with(0x00280008, text_element("IS", "2")), HasSubstr("expected a single image (frame), got 2 frames"));
  EXPECT_THAT(with(0x00280008, text_element("IS", "many")), HasSubstr("got \"many\" frames"));
  EXPECT_THAT(with(0x00280008, text_element("IS", "1,5")), HasSubstr("got \"1,5\" frames"));
  EXPECT_THAT(error_of({.samples = std::vector<std::uint16_t>(8)}), HasSubstr("got pixel data of 2 frames"));
  EXPECT_EQ(error_of({.samples = std::vector<std::uint16_t>(7)}), "no error") << "padding";
  EXPECT_THAT(with(0x00280100, number_element(32)),
              HasSubstr("expected 1 to 16 bits stored in 8 or 16 bits per pixel, got 12 bits stored in 32"));
  EXPECT_THAT(with(0x00280101, number_element(17)), HasSubstr("got 17 bits stored in 16"));
  EXPECT_THAT(with(0x00280101, number_element(0)), HasSubstr("got 0 bits stored in 16"));
  EXPECT_THAT(with(0x00280101, {}), HasSubstr("expected a number in Bits Stored (0028,0101), got none"));
  EXPECT_THAT(with(0x00280102, number_element(16)), HasSubstr("expected a High Bit (0028,0102) from 11 to 15, got 16"));
  EXPECT_THAT(with(0x00280010, number_element(0)), HasSubstr("expected at least 1x1 pixels, got 2x0"));
  EXPECT_THAT(error_of({.syntax = "1.2.840.10008.1.2.4.100"}),
              AllOf(HasSubstr("got transfer syntax 1.2.840.10008.1.2.4.100 (MPEG2"), HasSubstr("gdcmconv --raw")));
  EXPECT_THAT(error_of({.syntax = "1.2.3.4"}), HasSubstr("got transfer syntax 1.2.3.4;"));
}

TEST(Dicom, with_less_data_than_pixels_is_refused) {
  EXPECT_THAT(error_of({.samples = {1, 2, 3}}), HasSubstr("expected complete pixel data, got only 6 of 8 bytes"));
  for (const char* syntax : {"1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.70", "1.2.840.10008.1.2.4.80",
                             "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.5"}) {
    EXPECT_THAT(error_of({.syntax = syntax}), HasSubstr("[data.dicom] study.dcm: expected")) << syntax;
  }
}

// Memory that a file claims to need (65,535 x 65,535 pixels, values of 4 GiB) must never be allocated.
TEST(Dicom, of_absurd_size_is_refused_before_memory_is_taken) {
  EXPECT_THAT(error_of({.width_px = 65535, .height_px = 65535}),
              HasSubstr("expected at most 1048576 pixels, got 65535x65535"));
  const std::string claims = little_endian(0x0009, 2) + little_endian(0x0010, 2) + "OB" + std::string(2, '\0') +
                             little_endian(0xFFFFFFFE, 4) + "abcd";
  EXPECT_THAT(error_of(with_meta("1.2.840.10008.1.2.1", claims)), HasSubstr("got truncated data"));
}

// A second element Rows states another height than the first element Rows.
TEST(Dicom, with_two_sizes_is_refused_or_of_the_first) {
  const std::string first = encode_test_dicom({});
  const std::string second = encode_element(0x00280010, number_element(60000));
  Image image;
  const Status status = decode_test_file(first + second, image);
  if (status) {
    EXPECT_EQ(image.height_px(), 2);
  } else {
    EXPECT_THAT(status.error(), HasSubstr("[data.dicom]"));
  }
}

constexpr const char* kDeflated = "1.2.840.10008.1.2.1.99";

// Deflates `mebibytes` MiB of zeros.
std::string deflated_zeros(int mebibytes) {
  std::vector<std::uint8_t> zeros(std::size_t{1} << 20), packed(std::size_t{1} << 16);
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string out;
  for (int i = 0; i < mebibytes; ++i) {
    stream.next_in = zeros.data();
    stream.avail_in = static_cast<std::uint32_t>(zeros.size());
    stream.end_of_stream = i + 1 == mebibytes ? 1 : 0;
    do {
      stream.next_out = packed.data();
      stream.avail_out = static_cast<std::uint32_t>(packed.size());
      EXPECT_EQ(isal_deflate(&stream), COMP_OK);
      out.append(reinterpret_cast<const char*>(packed.data()), packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  return out;
}

TEST(Dicom, that_is_deflated_and_damaged_is_refused) {
  EXPECT_THAT(error_of(with_meta(kDeflated, "")), HasSubstr("expected complete compressed (deflated) data"));
  EXPECT_THAT(error_of(with_meta(kDeflated, "no deflate stream")),
              HasSubstr("expected complete compressed (deflated) data"));
  const std::string whole = deflated_zeros(2);
  EXPECT_THAT(error_of(with_meta(kDeflated, whole.substr(0, whole.size() / 2))),
              HasSubstr("expected complete compressed (deflated) data"));
}

TEST(Dicom, that_would_inflate_beyond_bounds_is_refused) {
  EXPECT_THAT(error_of(with_meta(kDeflated, deflated_zeros(257))),
              HasSubstr("expected at most 268435456 bytes after decompression"));
}

std::string nested(int levels) {
  const std::string open = little_endian(0x0008, 2) + little_endian(0x1140, 2) + "SQ" + std::string(2, '\0') +
                           little_endian(0xFFFFFFFF, 4) + little_endian(0xFFFE, 2) + little_endian(0xE000, 2) +
                           little_endian(0xFFFFFFFF, 4);
  const std::string close = little_endian(0xFFFE, 2) + little_endian(0xE00D, 2) + little_endian(0, 4) +
                            little_endian(0xFFFE, 2) + little_endian(0xE0DD, 2) + little_endian(0, 4);
  std::string body;
  for (int i = 0; i < levels; ++i) body += open;
  for (int i = 0; i < levels; ++i) body += close;
  return with_meta("1.2.840.10008.1.2.1", body + encode_dataset({.elements = {{0x00080060, {}}}}));
}

// DCMTK reads sequences recursively, so without a limit a small file would overflow the stack.
TEST(Dicom, nested_without_end_is_refused) {
  EXPECT_EQ(error_of(nested(100)), "no error");
  EXPECT_THAT(error_of(nested(100000)), HasSubstr("expected at most 500 sequence items"));
}

TEST(Dicom, cut_anywhere_is_refused) {
  const std::string file = encode_test_dicom({});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string error = error_of(std::string_view(file).substr(0, size));
    ASSERT_NE(error, "no error") << size << " of " << file.size();
    ASSERT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(Dicom, with_random_bytes_changed_gives_a_picture_or_a_reason) {
  std::int64_t pictures = 0, reasons = 0;
  for (const char* syntax : {"1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.5"}) {
    const std::string file = encode_test_dicom({.syntax = syntax});
    for (std::uint64_t round = 0; round < 1500; ++round) {
      Random random(9, RandomStage::Test, round);
      std::string changed = file;
      for (std::uint64_t i = 0; i <= round % 4; ++i) {
        changed[132 + random.below(file.size() - 132)] = static_cast<char>(random.below(256));
      }
      ++(error_of(changed, Intensity::Voi) == "no error" ? pictures : reasons);
    }
  }
  EXPECT_GT(pictures, 0);
  EXPECT_GT(reasons, 0);
}

TEST(Dicom, is_read_by_several_threads_at_once) {
  const std::string file = encode_test_dicom({});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&file] {
      for (int round = 0; round < 20; ++round) EXPECT_EQ(error_of(file), "no error");
    });
  }
}

TEST(DicomStudy, reads_what_is_before_the_pixels) {
  TestDicom dicom{.elements = {{0x00100020, text_element("LO", "P 17")},
                               {0x00100040, text_element("CS", "F")},
                               {0x00101010, text_element("AS", "058Y")},
                               {0x00080068, text_element("CS", "FOR PRESENTATION")}}};
  const std::string file = encode_test_dicom(dicom);
  const auto study = read_dicom_study(std::as_bytes(std::span(file).first(file.size() - 4)), "x");
  ASSERT_TRUE(study.ok()) << study.error();
  EXPECT_EQ(study.value().modality, "DX");
  EXPECT_EQ(study.value().body_part, "CHEST");
  EXPECT_EQ(study.value().view, "PA");
  EXPECT_EQ(study.value().intent, "FOR PRESENTATION");
  EXPECT_EQ(study.value().patient, "P 17");
  EXPECT_EQ(study.value().sex, "F");
  EXPECT_EQ(study.value().age, "058Y");
  EXPECT_TRUE(study.value().has_size);
}

TEST(DicomSupport, names_its_libraries) {
  EXPECT_TRUE(dicom_support().is_built);
  EXPECT_THAT(dicom_support().text, HasSubstr("DCMTK 3"));
}

}  // namespace
}  // namespace roentgen::data
