// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset: the images in a data folder as one Sample each (file, labels, patient, split), and the options to load it.
// Shuffling, ranks and pixels are handled in stage, codec and transform.
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

/// Part of a data set. None: in no part, for example because no list names the image; neither used for training nor
/// evaluated.
enum class Split : std::uint8_t { Train, Val, Test, None };
/// All splits, in the order of Dataset::summaries.
inline constexpr std::array kSplits{Split::Train, Split::Val, Split::Test, Split::None};

/// Name of a split: "train", "val", "test" or "none".
[[nodiscard]] std::string_view name_of(Split split);
/// Parses a split's name; also accepts "valid", "validate" and "validation". Throws ConfigError that lists the choices.
[[nodiscard]] Split parse_split(std::string_view text);

/// How the bytes of a record are stored in their file.
enum class Framing : std::uint8_t {
  Plain,          ///< contiguous bytes without a checksum
  MaskedCrc32c,   ///< the last 4 bytes are the masked CRC32C of all others (io/record.h)
  RecordIoParts,  ///< several parts that must be joined (io/recordio.h)
};

/// Pixel order of images stored without a codec.
enum class PixelOrder : std::uint8_t {
  Interleaved,  ///< pixel by pixel; colour pixels as red, green, blue
  PlanarBgr,    ///< three planes, blue, green and red, as in Caffe
};

/// Position and format of an image inside a record file.
struct StoredImage {
  /// Offset of the first byte to read. The bytes read include the record's checksum and everything that it covers.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;  ///< number of bytes to read
  /// Offset of the image within the bytes read, after parts are joined.
  std::uint64_t image_begin = 0;
  std::uint64_t image_length = 0;    ///< length of the image in bytes
  Framing framing = Framing::Plain;  ///< how the record's bytes are stored
  /// Layout of pixels that are stored without a codec, little endian; nullopt if a codec decodes the image.
  std::optional<ImageLayout> raw{};
  PixelOrder order = PixelOrder::Interleaved;  ///< pixel order of raw pixels
};

/// An image of a data set, with its labels and properties.
struct Sample {
  /// Name in tables and preds.csv: NIH's "00000001_000.png", or the path as the csv states it.
  std::string id{};
  /// File that contains the image.
  std::filesystem::path path{};
  /// Position of the image in the file; nullopt if the file is the image.
  std::optional<StoredImage> stored{};
  /// Patient id in normal form (patient.h; NIH: decimal without leading zeros). If several data sets are merged, the
  /// namespace and a line break precede it. Empty: unknown. Never printed or written.
  std::string patient{};
  /// Patient id as the table states it, if that differs from the normal form (patient.h). Never printed or written.
  std::string written_patient{};
  /// Study that the image belongs to, unique across all patients (settle_studies()). Empty: unknown. Never printed.
  std::string study{};
  Split split = Split::None;  ///< part of the data set
  /// (K) labels: 1 positive, 0 negative, NaN unknown.
  std::vector<float> labels{};
  /// View position, such as "PA", "AP" or "LL"; empty: unknown.
  std::string view{};
  /// Patient's sex, such as "M" or "F"; empty: unknown.
  std::string sex{};
  /// Patient's age in years; NaN: unknown.
  float age_years = std::numeric_limits<float>::quiet_NaN();
  /// Index into Dataset::parts: the data set that the sample comes from.
  std::uint32_t part = 0;
};

/// A data set that was merged with others into a Dataset.
struct DatasetPart {
  /// Name of this data set (SourceOptions::name), unique among the merged data sets.
  std::string name{};
  /// Dataset reader that was used: a name in source_list.h.
  std::string source{};
  std::filesystem::path root{};     ///< folder of the data set
  std::string patient_namespace{};  ///< Dataset::patient_namespace of this part
  std::string split_origin{};       ///< Dataset::split_origin of this part
  /// Labels of the merged Dataset that are known for at least one image of this data set.
  std::vector<std::string> known_labels{};
};

/// Number of images with each value of one label in one split. The three add up to the number of images.
struct LabelCounts {
  std::int64_t positives = 0;  ///< images where the label is 1
  std::int64_t negatives = 0;  ///< images where the label is 0
  std::int64_t unknown = 0;    ///< images where the label is unknown
};

/// Counts of one split.
struct SplitSummary {
  Split split = Split::None;  ///< the split
  std::int64_t images = 0;    ///< number of images in the split
  /// Number of distinct known patients.
  std::int64_t patients = 0;
  /// Hash of the names of the split's images (io::name_list_sha256); empty if the split has no image. eval/split_list.h
  /// knows published lists.
  std::string list_sha256;
  /// (K) counts of each label.
  std::vector<LabelCounts> labels;
};

/// A listed data set. Thread-safe to read.
struct Dataset {
  /// Dataset reader that was used: a name in source_list.h, or several names joined by " + ".
  std::string source;
  /// Data folder; with several data sets, that of the first.
  std::filesystem::path root;
  /// Namespace that keeps patient "17" of one hospital apart from patient "17" of another in patient_hashes(). Empty if
  /// each merged data set has its own.
  std::string patient_namespace;
  /// Data sets that were merged; one if there was only one, none if load_dataset() did not create this Dataset.
  std::vector<DatasetPart> parts;
  /// (K) names of the labels.
  std::vector<std::string> label_names;
  /// Samples of all images, in the order of the csv.
  std::vector<Sample> samples;
  /// Label tables that were read.
  std::vector<std::filesystem::path> csv;
  /// SHA-256 of each table's bytes, hex, in the order of `csv`.
  std::vector<std::string> csv_sha256;
  /// Origin of train, val and test in one line, such as "test: test_list.txt; val: 12.5% of the patients of ..., seed
  /// 0".
  std::string split_origin;
  /// Lines that the program prints when it loads the data: what was found, dropped, filtered or left unknown. They
  /// contain no patient and no image name, because an image's name can contain a patient number.
  std::vector<std::string> notes;
  /// Number of image files in the folder that do not belong to the data set; masks and hidden files are not counted.
  std::int64_t left_out_images = 0;
  /// Summaries in the order of kSplits.
  std::array<SplitSummary, 4> summaries;

  /// Counts of one split.
  [[nodiscard]] const SplitSummary& summary(Split split) const { return summaries.at(static_cast<std::size_t>(split)); }
};

/// How an empty label field is read.
enum class Blank : std::uint8_t { Unknown, Negative };
/// How a label of -1 (CheXpert's "uncertain") is read.
enum class Uncertain : std::uint8_t { Ignore, One, Zero };

/// How label fields that are neither 0 nor 1 are read.
struct LabelPolicy {
  Blank blank = Blank::Unknown;             ///< how an empty field is read
  Uncertain uncertain = Uncertain::Ignore;  ///< how -1 is read
  friend bool operator==(const LabelPolicy&, const LabelPolicy&) = default;
};

/// Origin of train, val and test.
enum class SplitMode : std::uint8_t {
  Auto,    ///< lists or a split column if there are any, otherwise random
  Given,   ///< lists or a split column; DataError if there are none
  Random,  ///< random by patient, even if there are split lists
  Whole,   ///< every image belongs to test, for evaluation on external data
};

/// Origin of the validation part.
enum class ValidationFrom : std::uint8_t {
  Auto,  ///< list or column if there is one, otherwise random patients of train
  Part,  ///< random patients of train and val together
  None,  ///< no validation part; all images outside test belong to train
};

/// Unit of random splits for images whose patient is unknown. Patient: such images cause an error. Image: each of these
/// images is assigned separately.
enum class SplitUnit : std::uint8_t { Patient, Image };

/// Form of a patient id that determines the random splits. Checkpoints store these numbers.
enum class SplitRule : std::uint8_t {
  Written = 1,  ///< as the table states it: "12" and "12.0" differ, "nan" is a patient (checkpoints without a rule)
  Normal = 2,   ///< normal form (patient.h)
};

/// How images are divided into train, val and test. Random splits depend on a hash of (seed, namespace, patient), so a
/// patient keeps its split when the data set grows. A split that would be empty gets the patient whose random number
/// (split_draw()) is nearest to the threshold.
struct SplitOptions {
  SplitMode mode = SplitMode::Auto;                  ///< origin of train, val and test
  ValidationFrom validation = ValidationFrom::Auto;  ///< origin of the validation part
  /// Unit of random splits for images whose patient is unknown.
  SplitUnit unit = SplitUnit::Patient;
  SplitRule rule = SplitRule::Normal;  ///< form of patient ids that determines random splits
  /// Fraction of the patients that go to test, if test is random.
  double test_fraction = 0.2;
  /// Fraction of the remaining patients that go to val, if val is random.
  double val_fraction = 0.125;
  std::uint64_t seed = 0;  ///< seed of the random splits
  /// Text files with one image name per line, relative to the root or absolute; text after the first space is ignored.
  /// If empty, lists are searched for by their usual names.
  std::filesystem::path train_val_list{};
  std::filesystem::path train_list{};  ///< list of the training images
  std::filesystem::path val_list{};    ///< list of the validation images
  std::filesystem::path test_list{};   ///< list of the test images
};

/// Action if the image of a csv row is absent.
enum class Absent : std::uint8_t { Refuse, Skip };
/// Action if an image name occurs twice, in rows or files.
enum class Duplicates : std::uint8_t { Refuse, First };

/// Action if a data set lacks a requested label. Mask: the label is unknown for all of its images. A data set without
/// any requested label is refused in both cases.
enum class UnknownLabels : std::uint8_t { Refuse, Mask };

/// Action if a dataset reader needs the names of the labels and none are given. Propose: uses columns that look like
/// labels. Notes then tell how to name them, and why no split can be drawn.
enum class UnnamedLabels : std::uint8_t { Refuse, Propose };

/// Whether the image files that a table names must exist. Unneeded: only rows are read (dataset readers csv and nih),
/// with all views. Errors then name lines instead of images.
enum class ImageFiles : std::uint8_t { Needed, Unneeded };

/// Settings of load_dataset(). docs/reference/data.md describes every key of a recipe's [data] section.
struct SourceOptions {
  /// Data folder. Roentgen never writes to it.
  std::filesystem::path root{};
  /// Dataset reader: "auto" or a name in source_list.h.
  std::string source = "auto";
  /// Label tables, relative to the root or absolute. If empty, they are searched for.
  std::vector<std::filesystem::path> csv{};
  /// Name of the column of image files in a table of the dataset reader csv. If empty, it is found by its usual names.
  std::string image{};
  /// Name of the patient column in a table of the dataset reader csv. If empty, it is found by its usual names.
  std::string patient{};
  /// Folders, relative to the root, that are searched for images (dataset reader nih). If empty, the whole root is
  /// searched.
  std::vector<std::filesystem::path> images{};
  /// Labels to learn. A name is a finding (nih) or a column (csv). "Column:value" is 1 if the column has that value:
  /// "View:AP", "Sex:M" (nih), "etiology:virus" (csv). If empty, the reader's default (nih: the 14 findings in
  /// CheXNet's order).
  std::vector<std::string> labels{};
  UnknownLabels unknown_labels = UnknownLabels::Refuse;  ///< action if the data set lacks a label
  UnnamedLabels unnamed_labels = UnnamedLabels::Refuse;  ///< action if no labels are named
  /// Names of labels in this data set, as pairs (label, name in the data set). Names in finding_names.h need no entry.
  std::vector<std::pair<std::string, std::string>> label_map{};
  /// How fields that are neither 0 nor 1 are read, for labels without an entry in label_policies.
  LabelPolicy policy{};
  std::vector<std::pair<std::string, LabelPolicy>> label_policies{};  ///< exceptions by label name
  /// Views to keep: names, or "frontal" (PA, AP and their variants). If empty, all. Images of unknown view are kept and
  /// counted.
  std::vector<std::string> views{};
  Absent absent = Absent::Refuse;              ///< action for rows whose image is absent
  Duplicates duplicates = Duplicates::Refuse;  ///< action for repeated image names
  ImageFiles files = ImageFiles::Needed;       ///< whether image files must exist
  SplitOptions split{};                        ///< how images are divided into splits
  /// Value of Dataset::patient_namespace. If empty, the reader's name is used, or `name` if several data sets are
  /// merged.
  std::string patient_namespace{};
  /// Name of this data set among several: letters, digits, _, - and dots.
  std::string name{};
  /// Data sets to merge into one. `labels` above then applies to all of them; each has its own other options.
  std::vector<SourceOptions> sources{};
};

/// Assigns folders, each "DIR" or "NAME=DIR", to data sets. With options.sources, a named folder goes to the data set
/// of that name (other data sets are dropped). Unnamed folders are assigned to all data sets in order. Without
/// options.sources, a single folder becomes the root. Several folders become one data set each, with the given name or
/// the name of the detected reader. Throws ConfigError if this is ambiguous, DataError if a folder is absent.
void place_folders(SourceOptions& options, const std::vector<std::string>& folders);

/// Sets the split rule of all data sets in the options.
void set_split_rule(SourceOptions& options, SplitRule rule);

/// Returns the folder in "DIR" or "NAME=DIR".
[[nodiscard]] std::filesystem::path folder_of(const std::string& text);

/// Lists a data folder, or all of options.sources as one data set. Labels of several data sets are merged by name or by
/// finding_names.h; a label that a data set lacks is unknown for its images. Image names that occur twice are prefixed
/// with the name of the data set. Each data set has its own splits. Refuses data sets that share no label with any
/// other, contradicting label maps, and a patient in two splits if data sets share a namespace. Refuses, in each
/// folder, absent, unnamed and repeated images, unknown labels, empty tables, and patients in two splits. Throws
/// DataError or ConfigError with a one-line text. With "auto" the text says what each dataset reader expects.
[[nodiscard]] Dataset load_dataset(const SourceOptions& options);

/// True if the folder contains what options.source reads; for "auto", if any dataset reader can read it.
[[nodiscard]] bool fits_source(const SourceOptions& options);
/// Name of the dataset reader that load_dataset() would use. Throws as load_dataset() does.
[[nodiscard]] std::string_view detected_source(const SourceOptions& options);

/// True if a folder contains record files (docs/reference/data.md).
[[nodiscard]] bool has_records(const std::filesystem::path& folder);

/// Labels that are unknown for all images. With UnknownLabels::Mask, these are the labels that the data lack.
[[nodiscard]] std::vector<std::string> absent_labels(const Dataset& dataset);

/// Indices into dataset.samples of the samples in one split, in order.
[[nodiscard]] std::vector<std::uint32_t> samples_of(const Dataset& dataset, Split split);

/// Salted hash of each distinct known patient of a split, sorted. A hash is the first 16 hex digits of the SHA-256 of
/// salt + "\n" + patient_namespace + "\n" + patient. Used in checkpoints and to detect patients in both training and
/// test data.
[[nodiscard]] std::vector<std::string> patient_hashes(const Dataset& dataset, Split split, std::string_view salt);

/// Salted hashes under which a checkpoint may contain one patient.
struct PatientSpellings {
  /// Hashes of the normal form, of the id as the table states it, and of equivalent spellings.
  std::vector<std::string> same{};
  /// Hashes of numbers that differ from this id only in leading zeros.
  std::vector<std::string> zeros{};
};

/// Spellings of each distinct known patient in `samples` (indices), to detect patients in both training and test data.
[[nodiscard]] std::vector<PatientSpellings> patient_spellings(const Dataset& dataset,
                                                              const std::vector<std::uint32_t>& samples,
                                                              std::string_view salt);

/// Salted patient hash of each sample in `samples` (indices), empty if the patient is unknown. Callers group by patient
/// without knowing the ids.
[[nodiscard]] std::vector<std::string> sample_patient_hashes(const Dataset& dataset,
                                                             const std::vector<std::uint32_t>& samples,
                                                             std::string_view salt);

}  // namespace roentgen::data
