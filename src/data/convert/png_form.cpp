// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: a folder of PNG files with labels.csv (image_folder.h), which source/csv.cpp reads.
#include "data/convert/record_form.h"

namespace roentgen::data {
namespace {

std::string write(const RecordInput& input) {
  return {reinterpret_cast<const char*>(input.image.image.data()), input.image.image.size()};
}

Result<WrittenImage> read(std::string_view written, const std::string& /*what*/) {
  WrittenImage image;
  image.bytes = std::as_bytes(std::span(written));
  return image;
}

Result<std::int64_t> count(std::span<const std::byte> /*file*/, const std::string& /*what*/) { return 1; }

}  // namespace

RecordForm png_form() {
  return {.name = "png",
          .ending = ".png",
          .is_folder = true,
          .has_raw = false,
          .write = write,
          .read = read,
          .count = count};
}

}  // namespace roentgen::data
