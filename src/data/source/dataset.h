// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Content of a data folder: one Sample per image (file, label row, patient, split), and the options to load it.
// Shuffling, ranks and pixels are the business of stage, codec and transform.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/image.h"

namespace roentgen::data {

/// Part that an image belongs to. None: no part, because no list names it, say; never trained on, never evaluated.
enum class Split : std::uint8_t { Train, Val, Test, None };
/// All splits, in the order of Dataset::summaries.
inline constexpr std::array kSplits{Split::Train, Split::Val, Split::Test, Split::None};

/// "train", "val", "test", "none".
[[nodiscard]] std::string_view name_of(Split split);
/// Parses a split's name, also "valid", "validate" and "validation"; ConfigError naming the choices.
[[nodiscard]] Split parse_split(std::string_view text);

/// Storage of a record's bytes in their file.
enum class Framing : std::uint8_t {
  Plain,          ///< contiguous bytes
  MaskedCrc32c,   ///< the last 4 bytes that are read hold the others' masked CRC32C (io/record.h)
  RecordIoParts,  ///< parts to be joined (io/recordio.h)
};

/// Order of pixels stored without a codec.
enum class PixelOrder : std::uint8_t {
  Interleaved,  ///< rows of pixels, of colour each red, green, blue
  PlanarBgr,    ///< three images, blue, green and red: Caffe's
};

/// An image that is a part of a file: of a record.
struct StoredImage {
  /// First byte to read. Covers all bytes under the record's checksum, and the checksum.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;  ///< bytes that are read
  /// Position of the image in these bytes, after joining.
  std::uint64_t image_begin = 0;
  std::uint64_t image_length = 0;    ///< bytes of the image
  Framing framing = Framing::Plain;  ///< how the record's bytes lie
  /// Form of pixels that are stored without a codec, little endian.
  std::optional<ImageLayout> raw{};
  PixelOrder order = PixelOrder::Interleaved;  ///< order of raw pixels
};

/// One image.
struct Sample {
  /// Name in tables and preds.csv: NIH's "00000001_000.png", or the path as the csv writes it.
  std::string id{};
  /// File to read.
  std::filesystem::path path{};
  /// Place of the image in the file; nothing: the image is the whole file.
  std::optional<StoredImage> stored{};
  /// Patient in normal form (patient.h; NIH: decimal without leading zeros), of several sources behind its namespace
  /// and a line break. Empty: unknown. Never printed or written.
  std::string patient{};
  /// The patient's id as the table writes it, where that is not the normal form (patient.h). Never printed or written.
  std::string written_patient{};
  /// Study that the image belongs to, distinct among all patients; empty: unknown (settle_studies()). Never printed.
  std::string study{};
  Split split = Split::None;  ///< part that it belongs to
  /// (K): 1 positive, 0 negative, NaN unknown.
  std::vector<float> labels{};
  /// "PA", "AP", "LL", ...; empty: unknown.
  std::string view{};
  /// "M", "F", ...; empty: unknown.
  std::string sex{};
  /// Years; NaN: unknown.
  float age_years = std::numeric_limits<float>::quiet_NaN();
  /// Index into Dataset::parts.
  std::uint32_t part = 0;
};

/// One of the data sets that a Dataset was made of.
struct DatasetPart {
  /// Name that tells it from the other data sets: SourceOptions::name.
  std::string name{};
  /// Name in source_list.h of the source that read it.
  std::string source{};
  std::filesystem::path root{};     ///< folder of the data set
  std::string patient_namespace{};  ///< Dataset::patient_namespace of this part
  std::string split_origin{};       ///< Dataset::split_origin of this part
  /// Labels of the Dataset of which it knows something.
  std::vector<std::string> known_labels{};
};

/// Counts of one label in one split. Their sum is the number of images.
struct LabelCounts {
  std::int64_t positives = 0;  ///< images with the label
  std::int64_t negatives = 0;  ///< images without it
  std::int64_t unknown = 0;    ///< images of which it is not known
};

/// Counts of one split.
struct SplitSummary {
  Split split = Split::None;  ///< split that is counted
  std::int64_t images = 0;    ///< images in it
  /// Distinct known patients.
  std::int64_t patients = 0;
  /// io::name_list_sha256 of the names of its images; empty when it has none. eval/split_list.h names known ones.
  std::string list_sha256;
  /// (K)
  std::vector<LabelCounts> labels;
};

/// A data set, listed. Thread-safe to read.
struct Dataset {
  /// Name in source_list.h of the source that read it; the names of several, with " + " between them.
  std::string source;
  /// The folder, of several the first.
  std::filesystem::path root;
  /// Keeps patient "17" of one hospital apart from patient "17" of another in patient_hashes(). Empty: each part has
  /// its own.
  std::string patient_namespace;
  /// Data sets that it was made of, one or several; none when load_dataset() did not list it.
  std::vector<DatasetPart> parts;
  /// (K)
  std::vector<std::string> label_names;
  /// Samples in the order of the csv.
  std::vector<Sample> samples;
  /// Label tables read, and the SHA-256 of each one's bytes (hex), same order.
  std::vector<std::filesystem::path> csv;
  /// SHA-256 of each table's bytes, hex, in the order of `csv`.
  std::vector<std::string> csv_sha256;
  /// Origin of train, val and test, one line: "test: test_list.txt; val: 12.5% of the patients of ..., seed 0".
  std::string split_origin;
  /// Lines that the program prints at load: what was found, dropped, filtered, left unknown. They name no patient and
  /// no image, because an image's name can hold a patient's number.
  std::vector<std::string> notes;
  /// Image files in the folder that are no part of the data set, masks and hidden files aside.
  std::int64_t left_out_images = 0;
  /// Summaries in the order of kSplits.
  std::array<SplitSummary, 4> summaries;

  /// Counts of one split.
  [[nodiscard]] const SplitSummary& summary(Split split) const { return summaries.at(static_cast<std::size_t>(split)); }
};

/// Meaning of an empty label field.
enum class Blank : std::uint8_t { Unknown, Negative };
/// Meaning of -1 (CheXpert's "uncertain").
enum class Uncertain : std::uint8_t { Ignore, One, Zero };

/// Reading of fields that are neither 0 nor 1.
struct LabelPolicy {
  Blank blank = Blank::Unknown;             ///< meaning of an empty field
  Uncertain uncertain = Uncertain::Ignore;  ///< meaning of -1
  friend bool operator==(const LabelPolicy&, const LabelPolicy&) = default;
};

/// Origin of the splits.
enum class SplitMode : std::uint8_t {
  Auto,    ///< lists or a split column when there are any; else random
  Given,   ///< lists or a split column; DataError when there are none
  Random,  ///< drawn by patient, whatever lists there are
  Whole,   ///< every image is test: somebody else's data, for eval
};

/// Origin of the validation part.
enum class ValidationFrom : std::uint8_t {
  Auto,  ///< given (list or column) when there is any, else a patient-wise part of train
  Part,  ///< a patient-wise part of train and val together
  None,  ///< no validation: everything that is not test trains
};

/// Unit that is drawn where the patient is unknown.
enum class SplitUnit : std::uint8_t { Patient, Image };

/// Spelling of a patient's id by which splits are drawn. Checkpoints store the numbers.
enum class SplitRule : std::uint8_t {
  Written = 1,  ///< as the table writes it: "12" and "12.0" are two, "nan" is one (checkpoints without a rule)
  Normal = 2,   ///< normal form (patient.h)
};

/// Division of the images into train, val and test. Draws are by hash of (seed, namespace, patient), so a patient keeps
/// its split when the data set grows. A split that would be empty gets the one patient nearest to it.
struct SplitOptions {
  SplitMode mode = SplitMode::Auto;                  ///< origin of train, val and test
  ValidationFrom validation = ValidationFrom::Auto;  ///< origin of the validation part
  /// Image: where the patient is unknown, the image is drawn instead of refusing.
  SplitUnit unit = SplitUnit::Patient;
  SplitRule rule = SplitRule::Normal;  ///< spelling of patients
  /// Share of the patients that go to test when test is drawn.
  double test_fraction = 0.2;
  /// Share of the remaining patients that go to val when val is drawn.
  double val_fraction = 0.125;
  std::uint64_t seed = 0;  ///< seed of the draw
  /// Lists of image names, relative to the root or absolute, one a line; the text after the first space is ignored.
  /// Empty: searched for by their usual names.
  std::filesystem::path train_val_list{};
  std::filesystem::path train_list{};  ///< list of the training images
  std::filesystem::path val_list{};    ///< list of the validation images
  std::filesystem::path test_list{};   ///< list of the test images
};

/// Treatment of a csv row whose image is absent.
enum class Absent : std::uint8_t { Refuse, Skip };
/// Treatment of a name that occurs twice, in rows or files.
enum class Duplicates : std::uint8_t { Refuse, First };

/// Treatment of a label that a source does not know. Mask: it is unknown of all its images; a data set that knows
/// none of its labels is refused all the same.
enum class UnknownLabels : std::uint8_t { Refuse, Mask };

/// Treatment of a source whose labels must be named and are not. Propose: columns that read as labels are used. Notes
/// say how to name them, and why no split can be drawn.
enum class UnnamedLabels : std::uint8_t { Refuse, Propose };

/// Whether the image files that a table names must exist. Unneeded: only the rows are read (sources csv and nih), all
/// of them whatever their view. Errors then name lines, not images.
enum class ImageFiles : std::uint8_t { Needed, Unneeded };

/// Settings of load_dataset(). docs/reference/data.md describes every key of a recipe's [data] section.
struct SourceOptions {
  /// Data folder. Never written to.
  std::filesystem::path root{};
  /// "auto" or a name of source_list.h.
  std::string source = "auto";
  /// Label tables, relative to the root or absolute; empty: looked for.
  std::vector<std::filesystem::path> csv{};
  /// Column of the patients in a table of the source csv; empty: found by its name.
  std::string patient{};
  /// Folders below the root where images are looked for (source nih); empty: everywhere below it.
  std::vector<std::filesystem::path> images{};
  /// Labels to learn. A name is a finding (nih) or a column (csv), or "Column:value" = the column holds that value:
  /// "View:AP", "Sex:M" (nih), "etiology:virus" (csv). Empty: the source's own (nih: the 14 findings in CheXNet order).
  std::vector<std::string> labels{};
  UnknownLabels unknown_labels = UnknownLabels::Refuse;  ///< treatment of labels that the source lacks
  UnnamedLabels unnamed_labels = UnnamedLabels::Refuse;  ///< treatment of a source without named labels
  /// Labels that the source calls otherwise, beside the names of finding_names.h: label, and the source's own name.
  std::vector<std::pair<std::string, std::string>> label_map{};
  /// Policy for all labels, and exceptions by label name.
  LabelPolicy policy{};
  std::vector<std::pair<std::string, LabelPolicy>> label_policies{};  ///< exceptions by label name
  /// Views to keep: names, or "frontal" (PA, AP and their variants); empty: all. Images of unknown view are kept and
  /// counted.
  std::vector<std::string> views{};
  Absent absent = Absent::Refuse;              ///< treatment of rows without their image
  Duplicates duplicates = Duplicates::Refuse;  ///< treatment of repeated names
  ImageFiles files = ImageFiles::Needed;       ///< whether image files are looked for
  SplitOptions split{};                        ///< how images are parted
  /// See Dataset::patient_namespace; empty: the source's name, of one among several `name`.
  std::string patient_namespace{};
  /// Name of one among several: letters, digits, _, - and dots.
  std::string name{};
  /// Data sets that are read as one. `labels` above are then the labels of all; the other options are each source's
  /// own.
  std::vector<SourceOptions> sources{};
};

/// Assigns folders, each "DIR" or "NAME=DIR", to the data sets. With options.sources, a named folder goes to the source
/// of that name (others are left out), and unnamed folders go to all sources in order. Without them, one folder is the
/// root. Several folders make a data set each, with the given name or that of the detected source. Throws ConfigError
/// when that is ambiguous, DataError when a folder is absent.
void place_folders(SourceOptions& options, const std::vector<std::string>& folders);

/// Draws the splits of all data sets by that rule.
void set_split_rule(SourceOptions& options, SplitRule rule);

/// The folder of "DIR" or "NAME=DIR".
[[nodiscard]] std::filesystem::path folder_of(const std::string& text);

/// Lists a data folder, or all of options.sources as one data set. Labels of several sources are merged by name or by
/// finding_names.h; a label that a source does not know is unknown there. Image names that occur twice get the source's
/// name in front. Each source has its own splits.
/// Refuses sources that share no label with another, label maps that contradict each other, and a patient in two splits
/// where sources share a namespace. Refuses in each folder absent, unnamed and repeated images, unknown labels, empty
/// tables, and patients in two splits. Throws DataError or ConfigError of one line; with "auto" it names what every
/// source looked for.
[[nodiscard]] Dataset load_dataset(const SourceOptions& options);

/// True when the folder has what options.source reads; for "auto", when any source fits.
[[nodiscard]] bool fits_source(const SourceOptions& options);
/// Name of the source that load_dataset() takes; DataError and ConfigError as there.
[[nodiscard]] std::string_view detected_source(const SourceOptions& options);

/// Whether a folder has record files (docs/reference/data.md).
[[nodiscard]] bool has_records(const std::filesystem::path& folder);

/// Labels that are known of no image: with UnknownLabels::Mask, those that the data lack.
[[nodiscard]] std::vector<std::string> absent_labels(const Dataset& dataset);

/// Indices into dataset.samples of one split, in order.
[[nodiscard]] std::vector<std::uint32_t> samples_of(const Dataset& dataset, Split split);

/// Salted hash of each distinct known patient of a split, sorted: the first 16 hex digits of SHA-256 of
/// salt + "\n" + patient_namespace + "\n" + patient. For checkpoints and the leak check.
[[nodiscard]] std::vector<std::string> patient_hashes(const Dataset& dataset, Split split, std::string_view salt);

/// Salted hashes of a patient that a checkpoint may contain.
struct PatientSpellings {
  /// Hashes of the normal form, of the id as the table writes it, and of other spellings of this id.
  std::vector<std::string> same{};
  /// Hashes of numbers that differ from this id in leading zeros alone.
  std::vector<std::string> zeros{};
};

/// Spellings of each distinct known patient in `samples` (indices), for the leak check.
[[nodiscard]] std::vector<PatientSpellings> patient_spellings(const Dataset& dataset,
                                                              const std::vector<std::uint32_t>& samples,
                                                              std::string_view salt);

/// The salted hash of each sample in `samples` (indices), one per sample, empty where the patient is unknown: to group
/// by patient without naming any.
[[nodiscard]] std::vector<std::string> sample_patient_hashes(const Dataset& dataset,
                                                             const std::vector<std::uint32_t>& samples,
                                                             std::string_view salt);

}  // namespace roentgen::data
