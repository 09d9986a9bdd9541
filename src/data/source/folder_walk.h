// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Walks the files of a folder and counts everything that is skipped or left out, so that no image is lost silently.
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
  void add(const std::string& name, std::int64_t count = 1) { counts_[name] += count; }        ///< counts `count` more
  Tally& operator+=(const Tally& other);                                                       ///< adds up
  [[nodiscard]] bool is_empty() const { return counts_.empty(); }                              ///< was nothing counted?
  [[nodiscard]] std::int64_t total() const;                                                    ///< sum over the names
  [[nodiscard]] const std::map<std::string, std::int64_t>& counts() const { return counts_; }  ///< counts by name
  /// ".bmp 2, .gif 1", in the order of the names.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

/// Files and folders that a walk did not take.
struct LeftOut {
  /// Files by their endings in small letters; "no ending", "no file" (a socket, say).
  Tally files{};
  /// Links that lead nowhere.
  std::vector<std::filesystem::path> dangling{};
  /// Folders called masks or pairs, or the like (is_companion_folder()), and image files below them.
  std::int64_t companions = 0;
  std::int64_t companion_images = 0;  ///< image files below companion folders
  /// Folders with the ending of an image. They are walked as others are.
  std::vector<std::filesystem::path> image_folders{};
  /// Files with the ending of an image whose name, or a folder of it, begins with a dot.
  std::int64_t hidden = 0;
  /// Folders that cannot be read, where the walk passes over them.
  std::int64_t unreadable = 0;
  /// Folders that were walked before, and the path under which they were.
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> repeated{};

  LeftOut& operator+=(const LeftOut& other);  ///< adds up
  /// Lines for people that name no file; none when nothing was left out.
  /// @param why reason for leaving files out, such as "which are no DICOM"
  [[nodiscard]] std::vector<std::string> notes(std::string_view why) const;
};

/// Order in which a folder's entries are visited; each part is sorted by name.
enum class WalkOrder : std::uint8_t {
  Mixed,       ///< files and folders as one list
  FilesFirst,  ///< files, then folders
};

/// Walks folders: each real folder once, links to folders too. Names that begin with a dot, folders called __MACOSX
/// and companion folders are passed over. One thread.
class FolderWalk {
 public:
  /// Accepts a file, or returns false to leave it out.
  using Take = std::function<bool(const std::filesystem::path&)>;
  /// Decides whether an image file in a skipped folder counts as left out.
  using Counts = std::function<bool(const std::filesystem::path&)>;

  FolderWalk(WalkOrder order, Take take) : order_(order), take_(std::move(take)) {}  ///< called for every file

  /// Walks everything below `path`; files are reported as `path` / name. Throws DataError for a folder that cannot be
  /// read, unless pass_unreadable().
  void walk(const std::filesystem::path& path);
  /// Folders to walk after everything else in the same folder.
  void walk_last(std::set<std::filesystem::path> folders) { last_ = std::move(folders); }
  /// Called before each folder; true ends the walk.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Counts folders that cannot be read and walks on.
  void pass_unreadable() { passes_unreadable_ = true; }
  /// Called for image files that are hidden or in companion folders; without it all of them count.
  void count_left_out(Counts counts) { counts_ = std::move(counts); }
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }  ///< files and folders left out so far

 private:
  void take(const std::filesystem::directory_entry& entry);
  [[nodiscard]] std::int64_t images_below(const std::filesystem::path& folder) const;

  WalkOrder order_;
  Take take_;
  std::set<std::filesystem::path> last_;
  std::function<bool()> stop_ = [] { return false; };
  Counts counts_ = [](const std::filesystem::path&) { return true; };
  bool passes_unreadable_ = false;
  /// Real folders, and the paths under which they were walked.
  std::map<std::filesystem::path, std::filesystem::path> visited_;
  LeftOut left_out_;
};

/// Entries of a folder by name, also those whose names begin with a dot. None where it cannot be read, or those that
/// were read before `error`.
[[nodiscard]] std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder,
                                                                           std::error_code& error);
/// Entries as above, without the reason for missing ones.
[[nodiscard]] std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder);

/// ".png" of "A.PNG"; "no ending". Quoted where blanks are in it.
[[nodiscard]] std::string ending_of(const std::filesystem::path& path);

}  // namespace roentgen::data
