// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `recordio`: MXNet's .rec files (im2rec). A record is a header with one label, the number of a class, or
// several, and an image file behind it. Where the list NAME.lst lies beside NAME.rec (number, labels, path), images are
// called by its paths. Only heads are read here, so the .idx beside is not needed.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "data/source/findings.h"
#include "data/source/record_listing.h"
#include "io/file.h"
#include "io/recordio.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.recordio";

using Names = std::unordered_map<std::uint64_t, std::string>;

// Lines "number<TAB>label<TAB>...<TAB>path"; what is no such line names nothing.
Names names_beside(const fs::path& records) {
  fs::path path = records;
  path.replace_extension(".lst");
  std::error_code ignored;
  Names names;
  if (!fs::is_regular_file(path, ignored)) return names;
  const std::string text = io::read_text(path).or_throw<DataError>();
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = stripped(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(
        std::min(rest.size(), rest.find('\n') == std::string_view::npos ? rest.size() : rest.find('\n') + 1));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto tab = line.rfind('\t');
    if (error != std::errc() || end == line.data() + line.size() || *end != '\t') continue;
    names.emplace(number, line.substr(tab + 1));
  }
  return names;
}

// One label is a class, as in ImageNet's lists; several are findings.
RecordLabels labels_of(const RecordListing& listing, const std::vector<float>& stored, const std::string& where) {
  constexpr float kMostClass = 1 << 24;  // up to there all whole numbers are floats
  if (stored.size() == 1) {
    const float label = stored.front();
    if (!(label >= 0.0F && label <= kMostClass) || std::floor(label) != label) {
      listing.refuse(where, "a class, a whole number of at least 0", fmt::format("{}", label));
    }
    return ClassLabel{.number = static_cast<std::int64_t>(label)};
  }
  NamedLabels labels;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool is_unknown = std::isnan(stored[i]);
    if (!is_unknown && stored[i] != 0.0F && stored[i] != 1.0F && stored[i] != -1.0F) {
      listing.refuse(where, "labels 1, 0 and -1 or nan for unknown", fmt::format("{}", stored[i]));
    }
    const bool is_nih = stored.size() == kNihFindings.size();
    labels.names.push_back(is_nih ? std::string(kNihFindings.at(i)) : fmt::format("label {}", i));
    labels.values.push_back(is_unknown ? -1 : static_cast<std::int64_t>(stored[i]));
  }
  return labels;
}

/// One file on its way into the listing.
class RecFile {
 public:
  RecFile(RecordListing& listing, const RecordFile& file, std::span<const std::byte> bytes)
      : listing_(listing), file_(file), bytes_(bytes), names_(names_beside(file.path)) {}

  void read(std::size_t number, const io::RecordIoPlace& place) {
    const std::string where = RecordListing::name_of_record(file_, number);
    auto record = bytes_.subspan(place.begin, place.length);
    StoredImage stored{.begin = place.begin,
                       .length = place.length,
                       .framing = place.is_in_parts ? Framing::RecordIoParts : Framing::Plain};
    if (place.is_in_parts) {
      if (!io::join_recordio(record, joined_)) listing_.refuse(where, "parts of a record", "others");
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
      listing_.note(fmt::format("{} has no image and is passed over", where));
      return;
    }
    if (stored.image_length == 0) listing_.refuse(where, "an image behind the header", "none");
    Sample sample{.stored = stored, .split = file_.split};
    if (const auto name = names_.find(header.value().id); name != names_.end()) {
      listing_.check_line(name->second, "path in the .lst", where);
      sample.id = name->second;
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

bool probe_recordio(const SourceOptions& options) {
  return options.csv.empty() && !record_files(options.root, RecordKind::RecordIo).empty();
}

Listing list_recordio(const SourceOptions& options) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::RecordIo));
  for (const RecordFile& file : listing.files()) {
    if (listing.recall(file)) continue;
    listing.begin(file);
    const io::MappedFile mapped = io::MappedFile::open(file.path).or_throw<DataError>();
    const auto places = io::scan_recordio(mapped.bytes(), file.name).or_throw<DataError>();
    if (places.empty()) listing.note(fmt::format("{} has no record", file.name));
    RecFile reader(listing, file, mapped.bytes());
    for (std::size_t i = 0; i < places.size(); ++i) reader.read(i + 1, places[i]);
    listing.end(file);
  }
  return listing.finish();
}

}  // namespace roentgen::data
