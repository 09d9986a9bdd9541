// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_index.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "io/file.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Version of the index; increase it if records are read differently.
constexpr std::string_view kMagic = "roentgen record index 4\n";
constexpr std::size_t kHash_bytes = 8;

std::string hash_of(std::string_view body) {
  const std::uint64_t hash = io::fast_hash(std::as_bytes(std::span(body.data(), body.size())));
  std::string bytes(kHash_bytes, '\0');
  std::memcpy(bytes.data(), &hash, kHash_bytes);
  return bytes;
}

/// Writes an index: numbers as 8 bytes in the machine's byte order (the cache belongs to the node), texts and lists
/// after their length.
class Writer {
 public:
  template <typename Number>
  void number(const Number& value) {
    const auto wide = static_cast<std::uint64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void text(const std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  template <typename T, typename Each>
  void list(const std::vector<T>& values, Each each) {
    number(values.size());
    for (const T& value : values) each(value);
  }
  /// Writes names only if they differ from the names written last.
  void repeated_names(const std::vector<std::string>& names) {
    const bool is_new = names != names_;
    number(is_new);
    if (!is_new) return;
    list(names, [this](const std::string& name) { text(name); });
    names_ = names;
  }
  [[nodiscard]] std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::vector<std::string> names_;
};

/// Reads an index. After a failure all numbers are 0 and all texts are empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  void number(Number& value) {
    std::uint64_t wide = 0;
    if (rest_.size() < sizeof wide) {
      fail();
    } else {
      std::memcpy(&wide, rest_.data(), sizeof wide);
      rest_.remove_prefix(sizeof wide);
    }
    value = static_cast<Number>(wide);
  }
  void text(std::string& value) {
    const std::size_t size = count();
    value = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <typename T, typename Each>
  void list(std::vector<T>& values, Each each) {
    values.resize(count());
    for (T& value : values) each(value);
  }
  void repeated_names(std::vector<std::string>& names) {
    bool is_new = false;
    number(is_new);
    if (is_new) list(names_, [this](std::string& name) { text(name); });
    names = names_;
  }
  [[nodiscard]] bool is_complete() const { return !has_failed_ && rest_.empty(); }

 private:
  /// Reads the number of items that follow; each takes at least a byte.
  std::size_t count() {
    std::uint64_t size = 0;
    number(size);
    if (size <= rest_.size()) return static_cast<std::size_t>(size);
    fail();
    return 0;
  }
  void fail() {
    has_failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  bool has_failed_ = false;
  std::vector<std::string> names_;
};

// Reads or writes names, depending on the archive.
template <typename Archive, typename Names>
void walk_names(Archive& archive, Names& names) {
  archive.list(names, [&](auto& name) { archive.text(name); });
}

template <typename Archive, typename Layout>
void walk_layout(Archive& archive, Layout& layout) {
  archive.number(layout.width_px);
  archive.number(layout.height_px);
  archive.number(layout.channels);
  archive.number(layout.bits);
  archive.number(layout.max_value);
}

template <typename Archive, typename Stored>
void walk_stored(Archive& archive, Stored& stored) {
  archive.number(stored.begin);
  archive.number(stored.length);
  archive.number(stored.image_begin);
  archive.number(stored.image_length);
  archive.number(stored.framing);
  archive.number(stored.order);
}

void walk_raw(Writer& archive, const std::optional<ImageLayout>& raw) {
  archive.number(raw.has_value());
  if (raw) walk_layout(archive, *raw);
}
void walk_raw(Reader& archive, std::optional<ImageLayout>& raw) {
  bool has_one = false;
  archive.number(has_one);
  if (has_one) walk_layout(archive, raw.emplace());
}

void walk_age(Writer& archive, float age_years) { archive.number(std::bit_cast<std::uint32_t>(age_years)); }
void walk_age(Reader& archive, float& age_years) {
  std::uint32_t bits = 0;
  archive.number(bits);
  age_years = std::bit_cast<float>(bits);
}

template <typename Archive, typename Labels>
void walk_form(Archive& archive, Labels& labels) {
  using Form = std::remove_const_t<Labels>;
  if constexpr (std::is_same_v<Form, ClassLabel>) {
    archive.number(labels.number);
    archive.text(labels.name);
  } else if constexpr (std::is_same_v<Form, NamedLabels>) {
    archive.repeated_names(labels.names);
    archive.list(labels.values, [&](auto& value) { archive.number(value); });
  } else {
    walk_names(archive, labels.names);
  }
}

void walk_labels(Writer& archive, const RecordLabels& labels) {
  archive.number(labels.index());
  std::visit([&](const auto& form) { walk_form(archive, form); }, labels);
}
void walk_labels(Reader& archive, RecordLabels& labels) {
  std::size_t form = 0;
  archive.number(form);
  if (form == 0) labels = NamedLabels{};
  if (form == 1) labels = FoundLabels{};
  if (form == 2) labels = ClassLabel{};
  std::visit([&](auto& one) { walk_form(archive, one); }, labels);
}

template <typename Archive, typename Record>
void walk_record(Archive& archive, Record& record) {
  auto& sample = record.sample;
  archive.number(record.number);
  archive.text(sample.id);
  archive.text(sample.patient);
  archive.text(sample.view);
  archive.text(sample.sex);
  archive.number(sample.split);
  walk_age(archive, sample.age_years);
  walk_stored(archive, *sample.stored);
  walk_raw(archive, sample.stored->raw);
  walk_labels(archive, record.labels);
}

template <typename Archive, typename List>
void walk_left_out(Archive& archive, List& list) {
  archive.list(list, [&](auto& one) {
    archive.text(one.what);
    archive.text(one.where);
  });
}

}  // namespace

// Uses the change time of the inode too, because programs can set the modification time.
std::string file_state(const fs::path& path) {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return "none";
  return fmt::format("{} {} {} {}.{:09} {}.{:09}", now.st_dev, now.st_ino, now.st_size, now.st_mtim.tv_sec,
                     now.st_mtim.tv_nsec, now.st_ctim.tv_sec, now.st_ctim.tv_nsec);
}

std::string seal_record_index(std::string_view body) {
  std::string bytes(kMagic);
  bytes += hash_of(body);
  bytes += body;
  return bytes;
}

std::string encode_record_index(const RecordIndex& index) {
  Writer writer;
  walk_names(writer, index.notes);
  walk_left_out(writer, index.left_out);
  walk_left_out(writer, index.absent);
  writer.text(index.given_splits);
  writer.list(index.records, [&](const IndexedRecord& record) { walk_record(writer, record); });
  return seal_record_index(std::move(writer).bytes());
}

std::optional<RecordIndex> decode_record_index(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kHash_bytes) return std::nullopt;
  const std::string_view body = bytes.substr(kMagic.size() + kHash_bytes);
  if (bytes.substr(kMagic.size(), kHash_bytes) != hash_of(body)) return std::nullopt;
  Reader reader(body);
  RecordIndex index;
  walk_names(reader, index.notes);
  walk_left_out(reader, index.left_out);
  walk_left_out(reader, index.absent);
  reader.text(index.given_splits);
  reader.list(index.records, [&](IndexedRecord& record) {
    record.sample.stored.emplace();
    walk_record(reader, record);
  });
  if (!reader.is_complete()) return std::nullopt;
  return index;
}

fs::path record_index_path(const fs::path& file, std::string_view thing, const fs::path& cache_folder) {
  std::string key =
      fmt::format("{}{}\n{}\n{}", kMagic, thing, fs::absolute(file).lexically_normal().string(), file_state(file));
  for (const char* beside : {".lst", ".idx"}) key += '\n' + file_state(fs::path(file).replace_extension(beside));
  return cache_folder / "records" / (io::sha256_hex(key).substr(0, 24) + ".idx");
}

std::optional<RecordIndex> find_record_index(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const auto file = io::MappedFile::open(path);
  if (!file) return std::nullopt;
  const auto bytes = file.value().bytes();
  return decode_record_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void keep_record_index(const fs::path& path, const RecordIndex& index) {
  try {
    if (const std::string problem = runtime::make_private_folder(path.parent_path()); !problem.empty()) {
      log::debug(fmt::format("the record index cannot be stored: {}", problem));
      return;
    }
    io::remove_leftover_temporaries(path.parent_path());
    io::AtomicFile file(path);
    file.write(encode_record_index(index));
    file.commit();
  } catch (const std::exception& error) {
    log::debug(fmt::format("the record index cannot be stored: {}", error.what()));
  }
}

}  // namespace roentgen::data
