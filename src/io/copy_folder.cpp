// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/copy_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/plural.h"
#include "core/thread_annotations.h"
#include "io/copy_list.h"
#include "io/descriptor.h"
#include "io/file.h"
#include "io/place.h"
#include "io/sha256.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string_view expected, std::string_view got,
                         std::string_view remedy = "again: copied files are kept") {
  throw DataError(error_text("io.copy", path.string(), expected, got, remedy));
}

/// A file that is read and written at given offsets.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : path_(path), file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (get() < 0) refuse(path, "a file that can be opened", system_message(errno));
  }

  [[nodiscard]] int get() const { return file_.get(); }
  /// Fills `out` up to the end of the file; returns the number of bytes read.
  [[nodiscard]] std::size_t read(std::span<std::byte> out, std::uint64_t at) const {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::pread(get(), out.data() + done, out.size() - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(path_, "a file that can be read", system_message(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  void write(std::span<const std::byte> bytes, std::uint64_t at) const {
    while (!bytes.empty()) {
      const ssize_t put = ::pwrite(get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) refuse(path_, fmt::format("free space for {} more bytes", bytes.size()), system_message(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      at += static_cast<std::uint64_t>(put);
    }
  }

 private:
  const fs::path path_;
  const Descriptor file_;
};

/// Lock of the process that copies; the system releases it when the process dies.
class CopyLock {
 public:
  CopyLock(const fs::path& path, const CopyOptions& options) : file_(path, O_RDWR | O_CREAT | O_NOFOLLOW) {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      if (options.on_wait) options.on_wait(holder());
      while (::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
      }
    }
    const std::string number = fmt::format("{:<20}\n", ::getpid());
    file_.write(std::as_bytes(std::span(number.data(), number.size())), 0);
  }

 private:
  [[nodiscard]] std::int64_t holder() const {
    std::string text(20, '\0');
    text.resize(file_.read(std::as_writable_bytes(std::span(text.data(), text.size())), 0));
    return std::atoll(text.c_str());
  }

  const OpenFile file_;
};

class Copier {
 public:
  Copier(const CopyOptions& options, fs::path source, fs::path target)
      : options_(options),
        source_(std::move(source)),
        target_(std::move(target)),
        state_(target_.parent_path() / fmt::format(".{}.copy-local", target_.filename().string())),
        files_(list_to_copy(source_)) {
    for (const CopyFile& file : files_) total_ += file.bytes;
  }

  CopiedFolder run();

 private:
  [[nodiscard]] bool is_finished() const;
  void require_whole() const;
  void require_room() const;
  void remove_strangers() const;
  void for_each_file(void (Copier::*step)(const CopyFile&, std::span<std::byte>));
  void copy(const CopyFile& file, std::span<std::byte> memory);
  void verify(const CopyFile& file, std::span<std::byte> memory);
  void note(const CopyFile& file, std::size_t chunk, const std::string& hash);
  void progress(std::uint64_t bytes);
  /// Returns the beginning of `memory`, as long as chunk `number` of the file.
  [[nodiscard]] std::span<std::byte> part(const CopyFile& file, std::size_t number, std::span<std::byte> memory) const {
    return memory.first(std::min<std::uint64_t>(memory.size(), file.bytes - number * options_.chunk_bytes));
  }
  /// Number of chunks of a file. An empty file has one empty chunk, so that it has a hash.
  [[nodiscard]] std::size_t chunks_of(const CopyFile& file) const {
    return std::max<std::size_t>(1, (file.bytes + options_.chunk_bytes - 1) / options_.chunk_bytes);
  }

  const CopyOptions& options_;
  const fs::path source_, target_, state_;
  const std::vector<CopyFile> files_;
  std::uint64_t total_ = 0;
  std::unique_ptr<OpenFile> journal_;

  Mutex mutex_;
  std::map<std::string, ChunkHashes> hashes_ RG_GUARDED_BY(mutex_);
  std::uint64_t done_ RG_GUARDED_BY(mutex_) = 0;
  std::uint64_t copied_ RG_GUARDED_BY(mutex_) = 0;
  std::uint64_t journal_end_ RG_GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
};

bool Copier::is_finished() const {
  const bool is_there = fs::exists(target_);
  const auto manifest = read_text(state_ / "manifest");
  if (!manifest) {
    if (is_there) {
      refuse(target_, "a folder made by copy-local, or none", "a folder of that name that copy-local did not make",
             "another folder, or removing this one");
    }
    return false;
  }
  const bool is_same = is_manifest_of(manifest.value(), source_, files_);
  if (is_there && !is_same) {
    refuse(target_, fmt::format("a copy of the current state of {}", source_.string()),
           "a copy of another folder or of an older state", "removing this copy, or another folder");
  }
  if (is_there) require_whole();
  // A process that was killed before the final rename leaves a complete copy.
  if (is_same && !is_there && fs::exists(state_ / "files")) fs::rename(state_ / "files", target_);
  return is_same && fs::exists(target_);
}

// Compares only sizes and times, because every start of a run checks a finished copy.
void Copier::require_whole() const {
  const std::vector<CopyFile> there = list_to_copy(target_);
  const auto differs = [&](const CopyFile& file) {
    const auto found = std::ranges::lower_bound(there, file.path, {}, &CopyFile::path);
    return found == there.end() || *found != file;
  };
  const auto missing = std::ranges::find_if(files_, differs);
  if (missing == files_.end()) return;
  const auto count = std::ranges::count_if(files_, differs);
  refuse(target_, fmt::format("a complete copy of {} of {}", counted(std::ssize(files_), "file"), source_.string()),
         fmt::format("{} missing or changed files, such as {}", count, missing->path), "removing this copy");
}

void Copier::require_room() const {
  struct statvfs status {};
  if (::statvfs(state_.c_str(), &status) != 0) return;
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  std::uint64_t there = 0;
  struct stat file {};
  for (const CopyFile& one : files_) {
    if (::stat((state_ / "files" / one.path).c_str(), &file) == 0) there += static_cast<std::uint64_t>(file.st_size);
  }
  const std::uint64_t needed = total_ - std::min(total_, there);
  if (needed <= free) return;
  refuse(options_.folder, fmt::format("free space for {} MiB", (needed >> 20U) + 1), fmt::format("{} MiB", free >> 20U),
         "freeing space there, or another folder");
}

// Removes files that the source no longer has but an earlier, killed call copied, and folders without files. The source
// may now have a file in place of such a folder.
void Copier::remove_strangers() const {
  const fs::path root = state_ / "files";
  std::set<fs::path> folders;
  for (const CopyFile& file : files_) {
    for (fs::path folder = fs::path(file.path).parent_path(); !folder.empty(); folder = folder.parent_path()) {
      if (!folders.insert(folder).second) break;
    }
  }
  std::vector<fs::path> strangers;
  for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
    const fs::path path = entry->path().lexically_relative(root);
    const bool is_folder = entry->is_directory() && !entry->is_symlink();
    if (is_folder ? folders.contains(path) : std::ranges::binary_search(files_, path.string(), {}, &CopyFile::path)) {
      continue;
    }
    if (is_folder) entry.disable_recursion_pending();
    strangers.push_back(entry->path());
  }
  for (const fs::path& path : strangers) fs::remove_all(path);
}

void Copier::note(const CopyFile& file, std::size_t chunk, const std::string& hash) {
  const std::string line = journal_line(file, chunk, hash);
  MutexLock lock(mutex_);
  journal_->write(std::as_bytes(std::span(line.data(), line.size())), journal_end_);
  journal_end_ += line.size();
  ChunkHashes& chunks = hashes_[file.path];
  chunks.resize(chunk);
  chunks.push_back(hash);
}

void Copier::progress(std::uint64_t bytes) {
  MutexLock lock(mutex_);
  done_ += bytes;
  if (options_.on_progress) options_.on_progress(done_, total_);
}

// Chunks in the journal are checked on disk, because a power failure may have lost them.
void Copier::copy(const CopyFile& file, std::span<std::byte> memory) {
  const fs::path path = state_ / "files" / file.path;
  fs::create_directories(path.parent_path());
  const OpenFile out(path, O_RDWR | O_CREAT);
  ChunkHashes known;
  {
    MutexLock lock(mutex_);
    known = hashes_[file.path];
  }
  std::size_t chunk = 0;
  for (; chunk < std::min(known.size(), chunks_of(file)); ++chunk) {
    const auto bytes = part(file, chunk, memory);
    if (out.read(bytes, chunk * options_.chunk_bytes) != bytes.size() || fast_hash_hex(bytes) != known[chunk]) break;
    progress(bytes.size());
  }
  const fs::path source = source_ / file.path;
  const OpenFile in(source, O_RDONLY);
  const auto refuse_changed = [&] { refuse(source, "a file that does not change during the copy", "a changed file"); };
  for (; chunk < chunks_of(file); ++chunk) {
    const auto bytes = part(file, chunk, memory);
    if (in.read(bytes, chunk * options_.chunk_bytes) != bytes.size()) refuse_changed();
    out.write(bytes, chunk * options_.chunk_bytes);
    note(file, chunk, fast_hash_hex(bytes));
    {
      MutexLock lock(mutex_);
      copied_ += bytes.size();
    }
    progress(bytes.size());
  }
  struct stat now {};
  if (::fstat(in.get(), &now) != 0 || static_cast<std::uint64_t>(now.st_size) != file.bytes ||
      std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec != file.modified_ns) {
    refuse_changed();
  }
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, now.st_mtim};
  constexpr mode_t kPermissions = 0777;
  if (::ftruncate(out.get(), static_cast<off_t>(file.bytes)) != 0 || ::futimens(out.get(), times) != 0 ||
      ::fchmod(out.get(), (now.st_mode & kPermissions) | S_IRUSR | S_IWUSR) != 0) {
    refuse(path, "a file whose size, time and permissions can be set", system_message(errno));
  }
}

// Reads the copy back from disk, if the system drops its cached pages.
void Copier::verify(const CopyFile& file, std::span<std::byte> memory) {
  const fs::path path = state_ / "files" / file.path;
  const OpenFile in(path, O_RDONLY);
  ::posix_fadvise(in.get(), 0, 0, POSIX_FADV_DONTNEED);
  ChunkHashes known;
  {
    MutexLock lock(mutex_);
    known = hashes_.at(file.path);
  }
  for (std::size_t chunk = 0; chunk < chunks_of(file); ++chunk) {
    const auto bytes = part(file, chunk, memory);
    if (in.read(bytes, chunk * options_.chunk_bytes) == bytes.size() && fast_hash_hex(bytes) == known.at(chunk)) {
      continue;
    }
    refuse(path, "the bytes that were written", "other bytes, so the disk is unreliable", "another disk");
  }
}

void Copier::for_each_file(void (Copier::*step)(const CopyFile&, std::span<std::byte>)) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::max(1, options_.workers); ++i) {
    threads.emplace_back([&] {
      try {
        const auto memory = std::make_unique_for_overwrite<std::byte[]>(options_.chunk_bytes);
        for (std::size_t at = next++; at < files_.size(); at = next++) {
          (this->*step)(files_[at], {memory.get(), options_.chunk_bytes});
        }
      } catch (...) {
        next = files_.size();  // makes other threads stop after their current file
        MutexLock lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    });
  }
  threads.clear();
  MutexLock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

CopiedFolder Copier::run() {
  std::error_code error;
  fs::create_directories(state_, error);
  if (error) refuse(state_, "a folder that can be created", error.message(), "another folder");
  const CopyLock lock(state_ / "lock", options_);
  CopiedFolder result{.folder = target_, .files = std::ssize(files_), .bytes = total_};
  if (is_finished()) return result;
  fs::remove(state_ / "manifest");
  fs::create_directories(state_ / "files");
  // Subfolders have default permissions; the top folder has the permissions of the source and controls access.
  fs::permissions(state_, fs::perms::owner_all);
  fs::permissions(state_ / "files", fs::status(source_).permissions() | fs::perms::owner_all);
  remove_strangers();
  require_room();
  {
    MutexLock guard(mutex_);
    hashes_ = read_journal(state_ / "journal", files_);
    // Rewrites the journal without incomplete and outdated lines, so that it has at most one line per chunk.
    std::string lines;
    for (const CopyFile& file : files_) {
      const ChunkHashes& chunks = hashes_[file.path];
      for (std::size_t i = 0; i < chunks.size(); ++i) lines += journal_line(file, i, chunks[i]);
    }
    write_file_atomically(state_ / "journal", lines);
    journal_end_ = lines.size();
  }
  journal_ = std::make_unique<OpenFile>(state_ / "journal", O_WRONLY);
  for_each_file(&Copier::copy);
  const OpenFile folder(state_, O_RDONLY | O_DIRECTORY);
  if (::syncfs(folder.get()) != 0) refuse(state_, "files that can be flushed to the disk", system_message(errno));
  for_each_file(&Copier::verify);
  {
    MutexLock guard(mutex_);
    write_file_atomically(state_ / "manifest", manifest_text(source_, files_, hashes_));
    result.copied_bytes = copied_;
  }
  fs::rename(state_ / "files", target_);
  fs::remove(state_ / "journal");
  return result;
}

}  // namespace

CopiedFolder copy_folder(const CopyOptions& options) {
  RG_ASSERT(options.chunk_bytes > 0);
  const auto refuse_option = [](const fs::path& path, std::string_view expected, std::string_view got) {
    throw ConfigError(
        error_text("io.copy", path.string(), expected, got, "roentgen copy-local SRC DIR with other folders"));
  };
  std::error_code error;
  const fs::path source = fs::canonical(options.source, error);
  if (error || !fs::is_directory(source)) refuse_option(options.source, "a folder", error ? error.message() : "a file");
  if (!source.has_filename()) refuse_option(options.source, "a folder with a name", "the root");
  const fs::path target = fs::weakly_canonical(fs::absolute(options.folder)) / source.filename();
  if (is_inside(target, source) || is_inside(source, target)) {
    refuse_option(options.folder, "a folder separate from the source folder", "one folder inside the other");
  }
  return Copier(options, source, target).run();
}

}  // namespace roentgen::io
