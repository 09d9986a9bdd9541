// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordListing: shared code of all dataset readers of record files. It collects images and labels into a Listing. For
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
#include <utility>
#include <vector>

#include "data/source/record_files.h"
#include "data/source/record_index.h"
#include "data/source/record_labels.h"
#include "data/source/source.h"

namespace roentgen::data {

/// Collects records of a data set. Not thread-safe.
class RecordListing {
 public:
  /// Creates an empty listing and unpacks gzipped files (unpacked.h). `options` must outlive the object. Throws
  /// DataError or ConfigError if there is no file, or if files of a numbered series are missing. Also throws if a label
  /// table lies next to the files, or as unpacked() does.
  /// @param thing topic of errors, which names the dataset reader, such as "data.tfrecord"
  RecordListing(const SourceOptions& options, std::string_view thing, std::vector<RecordFile> files);

  [[nodiscard]] const std::vector<RecordFile>& files() const { return files_; }
  [[nodiscard]] const SourceOptions& options() const { return options_; }

  /// Throws DataError "[thing] what: expected ..., got ...".
  [[noreturn]] void refuse(
      std::string_view what, std::string_view expected, std::string_view got,
      std::string_view remedy = "reading docs/reference/record_files.md, which describes valid records") const;
  /// Refuses text that is blank or has several lines, because tables cannot hold it. `field` names it in the error.
  void check_line(std::string_view text, std::string_view field, std::string_view where) const;

  /// Calls `read_file` with each file and its bytes, or uses the stored index if the file is unchanged. Then assigns
  /// labels and all other fields. Stores an index for files with at least kLong records, if none is damaged. Throws
  /// DataError if no record can be read, or if a file was truncated while it was read. Throws ConfigError for labels
  /// that do not exist.
  [[nodiscard]] Listing read(const std::function<void(const RecordFile&, std::span<const std::byte>)>& read_file);
  static constexpr std::size_t kLong = 16;

  /// Adds one image. A sample without an id is named after its file and number. A sample without a patient gets the
  /// patient number at the start of its name, if the name has NIH's form. `number` is the record's number in its file,
  /// from 1; `where` names it in errors. Throws DataError if labels are invalid or have another form than the labels of
  /// earlier records.
  void add(const RecordFile& file, std::size_t number, Sample sample, RecordLabels labels);
  /// Sets the names of labels that records only number: of the classes from 0 on, or of all labels. One name for the
  /// classes 0 and 1 makes them a single label. Ignored if the records have more labels than names.
  void name_labels(std::vector<std::string> names) { given_names_ = std::move(names); }
  /// True if a record with labels was added, so that the form of labels is known.
  [[nodiscard]] bool has_labels() const { return form_ != std::variant_npos; }
  /// Converts a split that a record states; `field` names the field and `where` the record, for errors.
  [[nodiscard]] Split given_split(std::string_view text, std::string_view field, std::string_view where);
  /// True if the split of all images in a file is known without reading its records.
  [[nodiscard]] bool knows_split(const RecordFile& file) const;
  /// Adds a damaged record. If knows_split(), it counts as a corrupt image with unknown labels; otherwise throws
  /// DataError with the text `why`.
  void add_damaged(const RecordFile& file, std::size_t number, const StoredImage& place, const std::string& why);
  /// Counts something in the file that is not read; `what` describes it, such as "left out, files .seg.png".
  void leave_out(const RecordFile& file, std::string what);
  /// Records that sample `name` of the file has labels but no image. read() refuses or skips it, as
  /// SourceOptions::absent says.
  void add_absent(const RecordFile& file, std::string_view name);
  /// Adds a note if a field looks like a patient id but is not the field `read`, which is used.
  void look_at_field(const RecordFile& file, std::string_view field, std::string_view read);
  /// Field that is not read although its text names another split than the image's.
  struct SplitField {
    std::string_view name;
    std::string_view text;
    /// Name of the field that is read instead.
    std::string_view read;
  };
  void look_at_split(const RecordFile& file, const SplitField& field, Split split_of_image);
  /// Adds a note, a line for the terminal.
  void note(std::string line) {
    index_.notes.push_back(line);
    listing_.notes.push_back(std::move(line));
  }

  /// Name of a record for messages, such as "train-00000-of-00010, record 5".
  [[nodiscard]] static std::string name_of_record(const RecordFile& file, std::size_t number);

 private:
  /// Uses the stored index of `file`. Returns false if there is none or it is outdated.
  [[nodiscard]] bool recall(const RecordFile& file);
  void begin(const RecordFile& file);
  void end(const RecordFile& file, std::span<const std::byte> map);
  [[nodiscard]] Listing finish();
  /// Replaces each finding by the spelling of it that occurred first.
  void unite_spellings(FoundLabels& found);
  void settle_absent_files(const std::string& absent);
  void check_labels(const RecordLabels& labels, const std::string& where);
  void apply_given_names();
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
  /// Index of the file that is currently read.
  RecordIndex index_;
  std::filesystem::path index_path_;
  bool is_damaged_ = false;
  /// Labels of each sample as its record states them; nullopt for damaged records.
  std::vector<std::optional<RecordLabels>> labels_;
  /// Names of all labels in the data set, as the records spell them.
  std::vector<std::string> names_;
  std::map<std::int64_t, std::string> classes_;
  /// Argument of name_labels().
  std::vector<std::string> given_names_;
  std::set<std::string> found_;
  /// Spelling that occurred first, by finding_text_key().
  std::map<std::string, std::string> spellings_;
  std::size_t form_ = std::variant_npos;
  /// Indices into `labels_` by image name.
  std::map<std::string, std::size_t> numbers_;
  Repeats repeats_;
  std::vector<std::string> damaged_;
  /// Things in all files that were not read.
  std::vector<UnreadEntry> left_out_;
  std::vector<UnreadEntry> absent_;
  /// Error text of the first damaged record; empty if no record is damaged.
  std::string why_damaged_;
};

/// True if two texts differ only in case, like "Patient" and "patient".
[[nodiscard]] bool differ_in_case_alone(std::string_view a, std::string_view b);

/// Key of the field that is read as `name`: exactly this key, else the first readable key that differs only in case,
/// else `name`. `fields` contains pairs of keys and values; `is_readable` tests a value.
template <typename Fields, typename IsReadable>
[[nodiscard]] std::string_view key_of(const Fields& fields, std::string_view name, IsReadable is_readable) {
  std::string_view found = name;
  for (const auto& [key, value] : fields) {
    if (key == name) return name;
    if (found == name && differ_in_case_alone(key, name) && is_readable(value)) found = key;
  }
  return found;
}

/// Text of a name that is stored as a floating-point number, as in "12.0". Returns nullopt from 2^`digits` on, because
/// digits may be lost.
[[nodiscard]] std::optional<std::string> text_of_number(double number, int digits);

/// Patient number at the start of an NIH image name: "13" for "00000013_005.png"; empty for other names.
[[nodiscard]] std::string nih_patient(std::string_view id);

}  // namespace roentgen::data
