// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/value.h"
#include "data/convert/conversion.h"
#include "data/convert/image_folder.h"
#include "data/convert/record_form.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.convert";
constexpr std::string_view kManifest = "convert.json";
constexpr double kUsualFile_bytes = 128 << 20;
constexpr std::int64_t kMostFiles = 99999;
constexpr std::array<std::string_view, 4> kEncodings{"keep", "png", "raw", "jpeg"};

std::string_view name_of(Encoding encoding) { return kEncodings.at(static_cast<std::size_t>(encoding)); }

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text(kThing, what, expected, got, remedy));
}

// Refuses options that the format cannot fulfil.
void check_form(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form) {
  const std::string with_form = fmt::format("with --to {}", form.name);
  const bool keeps_files = options.encoding == Encoding::Keep || options.encoding == Encoding::Png;
  if (form.is_folder && !keeps_files) {
    refuse("--encode", "keep or png, " + with_form, name_of(options.encoding), "--encode png");
  }
  if (!form.has_raw && options.encoding == Encoding::Raw) {
    refuse("--encode", "keep, png or jpeg, " + with_form, "raw", "--encode png");
  }
  if (options.shards > 0 && (form.is_folder || !form.file_of_split.empty())) {
    refuse("--shards",
           fmt::format("no --shards, because --to {} writes one file per {}", form.name,
                       form.is_folder ? "image" : "split"),
           fmt::format("{}", options.shards), "--to tfrecord");
  }
  if (const auto wrong = misfit(dataset, form)) refuse(wrong->what, wrong->expected, wrong->got, wrong->remedy);
}

void check_size(const ConvertOptions& options) {
  if (options.size_px > 0 && options.shorter_px > 0) {
    refuse("--shorter-edge", "--resize or --shorter-edge", "both", "one of them");
  }
  for (const auto& [name, pixels] :
       {std::pair("--resize", options.size_px), std::pair("--shorter-edge", options.shorter_px)}) {
    if (pixels == 0 || options.encoding != Encoding::Keep) continue;
    refuse(name, "--encode raw, png or jpeg", "--encode keep, which copies files unchanged", "--encode raw");
  }
  if (options.intensity != Intensity::Stored && options.encoding == Encoding::Keep) {
    refuse("--intensity", "--encode raw, png or jpeg", "--encode keep, which copies files unchanged", "--encode raw");
  }
}

void check(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form) {
  if (dataset.label_names.empty() && !form.is_folder) {
    refuse(dataset.root.string(), "labels, because record files must contain labels", "images without labels",
           "--to png, or adding a labels.csv to the folder");
  }
  check_form(dataset, options, form);
  check_size(options);
  const auto is_control = [](unsigned char c) { return c < 32 || c == 127; };
  for (const Sample& sample : dataset.samples) {
    if (std::ranges::any_of(sample.id, is_control)) {
      refuse("image names", "names without line breaks and control characters", "a name that contains one",
             "renaming that image");
    }
  }
  if (options.shards < 0 || options.shards > kMostFiles) {
    refuse("--shards", fmt::format("at most {}", kMostFiles), fmt::format("{}", options.shards), "a smaller number");
  }
}

// Warns of what the records cannot contain, if the data set has any of it.
void warn_of_lost(const Dataset& dataset, const RecordForm& form) {
  const auto has_more = [](const Sample& sample) {
    return !sample.patient.empty() || !sample.view.empty() || !sample.sex.empty() || !std::isnan(sample.age_years);
  };
  if (form.lost.empty() || std::ranges::none_of(dataset.samples, has_more)) return;
  log::warning(
      fmt::format("--to {}: {} are not stored, because the format has no fields for them", form.name, form.lost));
}

double bytes_of(const Dataset& dataset, const std::vector<std::uint32_t>& samples) {
  double bytes = 0.0;
  for (const std::uint32_t index : samples) {
    const Sample& sample = dataset.samples[index];
    std::error_code ignored;
    const auto size = sample.stored ? sample.stored->length : fs::file_size(sample.path, ignored);
    if (!ignored) bytes += static_cast<double>(size);
  }
  return bytes;
}

std::vector<Shard> plan_folder(const std::vector<std::string>& names, const ConvertOptions& options) {
  std::vector<Shard> shards;
  for (std::size_t i = 0; i < names.size(); ++i) {
    shards.push_back({.path = options.folder / names[i], .samples = {static_cast<std::uint32_t>(i)}});
  }
  return shards;
}

// Divides the images of each split, in order, into files of equal length.
std::vector<Shard> plan(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form) {
  std::vector<Shard> shards;
  for (const Split split : kSplits) {
    const auto samples = samples_of(dataset, split);
    if (samples.empty()) continue;
    const auto n = static_cast<std::int64_t>(samples.size());
    if (!form.file_of_split.empty()) {
      shards.push_back({.path = options.folder / fmt::format("{}_{}", name_of(split), form.name) / form.file_of_split,
                        .samples = samples});
      continue;
    }
    std::int64_t count = options.shards;
    if (count == 0) count = static_cast<std::int64_t>(bytes_of(dataset, samples) / kUsualFile_bytes) + 1;
    count = std::clamp<std::int64_t>(count, 1, std::min(n, kMostFiles));
    for (std::int64_t i = 0; i < count; ++i) {
      shards.push_back(
          {.path = options.folder / fmt::format("{}-{:05}-of-{:05}{}", name_of(split), i, count, form.ending),
           .samples = {samples.begin() + i * n / count, samples.begin() + (i + 1) * n / count}});
    }
  }
  return shards;
}

// Text that changes when the file changes. Costs one stat call.
std::string file_state(const fs::path& path) {
  std::error_code ignored;
  const auto modified = fs::last_write_time(path, ignored).time_since_epoch().count();
  return fmt::format("{} {}", fs::file_size(path, ignored), modified);
}

// Text of convert.json; equal for equal data sets and options.
std::string manifest_text(const Dataset& dataset, const ConvertOptions& options, const std::vector<Shard>& shards) {
  std::string samples, state;
  fs::path looked_at;  // consecutive records are often in the same file
  for (const Sample& sample : dataset.samples) {
    if (sample.path != looked_at) {
      looked_at = sample.path;
      state = file_state(looked_at);
    }
    samples += fmt::format("{}\n{} {} {} {} {} {}", sample.id, name_of(sample.split), sample.patient, sample.view,
                           sample.sex, sample.age_years, state);
    for (const float label : sample.labels) samples += fmt::format(" {}", label);
    samples += '\n';
  }
  Value labels = Value::array();
  for (const std::string& label : dataset.label_names) labels.push_back(label);
  Value manifest = Value::table();
  manifest.set("format", options.form);
  manifest.set("source", dataset.source);
  manifest.set("images", std::ssize(dataset.samples));
  manifest.set("files", std::ssize(shards));
  manifest.set("labels", labels);
  manifest.set("samples_sha256", io::sha256_hex(samples));
  manifest.set("encode", options.encoding == Encoding::Jpeg ? fmt::format("jpeg:{}", options.jpeg_quality)
                                                            : std::string(name_of(options.encoding)));
  manifest.set("resize", options.size_px);
  if (options.shorter_px > 0) manifest.set("shorter_edge", options.shorter_px);
  manifest.set("fit", name_of(options.fit));
  manifest.set("filter", name_of(options.filter));
  if (options.intensity != Intensity::Stored) manifest.set("intensity", name_of(options.intensity));
  manifest.set("jpeg", name_of(options.jpeg));
  return io::to_json(manifest) + "\n";
}

// Describes an output folder that cannot be used, by one of its entries, for an error.
std::string first_entry(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator it(folder, error);
  return error || it == fs::directory_iterator() ? "a file or an unreadable folder"
                                                 : "a folder that contains " + it->path().filename().string();
}

void settle_folder(const ConvertOptions& options, const std::string& manifest) {
  const fs::path path = options.folder / kManifest;
  std::error_code ignored;
  fs::create_directories(options.folder, ignored);
  if (fs::exists(path, ignored)) {
    if (io::read_text(path).or_throw<DataError>() == manifest) return;
    refuse(options.folder.string(), "a new folder, or an unfinished conversion with the same data and options",
           "a folder of another conversion", "another folder");
  }
  io::remove_leftover_temporaries(options.folder);  // left by a run that was killed before convert.json existed
  if (!fs::is_directory(options.folder, ignored) || !fs::is_empty(options.folder, ignored)) {
    refuse(options.folder.string(), "a new or empty folder", first_entry(options.folder), "another folder");
  }
  io::write_file_atomically(path, manifest);
}

}  // namespace

const std::vector<std::string_view>& encoding_names() {
  static const std::vector<std::string_view> names(kEncodings.begin(), kEncodings.end());
  return names;
}

void parse_encoding(std::string_view text, ConvertOptions& options) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto found = std::ranges::find(kEncodings, name);
  const bool has_quality = colon != std::string_view::npos;
  bool is_sound = found != kEncodings.end();
  if (is_sound) options.encoding = static_cast<Encoding>(found - kEncodings.begin());
  if (is_sound && has_quality) {
    const std::string_view number = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.jpeg_quality);
    is_sound = options.encoding == Encoding::Jpeg && error == std::errc() && end == number.data() + number.size() &&
               options.jpeg_quality >= 1 && options.jpeg_quality <= 100;
  }
  if (!is_sound) refuse("--encode", "keep, png, raw, jpeg or jpeg:1 to jpeg:100", text, "--encode raw");
}

Converted convert(const Dataset& dataset, const ConvertOptions& options) {
  RG_ASSERT(options.workers >= 1);
  const RecordForm form = record_form(options.form);
  check(dataset, options, form);
  std::vector<std::string> names;
  std::string table;
  if (form.is_folder) {
    names = image_file_names(dataset, form.ending);
    table = image_table(dataset, names);
  }
  std::vector<Shard> shards = form.is_folder ? plan_folder(names, options) : plan(dataset, options, form);
  settle_folder(options, manifest_text(dataset, options, shards));
  warn_of_lost(dataset, form);
  const Converted result = Conversion(dataset, options, form, std::move(shards)).run();
  if (form.is_folder) io::write_file_atomically(options.folder / "labels.csv", table);
  return result;
}

}  // namespace roentgen::data
