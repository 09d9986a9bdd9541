// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordListing: common part of all sources of record files. It collects images and labels into a Listing. For
// src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/record_files.h"
#include "data/source/record_index.h"
#include "data/source/record_labels.h"
#include "data/source/source.h"

namespace roentgen::data {

/// Gathers records. One thread.
class RecordListing {
 public:
  /// @param thing of errors: "data.tfrecord". `options` must outlive it. Gzipped files are unpacked (unpacked.h).
  /// DataError and ConfigError: no file, files that their names count and that are absent, a label table beside, as
  /// unpacked().
  RecordListing(const SourceOptions& options, std::string_view thing, std::vector<RecordFile> files);

  [[nodiscard]] const std::vector<RecordFile>& files() const { return files_; }
  [[nodiscard]] const SourceOptions& options() const { return options_; }

  /// DataError "[thing] what: expected ..., got ...".
  [[noreturn]] void refuse(
      std::string_view what, std::string_view expected, std::string_view got,
      std::string_view remedy = "docs/reference/record_files.md, which lists what records hold") const;
  /// Refuses text for tables unless it is one or more words in one line. `field` names it.
  void check_line(std::string_view text, std::string_view field, std::string_view where) const;

  /// Calls `read_file` with each file and its bytes, unless a stored index of the unchanged file exists; then assigns
  /// labels and the remaining fields. Stores an index for files of kLong or more records, none of them damaged. Throws
  /// DataError for no readable record or a file that was truncated while it was read. Throws ConfigError for labels
  /// that do not exist.
  [[nodiscard]] Listing read(const std::function<void(const RecordFile&, std::span<const std::byte>)>& read_file);
  static constexpr std::size_t kLong = 16;

  /// Takes one image. A sample without an id is named by its file and number, one without a patient by NIH's form of
  /// names. `number`: of the record in its file, from 1; `where` names it in errors. Throws DataError for invalid
  /// labels, or labels of another form than before.
  void add(const RecordFile& file, std::size_t number, Sample sample, RecordLabels labels);
  /// Whether the form of the labels is known by now.
  [[nodiscard]] bool has_labels() const { return form_ != std::variant_npos; }
  /// The image's split as the record says it; `field` names the place.
  [[nodiscard]] Split given_split(std::string_view text, std::string_view field, std::string_view where);
  /// Whether the split of all images of a file is known without their records.
  [[nodiscard]] bool knows_split(const RecordFile& file) const;
  /// Takes a record that is damaged: its image counts as a corrupt one, of unknown labels, where knows_split().
  /// DataError of `why` elsewhere.
  void add_damaged(const RecordFile& file, std::size_t number, const StoredImage& place, const std::string& why);
  /// Counts something in the file that is not read; `what` names it: "left out, files .seg.png".
  void leave_out(const RecordFile& file, std::string what);
  /// `name` in the file has labels and no image. Refused, or left out, as SourceOptions::absent says.
  void add_absent(const RecordFile& file, std::string_view name);
  /// Notes a field that looks like the patient but is not read; `read` is the one that is.
  void look_at_field(const RecordFile& file, std::string_view field, std::string_view read);
  /// Notes a field that is not read although its text names a split, another than the image's.
  struct SplitField {
    std::string_view name;
    std::string_view text;
    /// Name of the field that is read.
    std::string_view read;
  };
  void look_at_split(const RecordFile& file, const SplitField& field, Split split_of_image);
  /// Text for people.
  void note(std::string line) {
    index_.notes.push_back(line);
    listing_.notes.push_back(std::move(line));
  }

  /// "train-00000-of-00010, record 5".
  [[nodiscard]] static std::string name_of_record(const RecordFile& file, std::size_t number);

 private:
  /// Uses the stored index of `file`; false: there is none, or it is outdated.
  [[nodiscard]] bool recall(const RecordFile& file);
  void begin(const RecordFile& file);
  void end(const RecordFile& file, std::span<const std::byte> map);
  [[nodiscard]] Listing finish();
  /// Replaces findings that differ only in spelling by their first spelling.
  void unite_spellings(FoundLabels& found);
  void settle_absent_files(const std::string& absent);
  void check_labels(const RecordLabels& labels, const std::string& where);
  void choose_labels();
  [[nodiscard]] float label_of(std::size_t sample, std::size_t column) const;
  [[nodiscard]] std::string labels_sha256() const;
  void note_files();
  void settle_samples_without_image();
  [[nodiscard]] static std::filesystem::path index_path_of(const RecordFile& file, std::string_view thing);

  const SourceOptions& options_;
  std::string thing_;
  std::vector<RecordFile> files_;
  Listing listing_{};
  /// Index of the file that is being read.
  RecordIndex index_;
  std::filesystem::path index_path_;
  bool is_damaged_ = false;
  /// Labels of each sample, as stored; nullopt for damaged ones.
  std::vector<std::optional<RecordLabels>> labels_;
  /// All labels of the data set in their stored form.
  std::vector<std::string> names_;
  std::map<std::int64_t, std::string> classes_;
  std::set<std::string> found_;
  /// First spelling of each finding_text_key().
  std::map<std::string, std::string> spellings_;
  std::size_t form_ = std::variant_npos;
  /// Indices into `labels_` by the names of images.
  std::map<std::string, std::size_t> numbers_;
  Repeats repeats_;
  std::vector<std::string> damaged_;
  /// Counts of unread things in all files.
  std::vector<UnreadEntry> left_out_;
  std::vector<UnreadEntry> absent_;
  /// Reason of the first damage whose reason is known.
  std::string why_damaged_;
};

/// True for "Patient" and "patient".
[[nodiscard]] bool differ_in_case_alone(std::string_view a, std::string_view b);

/// Key of the field to read as `name`: the exact name, else the first in another case that `is_readable`, else `name`.
/// `fields` holds pairs of keys and values.
template <typename Fields, typename IsReadable>
[[nodiscard]] std::string_view key_of(const Fields& fields, std::string_view name, IsReadable is_readable) {
  std::string_view found = name;
  for (const auto& [key, value] : fields) {
    if (key == name) return name;
    if (found == name && differ_in_case_alone(key, name) && is_readable(value)) found = key;
  }
  return found;
}

/// Name stored as a floating-point number, as in "12.0". nullopt from 2^`digits` on, where digits may be lost.
[[nodiscard]] std::optional<std::string> text_of_number(double number, int digits);

/// NIH's names begin with the patient's number: "13" of "00000013_005.png"; else empty.
[[nodiscard]] std::string nih_patient(std::string_view id);

}  // namespace roentgen::data
