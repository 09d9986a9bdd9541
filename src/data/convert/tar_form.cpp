// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: WebDataset shards, which source/tar.cpp reads: 00000017.json and 00000017.png, .jpg, or .npy for raw
// pixels.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "data/convert/record_form.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/tar.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kRaw = ".npy";

std::string ending_of(std::string_view format) {
  if (format == "raw") return std::string(kRaw);
  if (format == "jpeg") return ".jpg";
  if (format == "dicom") return ".dcm";
  return fmt::format(".{}", format);
}

// Shape of the pixels: (H, W) or (H, W, 3).
Shape shape_of(const ImageLayout& layout) {
  Shape shape{layout.height_px, layout.width_px};
  if (layout.channels == 1) return shape;
  return Shape{layout.height_px, layout.width_px, layout.channels};
}

std::string known_of(const Dataset& dataset, const Sample& sample, const StoredForm& image) {
  Value json = Value::table();
  json.set("filename", sample.id);
  Value& labels = json.set("labels", Value::table());
  const auto values = stored_labels(sample);
  for (std::size_t k = 0; k < values.size(); ++k) {
    labels.set(dataset.label_names[k], values[k] < 0 ? Value() : Value(values[k]));
  }
  for (const auto& [key, text] :
       {std::pair("patient", &sample.patient), std::pair("view", &sample.view), std::pair("sex", &sample.sex)}) {
    if (!text->empty()) json.set(key, *text);
  }
  if (!std::isnan(sample.age_years)) json.set("age", static_cast<double>(sample.age_years));
  json.set("split", name_of(sample.split));
  json.set("width", image.layout.width_px);
  json.set("height", image.layout.height_px);
  json.set("bits", image.layout.bits);
  if (image.format == "raw") json.set("max_value", image.layout.max_value);
  return io::to_json(json, -1);
}

std::string write(const RecordInput& input) {
  const StoredForm& image = input.image;
  const std::string key = fmt::format("{:08}", input.index);
  std::string data;
  if (image.format == "raw") {
    data = io::npy_head(shape_of(image.layout), image.layout.bits == 8 ? DType::U8 : DType::U16);
  }
  data.append(reinterpret_cast<const char*>(image.image.data()), image.image.size());
  return io::tar_member(key + ".json", known_of(input.dataset, input.sample(), image)) +
         io::tar_member(key + ending_of(image.format), data);
}

Result<WrittenImage> read(std::string_view written, const std::string& what) {
  const std::string whole = std::string(written) + std::string(io::kTarEnd_bytes, '\0');
  const auto members = io::scan_tar(std::as_bytes(std::span(whole)), what);
  if (!members) return members.why();
  const io::TarMember& last = members.value().back();
  const auto bytes = std::as_bytes(std::span(written)).subspan(last.begin, last.length);
  WrittenImage image;
  image.bytes = bytes;
  if (!last.name.ends_with(kRaw)) return image;
  const auto head = io::parse_npy_head(bytes, what);
  if (!head) return head.why();
  const std::string_view first = written.substr(members.value().front().begin, members.value().front().length);
  const auto known = io::parse_json(first, what);
  if (!known) return known.why();
  const Shape& shape = head.value().shape;
  image.bytes = bytes.subspan(head.value().data_begin);
  image.raw = ImageLayout{.width_px = shape[1],
                          .height_px = shape[0],
                          .channels = shape.rank() == 3 ? 3 : 1,
                          .bits = head.value().dtype == DType::U8 ? 8 : 16,
                          .max_value = static_cast<std::uint32_t>(known.value().at("max_value").as_integer())};
  return image;
}

Result<std::int64_t> count(std::span<const std::byte> file, const std::string& what) {
  const auto members = io::scan_tar(file, what);
  if (!members) return members.why();
  return std::ranges::count_if(members.value(), [](const io::TarMember& one) { return one.name.ends_with(".json"); });
}

class TarStream final : public RecordStream {
 public:
  [[nodiscard]] std::string finish() override { return std::string(io::kTarEnd_bytes, '\0'); }
};

std::unique_ptr<RecordStream> open() { return std::make_unique<TarStream>(); }

}  // namespace

RecordForm tar_form() {
  return {.name = "tar", .ending = ".tar", .write = write, .open = open, .read = read, .count = count};
}

}  // namespace roentgen::data
