// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `recordio`: MXNet's .rec files (im2rec). A record is a header, with one label (the number of a class)
// or several, followed by an image file. If NAME.lst lies next to NAME.rec (number, labels, path), its paths name the
// images. Only headers are read here. The .idx file is not needed, but its lines are counted.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "data/source/converted.h"
#include "data/source/findings.h"
#include "data/source/record_listing.h"
#include "io/file.h"
#include "io/recordio.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.recordio";

using Names = std::unordered_map<std::uint64_t, std::string>;

// Calls `take` with each non-blank line of the file with this extension next to the record file. Does nothing if there
// is no such file.
template <typename Take>
void each_line_beside(const fs::path& records, const char* ending, Take take) {
  const fs::path path = fs::path(records).replace_extension(ending);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return;
  const std::string text = io::read_text(path).or_throw<DataError>();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = stripped(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (!line.empty()) take(line);
  }
}

// Parses lines "number<TAB>label<TAB>...<TAB>path"; other lines are counted.
Names names_beside(RecordListing& listing, const RecordFile& file) {
  Names names;
  each_line_beside(file.path, ".lst", [&](std::string_view line) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    const std::string_view name = line.substr(line.rfind('\t') + 1);
    if (error != std::errc() || end == line.data() + line.size() || *end != '\t') {
      listing.leave_out(file, "not read, lines of the .lst file that do not begin with a number and a tab");
    } else if (const auto [known, is_new] = names.emplace(number, name); !is_new && known->second != name) {
      listing.refuse(file.name, "one line for each number in the .lst file", fmt::format("two for {}", number));
    }
  });
  return names;
}

// Compares the number of records with the lines of the .idx file. A file cut between two records looks complete
// otherwise.
void check_index_beside(const RecordListing& listing, const RecordFile& file, std::size_t records) {
  std::size_t lines = 0;
  each_line_beside(file.path, ".idx", [&](std::string_view /*line*/) { ++lines; });
  if (lines <= records) return;
  listing.refuse(file.name, counted(static_cast<std::int64_t>(lines), "record") + ", as stated by its .idx file",
                 fmt::format("{}", records),
                 "fetching or writing the file again, or removing the .idx file if it belongs to another file");
}

// Labels of a record. A single label is a class, as in ImageNet's lists; several labels are findings.
RecordLabels labels_of(const RecordListing& listing, const std::vector<float>& stored, const std::string& where) {
  constexpr float kMostClass = 1 << 24;  // floats are exact up to this value
  if (stored.size() == 1) {
    const float label = stored.front();
    if (!(label >= 0.0F && label <= kMostClass) || std::floor(label) != label) {
      listing.refuse(where, "a class number of at least 0", fmt::format("{}", label));
    }
    return ClassLabel{.number = static_cast<std::int64_t>(label)};
  }
  NamedLabels labels;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool is_unknown = std::isnan(stored[i]);
    if (!is_unknown && stored[i] != 0.0F && stored[i] != 1.0F && stored[i] != -1.0F) {
      listing.refuse(where, "labels 1, 0, -1 or nan (unknown)", fmt::format("{}", stored[i]));
    }
    const bool is_nih = stored.size() == kNihFindings.size();
    labels.names.push_back(is_nih ? std::string(kNihFindings.at(i)) : fmt::format("label {}", i));
    labels.values.push_back(is_unknown ? -1 : static_cast<std::int64_t>(stored[i]));
  }
  return labels;
}

/// Reads one file into the listing.
class RecFile {
 public:
  RecFile(RecordListing& listing, const RecordFile& file, std::span<const std::byte> bytes)
      : listing_(listing), file_(file), bytes_(bytes), names_(names_beside(listing, file)) {}

  void read(std::size_t number, const io::RecordIoPlace& place) {
    const std::string where = RecordListing::name_of_record(file_, number);
    auto record = bytes_.subspan(place.begin, place.length);
    StoredImage stored{.begin = place.begin,
                       .length = place.length,
                       .framing = place.is_in_parts ? Framing::RecordIoParts : Framing::Plain};
    if (place.is_in_parts) {
      if (!io::join_recordio(record, joined_))
        listing_.refuse(where, "the parts of one record in order", "other parts");
      record = joined_;
    }
    const auto header = io::parse_recordio_header(record, where);
    if (!header) {
      listing_.add_damaged(file_, number, stored, header.error());
      return;
    }
    stored.image_begin = header.value().length;
    stored.image_length = record.size() - stored.image_begin;
    if (stored.image_length == 0 && number == 1) {
      listing_.leave_out(file_, "left out, first records without an image");
      return;
    }
    if (stored.image_length == 0) listing_.refuse(where, "an image after the header", "none");
    Sample sample{.stored = stored, .split = file_.split};
    if (const auto name = names_.find(header.value().id); name != names_.end()) {
      listing_.check_line(name->second, "path in the .lst file", where);
      sample.id = name->second;
    } else if (!names_.empty()) {
      listing_.leave_out(file_, "without a name, records that are not in the .lst file");
    }
    listing_.add(file_, number, std::move(sample), labels_of(listing_, header.value().labels, where));
  }

 private:
  RecordListing& listing_;
  const RecordFile& file_;
  const std::span<const std::byte> bytes_;
  const Names names_;
  std::vector<std::byte> joined_;
};

}  // namespace

bool probe_recordio(const SourceOptions& options, TableFiles& /*tables*/) {
  return options.csv.empty() && !record_files(options.root, RecordKind::RecordIo).empty();
}

Listing list_recordio(const SourceOptions& options, TableFiles& /*tables*/) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::RecordIo));
  listing.name_labels(converted_labels(options.root, "recordio").value_or(std::vector<std::string>()));
  return listing.read([&listing](const RecordFile& file, std::span<const std::byte> bytes) {
    const auto places = io::scan_recordio(bytes, file.name).or_throw<DataError>();
    if (places.empty()) listing.note(fmt::format("{} has no record", file.name));
    check_index_beside(listing, file, places.size());
    RecFile reader(listing, file, bytes);
    for (std::size_t i = 0; i < places.size(); ++i) reader.read(i + 1, places[i]);
  });
}

}  // namespace roentgen::data
