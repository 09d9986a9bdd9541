// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: Caffe's LMDB databases, which source/lmdb.cpp reads: SPLIT_lmdb/data.mdb. Keys such as
// "00000012_name.png" and Datum messages with image files are those of Caffe's convert_imageset --encoded.
#include <fmt/core.h>

#include <memory>

#include "core/error.h"
#include "data/convert/record_form.h"
#include "io/datum.h"
#include "io/lmdb.h"
#include "io/lmdb_writer.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kNumber_bytes = 9;                // of a key, before the name
constexpr std::int64_t kMostImages = 100'000'000;       // with 8 digits, so that keys ascend
constexpr std::size_t kMostRecord_bytes = 0x7FFF'FFFF;  // Protobuf reads no longer messages

std::string key_of(const RecordInput& input) { return fmt::format("{:08}_{}", input.index, input.sample().id); }

std::string write(const RecordInput& input) {
  const ImageLayout& layout = input.image.layout;
  std::string record = io::encode_datum({.channels = layout.channels,
                                         .height = layout.height_px,
                                         .width = layout.width_px,
                                         .label = class_of(input.sample()),
                                         .data = input.image.image,
                                         .is_encoded = true});
  if (record.size() <= kMostRecord_bytes) return record;
  throw DataError(error_text("data.convert", input.sample().id,
                             fmt::format("at most {} bytes, which Caffe can read", kMostRecord_bytes),
                             fmt::format("{}", record.size()), "--to tfrecord"));
}

class LmdbStream final : public RecordStream {
 public:
  [[nodiscard]] std::size_t head_bytes() const override { return io::LmdbWriter::kHead_bytes; }
  [[nodiscard]] std::string add(const RecordInput& input, std::string record) override {
    return writer_.add(key_of(input), record);
  }
  [[nodiscard]] std::string finish() override { return writer_.finish(); }
  [[nodiscard]] std::string head() const override { return writer_.head(); }

 private:
  io::LmdbWriter writer_;
};

std::unique_ptr<RecordStream> open() { return std::make_unique<LmdbStream>(); }

Result<WrittenImage> read(std::string_view written, const std::string& what) {
  const io::Datum datum = io::parse_datum(std::as_bytes(std::span(written)));
  if (!datum.is_sound || !datum.is_encoded) return failure("data.convert", what, "a Datum with an image", "other data");
  WrittenImage image;
  image.bytes = datum.data;
  return image;
}

Result<std::int64_t> count(std::span<const std::byte> file, const std::string& what) {
  const auto entries = io::scan_lmdb(file, what);
  if (!entries) return entries.why();
  return std::ssize(entries.value());
}

}  // namespace

RecordForm lmdb_form() {
  return {.name = "lmdb",
          .file_of_split = "data.mdb",
          .has_raw = false,
          .has_one_label = true,
          .most_name_bytes = io::LmdbWriter::kMostKey_bytes - kNumber_bytes,
          .most_images = kMostImages,
          .has_common_files = true,
          .lost = "patients, views, sexes and ages",
          .write = write,
          .open = open,
          .read = read,
          .count = count};
}

}  // namespace roentgen::data
