// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: a folder of PNG files with labels.csv (image_folder.h), which source/csv.cpp reads.
#include "data/convert/record_form.h"

namespace roentgen::data {
namespace {

std::string write(const Dataset& /*dataset*/, std::size_t /*index*/, const StoredForm& image) {
  return {reinterpret_cast<const char*>(image.image.data()), image.image.size()};
}

Result<WrittenImage> read(std::string_view written, const std::string& /*what*/) {
  return WrittenImage{.bytes = std::as_bytes(std::span(written))};
}

Result<std::int64_t> count(std::span<const std::byte> /*file*/, const std::string& /*what*/) { return 1; }

}  // namespace

RecordForm png_form() {
  return {.name = "png", .ending = ".png", .is_folder = true, .write = write, .read = read, .count = count};
}

}  // namespace roentgen::data
