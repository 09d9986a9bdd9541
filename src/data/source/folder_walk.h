// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Walks the files of a folder and counts everything that is skipped, so that no image is lost silently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace roentgen::data {

/// Counts by name.
class Tally {
 public:
  void add(const std::string& name, std::int64_t count = 1) { counts_[name] += count; }        ///< increases a count
  Tally& operator+=(const Tally& other);                                                       ///< adds other counts
  [[nodiscard]] bool is_empty() const { return counts_.empty(); }                              ///< no counts yet?
  [[nodiscard]] std::int64_t total() const;                                                    ///< sum of all counts
  [[nodiscard]] const std::map<std::string, std::int64_t>& counts() const { return counts_; }  ///< counts by name
  /// Text such as ".bmp 2, .gif 1", sorted by name.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

/// Files and folders that a walk skipped.
struct LeftOut {
  /// Skipped files by extension in small letters, or as "no ending" or "no file" (a socket, for example).
  Tally files{};
  /// Symbolic links without a target.
  std::vector<std::filesystem::path> dangling{};
  /// Number of companion folders, such as masks or pairs (is_companion_folder()).
  std::int64_t companions = 0;
  std::int64_t companion_images = 0;  ///< image files below companion folders
  /// Folders whose name has an image extension. They are walked like other folders.
  std::vector<std::filesystem::path> image_folders{};
  /// Number of image files whose name, or one of whose folders, begins with a dot.
  std::int64_t hidden = 0;
  /// Number of folders that could not be read, if the walk continues after them.
  std::int64_t unreadable = 0;
  /// Folders that were met again, each with the path under which it was walked before.
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> repeated{};

  LeftOut& operator+=(const LeftOut& other);  ///< adds the counts of another walk
  /// Lines for the terminal that contain no file names; empty if nothing was skipped.
  /// @param why reason why files were skipped, such as "not DICOM"
  [[nodiscard]] std::vector<std::string> notes(std::string_view why) const;
};

/// Order in which the entries of a folder are visited. Entries are sorted by name.
enum class WalkOrder : std::uint8_t {
  Mixed,       ///< files and folders in one sorted list
  FilesFirst,  ///< all files, then all folders
};

/// Walks folders and follows links to folders; each real folder is visited once. Skips names that begin with a dot,
/// folders called __MACOSX, and companion folders. Not thread-safe.
class FolderWalk {
 public:
  /// Callback for each file. Returns false if the file is to be counted as skipped.
  using Take = std::function<bool(const std::filesystem::path&)>;
  /// Callback that decides whether an image file in a skipped folder is counted.
  using Counts = std::function<bool(const std::filesystem::path&)>;

  FolderWalk(WalkOrder order, Take take) : order_(order), take_(std::move(take)) {}  ///< `take` gets every file

  /// Walks everything below `path` and reports files as `path` / name. Throws DataError if a folder cannot be read,
  /// unless pass_unreadable() was called.
  void walk(const std::filesystem::path& path);
  /// Sets folders that are visited after everything else in the same folder.
  void walk_last(std::set<std::filesystem::path> folders) { last_ = std::move(folders); }
  /// Sets a function that is called before each folder; if it returns true, the walk ends.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Makes the walk count folders that cannot be read and continue.
  void pass_unreadable() { passes_unreadable_ = true; }
  /// Sets the callback for image files that are hidden or in companion folders. Without it all of them are counted.
  void count_left_out(Counts counts) { counts_ = std::move(counts); }
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }  ///< files and folders skipped so far

 private:
  void take(const std::filesystem::directory_entry& entry);
  [[nodiscard]] std::int64_t images_below(const std::filesystem::path& folder) const;

  WalkOrder order_;
  Take take_;
  std::set<std::filesystem::path> last_;
  std::function<bool()> stop_ = [] { return false; };
  Counts counts_ = [](const std::filesystem::path&) { return true; };
  bool passes_unreadable_ = false;
  /// Canonical paths of visited folders, and the paths under which they were visited.
  std::map<std::filesystem::path, std::filesystem::path> visited_;
  LeftOut left_out_;
};

/// Entries of a folder sorted by name, including those that begin with a dot. If reading fails, sets `error` and
/// returns the entries read until then.
[[nodiscard]] std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder,
                                                                           std::error_code& error);
/// Entries of a folder sorted by name. Ignores errors.
[[nodiscard]] std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder);

/// Extension in small letters, such as ".png" for "A.PNG", or "no ending". Quoted if it contains blanks.
[[nodiscard]] std::string ending_of(const std::filesystem::path& path);

}  // namespace roentgen::data
