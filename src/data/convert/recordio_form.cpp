// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output format: MXNet's RecordIO, which source/recordio.cpp reads: NAME.rec, NAME.idx (number, tab, offset) and
// NAME.lst (number, labels and path, separated by tabs), as im2rec leaves them.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "core/error.h"
#include "data/convert/record_form.h"
#include "io/recordio.h"

namespace roentgen::data {
namespace {

// Labels of an image as MXNet stores them: the number of its class, or 1, 0 and -1 for each label.
std::vector<float> labels_of(const RecordInput& input) {
  if (input.has_classes) return {static_cast<float>(class_of(input.sample()))};
  std::vector<float> labels;
  for (const std::int64_t label : stored_labels(input.sample())) labels.push_back(static_cast<float>(label));
  return labels;
}

std::string write(const RecordInput& input) {
  const auto& image = input.image.image;
  std::string data = io::encode_recordio_header(labels_of(input), input.index);
  data.append(reinterpret_cast<const char*>(image.data()), image.size());
  if (data.size() <= io::kRecordIoMost_bytes) return io::encode_recordio(data);
  throw DataError(error_text("data.convert", input.sample().id,
                             fmt::format("at most {} bytes, which a RecordIO record can hold", io::kRecordIoMost_bytes),
                             fmt::format("{}", data.size()), "--to tfrecord"));
}

/// Collects the lines of .idx and .lst.
class RecStream final : public RecordStream {
 public:
  [[nodiscard]] std::string add(const RecordInput& input, std::string record) override {
    index_ += fmt::format("{}\t{}\n", input.index, at_);
    at_ += record.size();
    list_ += fmt::format("{}\t", input.index);
    for (const float label : labels_of(input)) list_ += fmt::format("{:f}\t", label);
    list_ += input.sample().id + '\n';
    return record;
  }
  [[nodiscard]] std::vector<SideFile> side_files() const override {
    return {{.ending = ".idx", .text = index_}, {.ending = ".lst", .text = list_}};
  }

 private:
  std::string index_, list_;
  std::uint64_t at_ = 0;
};

std::unique_ptr<RecordStream> open() { return std::make_unique<RecStream>(); }

Result<WrittenImage> read(std::string_view written, const std::string& what) {
  const auto bytes = std::as_bytes(std::span(written));
  const auto places = io::scan_recordio(bytes, what);
  if (!places) return places.why();
  const io::RecordIoPlace& place = places.value().front();
  WrittenImage image;
  std::span<const std::byte> record = bytes.subspan(place.begin, place.length);
  if (place.is_in_parts) {
    if (!io::join_recordio(record, image.joined)) return failure("data.convert", what, "one record", "other parts");
    record = image.joined;
  }
  const auto header = io::parse_recordio_header(record, what);
  if (!header) return header.why();
  image.bytes = record.subspan(header.value().length);
  return image;
}

Result<std::int64_t> count(std::span<const std::byte> file, const std::string& what) {
  const auto places = io::scan_recordio(file, what);
  if (!places) return places.why();
  return std::ssize(places.value());
}

}  // namespace

RecordForm recordio_form() {
  return {.name = "recordio",
          .ending = ".rec",
          .has_raw = false,
          .has_common_files = true,
          .lost = "patients, views, sexes and ages",
          .write = write,
          .open = open,
          .read = read,
          .count = count};
}

}  // namespace roentgen::data
