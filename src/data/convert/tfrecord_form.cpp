// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: TFRecord files, which source/tfrecord.cpp reads.
#include <cmath>
#include <utility>

#include "data/convert/record_form.h"
#include "io/example.h"
#include "io/record.h"

namespace roentgen::data {
namespace {

void add_text(io::ExampleWriter& example, std::string_view name, std::string_view value) {
  if (!value.empty()) example.text(name, value);
}

std::string write(const RecordInput& input) {
  const Sample& sample = input.sample();
  const StoredForm& image = input.image;
  io::ExampleWriter example;
  example.bytes("image/encoded", image.image);
  example.text("image/format", image.format);
  example.text("image/filename", sample.id);
  example.integer("image/width", image.layout.width_px);
  example.integer("image/height", image.layout.height_px);
  example.integer("image/channels", image.layout.channels);
  example.integer("image/bits", image.layout.bits);
  if (image.format == "raw") example.integer("image/max_value", image.layout.max_value);
  example.texts("image/label_names", input.dataset.label_names);
  example.integers("image/label", stored_labels(sample));
  add_text(example, "image/patient", sample.patient);
  add_text(example, "image/view", sample.view);
  add_text(example, "image/sex", sample.sex);
  if (!std::isnan(sample.age_years)) example.number("image/age", sample.age_years);
  example.text("image/split", name_of(sample.split));
  return io::record_frame(example.data());
}

Result<WrittenImage> read(std::string_view written, const std::string& what) {
  const auto message = std::as_bytes(std::span(written))
                           .subspan(io::kFrameHead_bytes, written.size() - io::kFrameHead_bytes - io::kFrameTail_bytes);
  const auto example = io::parse_example(message, what);
  if (!example) return example.why();
  const std::string_view image = io::text_of(example.value(), "image/encoded");
  WrittenImage result;
  result.bytes = std::as_bytes(std::span(image));
  if (io::text_of(example.value(), "image/format") != "raw") return result;
  const auto integer = [&](std::string_view name) { return io::integers_of(example.value(), name).front(); };
  result.raw = ImageLayout{.width_px = integer("image/width"),
                           .height_px = integer("image/height"),
                           .channels = static_cast<int>(integer("image/channels")),
                           .bits = static_cast<int>(integer("image/bits")),
                           .max_value = static_cast<std::uint32_t>(integer("image/max_value"))};
  return result;
}

Result<std::int64_t> count(std::span<const std::byte> file, const std::string& what) {
  const auto places = io::scan_records(file, what, io::RecordCheck::Data);
  if (!places) return places.why();
  return std::ssize(places.value());
}

}  // namespace

RecordForm tfrecord_form() {
  return {.name = "tfrecord", .ending = ".tfrecord", .write = write, .read = read, .count = count};
}

}  // namespace roentgen::data
