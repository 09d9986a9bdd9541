// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/conversion.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "data/codec/codec.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.convert";

// Compares the content of a file with expected bytes, from front to back.
class Comparison {
 public:
  explicit Comparison(std::span<const std::byte> file) : rest_(file) {}
  void expect(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    is_equal_ = is_equal_ && rest_.size() >= bytes.size() && std::ranges::equal(rest_.first(bytes.size()), bytes);
    if (is_equal_) rest_ = rest_.subspan(bytes.size());
  }
  void skip(std::size_t bytes) {
    is_equal_ = is_equal_ && rest_.size() >= bytes;
    if (is_equal_) rest_ = rest_.subspan(bytes);
  }
  [[nodiscard]] bool is_equal() const { return is_equal_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool is_equal_ = true;
};

fs::path side_path(const fs::path& file, const SideFile& side) { return fs::path(file).replace_extension(side.ending); }

}  // namespace

Conversion::Conversion(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form,
                       std::vector<Shard> shards)
    : dataset_(dataset),
      options_(options),
      form_(form),
      shards_(std::move(shards)),
      has_classes_(has_classes(dataset)) {
  for (const Shard& shard : shards_) total_ += std::ssize(shard.samples);
  const auto files = std::clamp<std::int64_t>(std::ssize(shards_), 1, options_.workers);
  threads_per_file_ = std::max(1, options_.workers / static_cast<int>(files));
}

Converted Conversion::run() {
  make_folders();
  {
    std::vector<std::jthread> workers;
    const auto files = std::min<std::int64_t>(std::ssize(shards_), options_.workers);
    for (std::int64_t i = 0; i < files; ++i) workers.emplace_back([this] { work(); });
  }
  MutexLock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (result_.other_grays > 0) {
    log::warning(
        fmt::format("{} of {} images were colour JPEG files: their stored gray levels are rounded differently from "
                    "the files'; --encode keep stores files unchanged",
                    result_.other_grays, result_.images));
  }
  if (result_.uncommon_files > 0) {
    log::warning(fmt::format(
        "--to {}: {} of {} images are neither PNG nor JPEG files, and most programs that read {} cannot decode them; "
        "--encode png converts them",
        form_.name, result_.uncommon_files, result_.images, form_.name));
  }
  return result_;
}

void Conversion::make_folders() const {
  std::set<fs::path> folders;
  for (const Shard& shard : shards_) folders.insert(shard.path.parent_path());
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    io::remove_leftover_temporaries(folder);
  }
}

void Conversion::work() {
  try {
    RecordMaker maker(dataset_, options_);
    while (!has_ended_) {
      const std::size_t next = next_.fetch_add(1);
      if (next >= shards_.size()) return;
      write(shards_[next], maker);
    }
  } catch (...) {
    fail();
  }
}

// Keeps the first error. Only for a catch block.
void Conversion::fail() {
  has_ended_ = true;
  MutexLock lock(mutex_);
  if (!error_) error_ = std::current_exception();
}

Conversion::Made Conversion::make(std::uint32_t sample, RecordMaker& maker) const {
  Made made{.sample = sample, .image = maker.make(sample).or_throw<DataError>(), .record = {}};
  made.record = form_.write(input_of(made));
  return made;
}

RecordInput Conversion::input_of(const Made& made) const {
  return {.dataset = dataset_, .index = made.sample, .has_classes = has_classes_, .image = made.image};
}

template <typename Take>
void Conversion::each_record(const Shard& shard, RecordMaker& maker, Take take) {
  std::atomic<std::size_t> next = 0;
  Mutex turns;
  std::condition_variable_any has_advanced;
  std::size_t turn = 0;  // number of records that were taken
  const auto run = [&](RecordMaker* given) {
    try {
      std::optional<RecordMaker> made_here;
      RecordMaker& own = given != nullptr ? *given : made_here.emplace(dataset_, options_);
      for (std::size_t i = next++; i < shard.samples.size() && !has_ended_; i = next++) {
        Made made = make(shard.samples[i], own);
        if (options_.should_verify) verify(made.record, dataset_.samples[made.sample], own);
        MutexLock lock(turns);
        while (turn != i && !has_ended_) has_advanced.wait(lock);
        if (has_ended_) break;
        take(std::move(made));
        ++turn;
        has_advanced.notify_all();
      }
    } catch (...) {
      fail();
    }
    // Wakes the threads that wait for a turn that this thread gave up.
    MutexLock lock(turns);
    has_advanced.notify_all();
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads_per_file_; ++i) {
    helpers.emplace_back([&] { run(nullptr); });
  }
  run(&maker);
}

void Conversion::write(const Shard& shard, RecordMaker& maker) {
  std::error_code is_absent;
  const auto size = fs::file_size(shard.path, is_absent);
  if (!is_absent && options_.should_verify && !is_as_written(shard, maker)) {
    log::warning(fmt::format("{} differs from its expected content: writing it again", shard.path.filename().string()));
  } else if (!is_absent) {
    if (has_ended_) return;
    count(std::ssize(shard.samples));
    MutexLock lock(mutex_);
    ++result_.files_kept;
    finish(shard, size);
    return;
  }
  io::AtomicFile file(shard.path);
  const std::unique_ptr<RecordStream> stream = open_stream(form_);
  std::uint64_t bytes = 0;
  std::int64_t other_grays = 0, uncommon_files = 0;
  const auto append = [&](const std::string& text) {
    file.write(text);
    bytes += text.size();
  };
  append(std::string(stream->head_bytes(), '\0'));
  each_record(shard, maker, [&](Made made) {
    other_grays += made.image.has_other_gray ? 1 : 0;
    const bool is_common = made.image.format == "png" || made.image.format == "jpeg";
    uncommon_files += form_.has_common_files && !is_common ? 1 : 0;
    append(stream->add(input_of(made), std::move(made.record)));
    count(1);
  });
  if (has_ended_) return;  // a thread failed
  append(stream->finish());
  file.replace_head(stream->head());
  for (const SideFile& side : stream->side_files()) {
    io::write_file_atomically(side_path(shard.path, side), side.text);
    bytes += side.text.size();
  }
  file.commit();  // last: a file with its final name is complete, and so are the files beside it
  if (options_.should_verify) verify_file(shard);
  MutexLock lock(mutex_);
  result_.other_grays += other_grays;
  result_.uncommon_files += uncommon_files;
  finish(shard, bytes);
}

// True if the existing files equal, byte for byte, what would be written now.
bool Conversion::is_as_written(const Shard& shard, RecordMaker& maker) {
  const auto file = io::MappedFile::open(shard.path);
  if (!file) return false;
  const std::unique_ptr<RecordStream> stream = open_stream(form_);
  Comparison records(file.value().bytes());
  records.skip(stream->head_bytes());
  each_record(shard, maker, [&](Made made) { records.expect(stream->add(input_of(made), std::move(made.record))); });
  if (has_ended_) return true;  // a thread failed
  records.expect(stream->finish());
  Comparison head(file.value().bytes().first(std::min(stream->head_bytes(), file.value().bytes().size())));
  head.expect(stream->head());
  const auto is_kept = [&](const SideFile& side) {
    const auto text = io::read_text(side_path(shard.path, side));
    return text.ok() && text.value() == side.text;
  };
  return records.is_equal() && head.is_equal() && std::ranges::all_of(stream->side_files(), is_kept);
}

void Conversion::finish(const Shard& shard, std::uint64_t bytes) {
  ++result_.files;
  result_.images += std::ssize(shard.samples);
  result_.bytes += bytes;
}

void Conversion::count(std::int64_t images) {
  const std::int64_t done = done_.fetch_add(images) + images;
  MutexLock lock(mutex_);
  if (options_.on_progress) options_.on_progress(done, total_);
}

// Decodes the image in the record and compares it with the intended pixels.
void Conversion::verify(const std::string& record, const Sample& sample, const RecordMaker& maker) const {
  const WrittenImage written = form_.read(record, sample.id).or_throw<DataError>();
  Image decoded;
  if (written.raw) {
    decoded.reset(*written.raw);
    if (decoded.bytes().size() == written.bytes.size()) std::ranges::copy(written.bytes, decoded.bytes().begin());
  } else {
    Decoder decoder;
    static_cast<void>(decoder.decode(written.bytes, sample.id, {.channels = Channels::FromFile, .limits = {}}, decoded)
                          .or_throw<DataError>());
  }
  if (maker.holds(decoded)) return;
  throw DataError(error_text(kThing, sample.id, "a record with the same pixels as the image", "different pixels",
                             "reporting this bug"));
}

// Reads the whole file back from disk.
void Conversion::verify_file(const Shard& shard) const {
  const auto file = io::MappedFile::open(shard.path).or_throw<DataError>();
  const std::int64_t found = form_.count(file.bytes(), shard.path.filename().string()).or_throw<DataError>();
  if (found == std::ssize(shard.samples)) return;
  throw DataError(error_text(kThing, shard.path.string(), fmt::format("{} records", shard.samples.size()),
                             fmt::format("{}", found), "checking the disk"));
}

}  // namespace roentgen::data
