// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `lmdb`: Caffe's databases, data.mdb in the folder or in its subfolders train_lmdb, val_lmdb, .... A
// value is a Datum (io/datum.h). It contains an image file, or 8-bit pixels, channel by channel, blue first. Its label
// is the number of a class. io/lmdb.h finds the offsets of values in the file. Nothing is written, not even a lock.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/source/converted.h"
#include "data/source/record_listing.h"
#include "io/datum.h"
#include "io/lmdb.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.lmdb";

// Name of an image from its key. Caffe's convert_imageset and convert write keys such as "00000012_name.png". In a
// key of another program without a dot, the digits may be part of the name.
std::string id_of(std::string key, bool is_converted) {
  while (key.ends_with('\0')) key.pop_back();  // some programs store the zero at the end of a C string
  const auto is_printed = [](unsigned char c) { return c >= 32 && c != 127; };
  if (!std::ranges::all_of(key, is_printed)) return {};
  constexpr std::size_t kDigits = 8;
  const bool has_number = key.size() > kDigits + 1 && key[kDigits] == '_' &&
                          std::all_of(key.begin(), key.begin() + kDigits, [](char c) { return c >= '0' && c <= '9'; });
  const bool has_name = has_number && (is_converted || key.find('.', kDigits) != std::string::npos);
  return has_name ? key.substr(kDigits + 1) : key;
}

ImageLayout raw_layout(const RecordListing& listing, const io::Datum& datum, const std::string& where) {
  constexpr std::int64_t kMostSide = 1 << 20;
  if (datum.has_floats && datum.data.empty()) {
    listing.refuse(where, "8-bit pixels or an image file", "floating-point pixels (float_data)",
                   "writing the database again from the images");
  }
  const bool is_form = datum.width > 0 && datum.height > 0 && datum.width <= kMostSide && datum.height <= kMostSide &&
                       (datum.channels == 1 || datum.channels == 3);
  if (is_form) {
    const ImageLayout layout{
        .width_px = datum.width, .height_px = datum.height, .channels = static_cast<int>(datum.channels)};
    if (layout.bytes() == datum.data.size()) return layout;
  }
  listing.refuse(
      where, "as many pixels as width, height and channels (1 or 3) say",
      fmt::format("{} bytes, {}x{}, {} channels", datum.data.size(), datum.width, datum.height, datum.channels));
}

void read_entry(RecordListing& listing, const RecordFile& file, std::size_t number, std::span<const std::byte> bytes,
                const io::LmdbEntry& entry, bool is_converted) {
  const std::string where = RecordListing::name_of_record(file, number);
  const auto message = bytes.subspan(entry.begin, entry.length);
  const io::Datum datum = io::parse_datum(message);
  StoredImage stored{.begin = entry.begin, .length = entry.length};
  if (!datum.is_sound) {
    listing.add_damaged(file, number, stored,
                        error_text(kThing, where, "an image record in Caffe's Datum format", "other data",
                                   "a database written by Caffe's convert_imageset"));
    return;
  }
  if (!datum.is_encoded) {
    stored.raw = raw_layout(listing, datum, where);
    stored.order = PixelOrder::PlanarBgr;
  } else if (datum.data.empty()) {
    listing.refuse(where, "an image file in the record", "none");
  }
  if (datum.has_others) listing.leave_out(file, "ignored, record fields that Caffe's Datum does not have");
  stored.image_begin = static_cast<std::uint64_t>(datum.data.data() - message.data());
  stored.image_length = datum.data.size();
  listing.add(file, number, {.id = id_of(entry.key, is_converted), .stored = stored, .split = file.split},
              ClassLabel{.number = datum.label});
}

}  // namespace

bool probe_lmdb(const SourceOptions& options, TableFiles& /*tables*/) {
  return options.csv.empty() && !record_files(options.root, RecordKind::Lmdb).empty();
}

Listing list_lmdb(const SourceOptions& options, TableFiles& /*tables*/) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::Lmdb));
  const auto labels = converted_labels(options.root, "lmdb");
  listing.name_labels(labels.value_or(std::vector<std::string>()));
  if (listing.files().front().path.parent_path() == options.root) {
    for (const RecordFile& below : databases_below(options.root)) {
      listing.note(fmt::format("not read, next to data.mdb: {}", below.name));
    }
  }
  return listing.read(
      [&listing, is_converted = labels.has_value()](const RecordFile& file, std::span<const std::byte> bytes) {
        const auto entries = io::scan_lmdb(bytes, file.name).or_throw<DataError>();
        if (entries.empty()) listing.note(fmt::format("{} has no record", file.name));
        for (std::size_t i = 0; i < entries.size(); ++i)
          read_entry(listing, file, i + 1, bytes, entries[i], is_converted);
      });
}

}  // namespace roentgen::data
