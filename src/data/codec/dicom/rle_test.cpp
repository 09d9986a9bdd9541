// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/rle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "data/codec/dicom/decode_testing.h"

namespace roentgen::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Builds an RLE frame of these segments, padded to an even length.
std::string rle_frame(const std::vector<std::string>& segments) {
  std::string header = little_endian(segments.size(), 4), body;
  for (const std::string& segment : segments) {
    header += little_endian(kRleHeader_bytes + body.size(), 4);
    body += segment;
  }
  header.resize(kRleHeader_bytes, '\0');
  return header + body + std::string(body.size() % 2, '\0');
}

/// Encodes a run of up to 128 equal bytes.
std::string run(int count, char byte) { return {static_cast<char>(257 - count), byte}; }
std::string literal(const std::string& bytes) { return static_cast<char>(bytes.size() - 1) + bytes; }

std::vector<std::uint16_t> samples_of(const std::string& frame, int bytes_per_sample, std::size_t pixels) {
  std::vector<std::uint16_t> samples(pixels, 0xFFFF);
  const Status status = decode_rle(std::as_bytes(std::span(frame)), "x", bytes_per_sample, samples);
  EXPECT_TRUE(status.ok()) << status.error();
  return samples;
}

std::string fault_of(const std::string& frame, int bytes_per_sample = 1, std::size_t pixels = 4) {
  std::vector<std::uint16_t> samples(pixels);
  const Status status = decode_rle(std::as_bytes(std::span(frame)), "x", bytes_per_sample, samples);
  return status ? "no error" : status.error();
}

TEST(Rle, joins_runs_and_bytes_of_all_segments) {
  EXPECT_THAT(samples_of(rle_frame({run(2, 5) + literal("\x06\x07")}), 1, 4), ElementsAre(5, 5, 6, 7));
  EXPECT_THAT(samples_of(rle_frame({run(4, 1), literal("\x01\x02") + run(2, 3)}), 2, 4),
              ElementsAre(0x101, 0x102, 0x103, 0x103));
}

// A control byte of 128 produces no output (PS3.5 G.3.1). DCMTK's decoder also skips the next byte.
TEST(Rle, passes_over_no_ops) {
  EXPECT_THAT(samples_of(rle_frame({"\x80" + run(2, 5) + "\x80\x80" + literal("\x06\x07") + "\x80"}), 1, 4),
              ElementsAre(5, 5, 6, 7));
}

TEST(Rle, takes_the_padding_of_an_odd_image) {
  EXPECT_THAT(samples_of(rle_frame({run(2, 5) + literal(std::string("\x06\0", 2))}), 1, 3), ElementsAre(5, 5, 6));
}

TEST(Rle, that_gives_other_than_one_byte_a_sample_is_refused) {
  EXPECT_THAT(fault_of(rle_frame({run(3, 5)})), HasSubstr("got 3 of 4 bytes in a segment"));
  EXPECT_THAT(fault_of(rle_frame({""})), HasSubstr("got 0 of 4 bytes in a segment"));
  EXPECT_THAT(fault_of(rle_frame({std::string("\x03\x01\x02", 3)})), HasSubstr("bytes in a segment")) << "cut";
  EXPECT_THAT(fault_of(rle_frame({run(5, 5)})), HasSubstr("got 5 of 4 bytes"));
  EXPECT_THAT(fault_of(rle_frame({run(4, 5) + run(2, 6)})), HasSubstr("got more than 4 of 4 bytes"));
  EXPECT_THAT(fault_of(rle_frame({run(4, 5), run(2, 5)}), 2), HasSubstr("got 2 of 4 bytes"));
}

TEST(Rle, with_a_header_of_another_image_is_refused) {
  EXPECT_THAT(fault_of("short"), HasSubstr("got 5 bytes"));
  EXPECT_THAT(fault_of(rle_frame({run(4, 5)}), 2), HasSubstr("got 1 segments for samples of 2 bytes"));
  std::string frame = rle_frame({run(4, 5)});
  frame.replace(4, 4, little_endian(1000, 4));
  EXPECT_THAT(fault_of(frame), HasSubstr("a segment outside the data"));
  frame.replace(4, 4, little_endian(8, 4));
  EXPECT_THAT(fault_of(frame), HasSubstr("a segment outside the data"));
}

TEST(Rle, of_random_bytes_gives_samples_or_a_fault) {
  for (std::uint64_t round = 0; round < 2000; ++round) {
    Random random(11, RandomStage::Test, round);
    std::string frame = rle_frame({run(4, 1), literal("abcd")});
    for (std::uint64_t i = 0; i <= round % 3; ++i)
      frame[random.below(frame.size())] = static_cast<char>(random.below(256));
    static_cast<void>(fault_of(frame, 2));
  }
}

TEST(Rle, in_a_file_is_one_frame) {
  TestDicom dicom{.bits_allocated = 8,
                  .bits_stored = 8,
                  .syntax = "1.2.840.10008.1.2.5",
                  .fragments = {rle_frame({run(2, 5) + literal("\x06\x07")})}};
  EXPECT_THAT(levels_of(dicom), ElementsAre(5, 5, 6, 7));
  dicom.fragments.push_back(dicom.fragments[0]);
  EXPECT_THAT(error_of(dicom), HasSubstr("got pixel data of 2 frames"));
}

}  // namespace
}  // namespace roentgen::data
