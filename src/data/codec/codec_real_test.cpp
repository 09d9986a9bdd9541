// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Real, unusual and damaged files, compared with Pillow 9.4. Expected results are in corrupt/expected.csv of the test
// data and in tests/golden/pillow_decode.csv (tools/peers/pillow_golden.py). pillow_decode.csv also has the colours of
// files with palette and alpha.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "data/codec/codec.h"
#include "data/codec/sha1_testing.h"
#include "io/csv.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Files that Pillow reads but our codecs refuse, with the reason.
const std::map<std::string, std::string> kStricter{
    {"png/pngsuite/xcsn0g01.png", "the checksum of its pixel data is wrong; Pillow does not look, libpng refuses too"}};

fs::path source_folder() {
  const char* set = std::getenv("ROENTGEN_SOURCE_DIR");
  return set != nullptr ? fs::path(set) : fs::current_path();
}
fs::path data_folder() {
  const char* set = std::getenv("ROENTGEN_TEST_DATA");
  return set != nullptr ? fs::path(set) : source_folder() / "../shared/data";
}

class CodecReal : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(data_folder())) GTEST_SKIP() << "NO REAL DATA at " << data_folder() << ": NOTHING TESTED";
  }
  Status decode(const fs::path& file, Channels channels) {
    const std::vector<std::byte> bytes = io::read_file(file).or_throw();
    return decoder_.decode(bytes, file.filename().string(), {.channels = channels}, image_);
  }
  const Image& image() const { return image_; }

 private:
  Decoder decoder_;
  Image image_;
};

// Converts to the layout of Pillow's tobytes(): mode 1 packs bits, mode I has 32 bits, RGB has the upper 8 of 16 bits.
std::vector<std::byte> as_pillow(const Image& image, const std::string& mode) {
  const auto width = static_cast<std::size_t>(image.width_px());
  std::vector<std::byte> bytes;
  if (mode == "1") {
    const std::size_t row_bytes = (width + 7) / 8;
    bytes.resize(row_bytes * static_cast<std::size_t>(image.height_px()));
    for (std::size_t i = 0; i < image.bytes().size(); ++i) {
      if (image.bytes()[i] != std::byte{0})
        bytes[i / width * row_bytes + i % width / 8] |= std::byte{0x80} >> i % width % 8;
    }
  } else if (image.layout().bits == 8) {
    bytes.assign(image.bytes().begin(), image.bytes().end());
  } else {
    for (const std::uint16_t v : image.samples<std::uint16_t>()) {
      if (mode == "I") bytes.push_back(static_cast<std::byte>(v & 0xFFU));
      bytes.push_back(static_cast<std::byte>(v >> 8U));
      if (mode == "I") bytes.insert(bytes.end(), 2, std::byte{0});
    }
  }
  return bytes;
}

TEST_F(CodecReal, reads_what_pillow_reads_and_refuses_what_it_refuses) {
  const fs::path folder = data_folder() / "corrupt";
  const io::Csv csv = io::read_csv(folder / "expected.csv").or_throw();
  const std::size_t format = csv.column("pillow_format").value();
  const std::size_t result = csv.column("pillow_9_4_result").value();
  int read = 0;
  int refused = 0;
  for (const std::vector<std::string>& row : csv.rows) {
    const bool ours = row[format] == "PNG" || row[format] == "JPEG";
    const bool expected = ours && row[result] == "ok" && !kStricter.contains(row[0]);
    const Status status = decode(folder / row[0], Channels::FromFile);
    EXPECT_EQ(status.ok(), expected) << row[0] << ": " << (status ? "read" : status.error());
    ++(status.ok() ? read : refused);
  }
  EXPECT_EQ(read, 187);
  EXPECT_EQ(refused, 34);
}

TEST_F(CodecReal, gives_the_pixels_that_expected_csv_names) {
  const fs::path folder = data_folder() / "corrupt";
  const io::Csv csv = io::read_csv(folder / "expected.csv").or_throw();
  const std::size_t format = csv.column("pillow_format").value();
  const std::size_t mode = csv.column("pillow_mode").value();
  const std::size_t sha1 = csv.column("sha1_of_pillow_tobytes").value();
  int compared = 0;
  for (const std::vector<std::string>& row : csv.rows) {
    const bool ours = row[format] == "PNG" || row[format] == "JPEG";
    // Palette indices and alpha are not decoded by our codecs; the next test checks such files.
    const bool comparable = row[mode] == "1" || row[mode] == "L" || row[mode] == "I" || row[mode] == "RGB";
    if (!ours || !comparable || row[sha1].empty() || kStricter.contains(row[0])) continue;
    const Status status = decode(folder / row[0], Channels::FromFile);
    ASSERT_TRUE(status.ok()) << status.error();
    EXPECT_EQ(sha1_hex(as_pillow(image(), row[mode])), row[sha1]) << row[0];
    ++compared;
  }
  EXPECT_EQ(compared, 102);
}

TEST_F(CodecReal, gives_pillows_colours_and_grays) {
  const io::Csv csv = io::read_csv(source_folder() / "tests/golden/pillow_decode.csv").or_throw();
  int compared = 0;
  for (const std::vector<std::string>& row : csv.rows) {
    const std::string name = fs::path(row[0]).lexically_relative("corrupt").string();
    if (kStricter.contains(name)) continue;
    const bool gray16 = row[1] == "gray16";
    Status status = decode(data_folder() / row[0], gray16 ? Channels::Gray : Channels::Rgb);
    ASSERT_TRUE(status.ok()) << status.error();
    const bool wide = image().layout().bits == 16;
    const auto rgb =
        gray16 ? std::vector<std::byte>(image().bytes().begin(), image().bytes().end()) : as_pillow(image(), "RGB");
    EXPECT_EQ(sha1_hex(rgb), row[2]) << row[0] << " as RGB";
    ++compared;
    if (gray16 || wide) continue;  // Pillow reduces 16-bit colours to 8 bits before it converts them to gray
    status = decode(data_folder() / row[0], Channels::Gray);
    ASSERT_TRUE(status.ok()) << status.error();
    EXPECT_EQ(sha1_hex(image().bytes()), row[3]) << row[0] << " as gray";
  }
  EXPECT_EQ(compared, 327);
}

TEST_F(CodecReal, reads_all_of_nihs_originals_as_gray) {
  int gray = 0;
  int rgba = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_folder() / "nih/png")) {
    if (entry.path().extension() != ".png") continue;
    const Status status = decode(entry.path(), Channels::Gray);
    ASSERT_TRUE(status.ok()) << status.error();
    EXPECT_EQ(image().layout(), (ImageLayout{.width_px = 1024, .height_px = 1024})) << entry.path();
    const std::vector<std::byte> bytes = io::read_file(entry.path()).or_throw();
    const ImageInfo info = read_info(bytes, entry.path().string()).value();
    gray += info.colour == "gray" ? 1 : 0;
    rgba += info.colour == "rgba" ? 1 : 0;
  }
  EXPECT_EQ(gray, 70);
  EXPECT_EQ(rgba, 9);
}

}  // namespace
}  // namespace roentgen::data
