// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/copy_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "io/descriptor.h"
#include "io/sha256.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 32;

[[noreturn]] void refuse(const fs::path& path, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw DataError(error_text("io.copy", path.string(), expected, got, remedy));
}

class Lister {
 public:
  explicit Lister(fs::path source) : source_(std::move(source)) {}

  std::vector<CopyFile> list() {
    visit("");
    std::ranges::sort(files_, {}, &CopyFile::path);
    return std::move(files_);
  }

 private:
  static struct stat status_of(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      refuse(path, "a file that can be read", system_message(errno), "repairing or removing it");
    }
    return status;
  }

  void visit(const std::string& below) {
    const fs::path folder = below.empty() ? source_ : source_ / below;
    const struct stat here = status_of(folder);
    const auto id = std::pair(here.st_dev, here.st_ino);
    if (!above_.insert(id).second)
      refuse(folder, "folders without cyclic links", "a folder that contains itself", "removing that link");
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      add(below.empty() ? entry->path().filename().string() : below + '/' + entry->path().filename().string());
    }
    if (error) refuse(folder, "a folder that can be listed", error.message(), "changing its permissions");
    above_.erase(id);
  }

  void add(const std::string& path) {
    const fs::path full = source_ / path;
    if (path.find('\n') != std::string::npos)
      refuse(full, "a file name without line breaks", "a name with one", "renaming it");
    const struct stat status = status_of(full);
    if (S_ISDIR(status.st_mode)) {
      visit(path);
      return;
    }
    if (!S_ISREG(status.st_mode)) refuse(full, "a file or a folder", "a special file", "removing it");
    files_.push_back({.path = path,
                      .bytes = static_cast<std::uint64_t>(status.st_size),
                      .modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  }

  const fs::path source_;
  /// Folders from the source down to the folder that is being listed, to detect cycles of links.
  std::set<std::pair<dev_t, ino_t>> above_;
  std::vector<CopyFile> files_;
};

/// Removes the number and the space at the start of a line; returns false if the line does not start with a number.
template <typename Number>
bool take(std::string_view& line, Number& number) {
  const auto [at, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || at == line.data() + line.size() || *at != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(at - line.data()) + 1);
  return true;
}

/// Hash of a file: that of its only chunk, or else the hash of the text of all chunk hashes.
std::string hash_of(const ChunkHashes& chunks) {
  if (chunks.size() == 1) return chunks.front();
  const std::string text = fmt::format("{}", fmt::join(chunks, "\n"));
  return fast_hash_hex(std::as_bytes(std::span(text.data(), text.size())));
}

std::string first_line(const fs::path& source) { return fmt::format("copy of {}\n", source.string()); }

std::string file_facts(const CopyFile& file) {
  return fmt::format(" {} {} {}\n", file.bytes, file.modified_ns, file.path);
}

}  // namespace

std::vector<CopyFile> list_to_copy(const fs::path& source) { return Lister(source).list(); }

std::string journal_line(const CopyFile& file, std::size_t chunk, const std::string& hash) {
  return fmt::format("{} {}{}", hash, chunk, file_facts(file));
}

std::map<std::string, ChunkHashes> read_journal(const fs::path& journal, const std::vector<CopyFile>& files) {
  std::unordered_map<std::string_view, const CopyFile*> known;
  for (const CopyFile& file : files) known.emplace(file.path, &file);
  std::map<std::string, ChunkHashes> hashes;
  std::ifstream in(journal, std::ios::binary);
  for (std::string text; std::getline(in, text) && !in.eof();) {  // at eof the line is incomplete
    std::string_view line = text;
    if (line.size() <= kHashDigits || line[kHashDigits] != ' ') continue;
    const std::string_view hash = line.substr(0, kHashDigits);
    line.remove_prefix(kHashDigits + 1);
    std::size_t chunk = 0;
    CopyFile file;
    if (!take(line, chunk) || !take(line, file.bytes) || !take(line, file.modified_ns)) continue;
    file.path = line;
    const auto found = known.find(file.path);
    if (found == known.end() || *found->second != file) continue;
    ChunkHashes& chunks = hashes[file.path];
    if (chunk > chunks.size()) continue;
    chunks.resize(chunk);  // everything after a missing chunk is copied again
    chunks.emplace_back(hash);
  }
  return hashes;
}

std::string manifest_text(const fs::path& source, const std::vector<CopyFile>& files,
                          const std::map<std::string, ChunkHashes>& hashes) {
  std::string text = first_line(source);
  for (const CopyFile& file : files) text += hash_of(hashes.at(file.path)) + file_facts(file);
  return text;
}

bool is_manifest_of(const std::string& manifest, const fs::path& source, const std::vector<CopyFile>& files) {
  const std::string first = first_line(source);
  std::string_view rest = manifest;
  if (!rest.starts_with(first)) return false;
  rest.remove_prefix(first.size());
  for (const CopyFile& file : files) {
    const std::string facts = file_facts(file);
    if (rest.size() < kHashDigits || !rest.substr(kHashDigits).starts_with(facts)) return false;
    rest.remove_prefix(kHashDigits + facts.size());
  }
  return rest.empty();
}

}  // namespace roentgen::io
