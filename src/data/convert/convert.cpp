// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <exception>
#include <set>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/thread_annotations.h"
#include "core/value.h"
#include "data/convert/image_folder.h"
#include "data/convert/record_form.h"
#include "data/convert/record_image.h"
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

/// An output file, and the samples that it contains.
struct Shard {
  fs::path path;
  /// Indices of its samples in Dataset::samples.
  std::vector<std::uint32_t> samples;
};

std::string_view name_of(Encoding encoding) { return kEncodings.at(static_cast<std::size_t>(encoding)); }

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text(kThing, what, expected, got, remedy));
}

void check(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form) {
  if (dataset.label_names.empty() && !form.is_folder) {
    refuse(dataset.root.string(), "labels, because record files must contain labels", "images without labels",
           "--to png, or adding a labels.csv to the folder");
  }
  if (form.is_folder && options.encoding != Encoding::Keep && options.encoding != Encoding::Png) {
    refuse("--encode", fmt::format("keep or png, with --to {}", form.name), name_of(options.encoding), "--encode png");
  }
  if (form.is_folder && options.shards > 0) {
    refuse("--shards", fmt::format("no --shards, because --to {} writes one file per image", form.name),
           fmt::format("{}", options.shards), "--to tfrecord");
  }
  if (options.size_px > 0 && options.encoding == Encoding::Keep) {
    refuse("--resize", "--encode raw, png or jpeg", "--encode keep, which copies files unchanged", "--encode raw");
  }
  if (options.intensity != Intensity::Stored && options.encoding == Encoding::Keep) {
    refuse("--intensity", "--encode raw, png or jpeg", "--encode keep, which copies files unchanged", "--encode raw");
  }
  const auto is_control = [](unsigned char c) { return c < 32 || c == 127; };
  for (const Sample& sample : dataset.samples) {
    if (std::ranges::none_of(sample.id, is_control)) continue;
    refuse("image names", "names without line breaks and control characters", "a name that contains one",
           "renaming that image");
  }
  if (options.shards < 0 || options.shards > kMostFiles) {
    refuse("--shards", fmt::format("at most {}", kMostFiles), fmt::format("{}", options.shards), "a smaller number");
  }
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

class Conversion {
 public:
  Conversion(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form, std::vector<Shard> shards)
      : dataset_(dataset), options_(options), form_(form), shards_(std::move(shards)) {
    for (const Shard& shard : shards_) total_ += std::ssize(shard.samples);
  }

  Converted run() {
    make_folders();
    {
      std::vector<std::jthread> workers;
      for (int i = 0; i < options_.workers; ++i) workers.emplace_back([this] { work(); });
    }
    MutexLock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    if (result_.other_grays > 0) {
      log::warning(
          fmt::format("{} of {} images were colour JPEG files: their stored gray levels are rounded differently from "
                      "the files'; --encode keep stores files unchanged",
                      result_.other_grays, result_.images));
    }
    return result_;
  }

 private:
  void make_folders() const {
    std::set<fs::path> folders;
    for (const Shard& shard : shards_) folders.insert(shard.path.parent_path());
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      fs::create_directories(folder, ignored);
      io::remove_leftover_temporaries(folder);
    }
  }

  void work() {
    RecordMaker maker(dataset_, options_);
    try {
      while (!has_ended_) {
        const std::size_t next = next_.fetch_add(1);
        if (next >= shards_.size()) return;
        write(shards_[next], maker);
      }
    } catch (...) {
      has_ended_ = true;
      MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  void write(const Shard& shard, RecordMaker& maker) {
    std::error_code is_absent;
    const auto size = fs::file_size(shard.path, is_absent);
    if (!is_absent && options_.should_verify && !is_as_written(shard, maker)) {
      log::warning(
          fmt::format("{} differs from its expected content: writing it again", shard.path.filename().string()));
    } else if (!is_absent) {
      count(std::ssize(shard.samples));
      MutexLock lock(mutex_);
      ++result_.files_kept;
      finish(shard, size);
      return;
    }
    io::AtomicFile file(shard.path);
    std::uint64_t bytes = 0;
    std::int64_t other_grays = 0;
    for (const std::uint32_t sample : shard.samples) {
      if (has_ended_) return;  // another worker failed
      const StoredForm image = maker.make(sample).or_throw<DataError>();
      other_grays += image.has_other_gray ? 1 : 0;
      const std::string record = form_.write(dataset_, sample, image);
      if (options_.should_verify) verify(record, dataset_.samples[sample], maker);
      file.write(record);
      bytes += record.size();
      count(1);
    }
    file.write(std::string(form_.end_bytes, '\0'));
    file.commit();
    if (options_.should_verify) verify_file(shard);
    MutexLock lock(mutex_);
    result_.other_grays += other_grays;
    finish(shard, bytes);
  }

  // True if the existing file equals, byte for byte, what would be written now.
  [[nodiscard]] bool is_as_written(const Shard& shard, RecordMaker& maker) const {
    const auto file = io::MappedFile::open(shard.path);
    if (!file) return false;
    std::span<const std::byte> rest = file.value().bytes();
    for (const std::uint32_t sample : shard.samples) {
      if (has_ended_) return true;  // another worker failed
      const StoredForm image = maker.make(sample).or_throw<DataError>();
      const std::string record = form_.write(dataset_, sample, image);
      verify(record, dataset_.samples[sample], maker);
      const auto bytes = std::as_bytes(std::span(record.data(), record.size()));
      if (rest.size() < bytes.size() || !std::ranges::equal(rest.first(bytes.size()), bytes)) return false;
      rest = rest.subspan(bytes.size());
    }
    return rest.size() == form_.end_bytes;
  }

  void finish(const Shard& shard, std::uint64_t bytes) RG_REQUIRES(mutex_) {
    ++result_.files;
    result_.images += std::ssize(shard.samples);
    result_.bytes += bytes;
  }

  void count(std::int64_t images) {
    const std::int64_t done = done_.fetch_add(images) + images;
    MutexLock lock(mutex_);
    if (options_.on_progress) options_.on_progress(done, total_);
  }

  // Decodes the image in the record and compares it with the intended pixels.
  void verify(const std::string& record, const Sample& sample, const RecordMaker& maker) const {
    const WrittenImage written = form_.read(record, sample.id).or_throw<DataError>();
    Image decoded;
    if (written.raw) {
      decoded.reset(*written.raw);
      if (decoded.bytes().size() == written.bytes.size()) std::ranges::copy(written.bytes, decoded.bytes().begin());
    } else {
      Decoder decoder;
      static_cast<void>(
          decoder.decode(written.bytes, sample.id, {.channels = Channels::FromFile, .limits = {}}, decoded)
              .or_throw<DataError>());
    }
    if (maker.holds(decoded)) return;
    throw DataError(error_text(kThing, sample.id, "a record with the same pixels as the image", "different pixels",
                               "reporting this bug"));
  }

  // Reads the whole file back from disk.
  void verify_file(const Shard& shard) const {
    const auto file = io::MappedFile::open(shard.path).or_throw<DataError>();
    const std::int64_t found = form_.count(file.bytes(), shard.path.filename().string()).or_throw<DataError>();
    if (found == std::ssize(shard.samples)) return;
    throw DataError(error_text(kThing, shard.path.string(), fmt::format("{} records", shard.samples.size()),
                               fmt::format("{}", found), "checking the disk"));
  }

  const Dataset& dataset_;
  const ConvertOptions& options_;
  const RecordForm& form_;
  const std::vector<Shard> shards_;
  std::int64_t total_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<bool> has_ended_ = false;
  Mutex mutex_;
  Converted result_ RG_GUARDED_BY(mutex_);
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
};

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
  const Converted result = Conversion(dataset, options, form, std::move(shards)).run();
  if (form.is_folder) io::write_file_atomically(options.folder / "labels.csv", table);
  return result;
}

}  // namespace roentgen::data
