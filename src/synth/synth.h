// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes a synthetic chest X-ray data set in NIH ChestX-ray14's layout. docs/reference/synthetic.md describes the
// drawing and its reasons. Single studies: synth/study.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synth/film.h"
#include "synth/finding.h"
#include "synth/population.h"

namespace roentgen::synth {

/// Form of the label table.
enum class LabelTable : std::uint8_t {
  Nih,  ///< Data_Entry_2017_v2020.csv: labels joined by '|'; cannot express uncertain or unknown
  Csv,  ///< labels.csv: a column a finding with 1, 0, -1 (uncertain) or nothing, as the source `csv` reads it
};

/// Settings of a synthetic data set.
struct SynthOptions {
  /// New or empty folder.
  std::filesystem::path out;
  /// 1 to 10,000,000. About two images a patient; a fifth of the patients are the test set.
  std::int64_t images = 8000;
  /// Width and height, 16 to 4096.
  std::int64_t size_px = 80;
  /// Same seed (and size and population), same pixels and labels on every machine; more images only add patients.
  std::uint64_t seed = 1;
  /// Prevalences and label noise.
  Population population;
  /// Differences of the test set: a factor on all prevalences, and its own Population::shortcut (nullopt: the same).
  double test_prevalence_factor = 1.0;
  std::optional<double> test_shortcut = std::nullopt;
  LabelTable labels = LabelTable::Nih;
  /// Threads; 0: as many as OpenMP gives. Results do not depend on it.
  int threads = 0;
  /// Format of images and marks on their films.
  FilmOptions film;
  /// zlib level of the PNG files, 1 to 9; NIH's own were written at 6.
  int png_level = 6;
  /// Writes an exact mask of each finding of each image (synth/mask.h) into masks/<Finding>/.
  bool has_masks = false;
  /// Findings whose images are also written without them: pairs/<Finding>/<image> and pairs.csv.
  PerFinding<bool> pairs{};
};

enum class Split : std::uint8_t { TrainVal, Test };

/// Population of one part of the data set.
[[nodiscard]] Population population_of(const SynthOptions& options, Split split);

/// One finding in the data set.
struct FindingReport {
  std::string name;
  /// Images labelled positive.
  std::int64_t train_val_positives = 0;
  std::int64_t test_positives = 0;
  /// AUROC of the true severity against the noisy labels of the test set: no classifier of these labels is expected to
  /// do better. Nothing when the test set lacks a class.
  std::optional<double> ceiling;
};

/// Counts of what was written.
struct SynthReport {
  std::int64_t images = 0;
  std::int64_t patients = 0;
  std::int64_t test_images = 0;
  std::int64_t boxes = 0;
  /// Findings in canonical order.
  std::vector<FindingReport> findings;
  /// Mean of the ceilings that exist.
  std::optional<double> mean_ceiling;
  double seconds = 0.0;
};

/// AUROC of scores against labels (1 positive, 0 negative); nullopt when a class is absent. eval::auroc has this
/// signature.
using Auroc = std::function<std::optional<double>(std::span<const float> scores, std::span<const std::uint8_t> labels)>;

/// Called after every few images, and at the end; calls come from worker threads, one at a time.
using SynthProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Writes images/, Data_Entry_2017_v2020.csv, train_val_list.txt, test_list.txt, BBox_List_2017.csv, truth.csv and
/// synth.json into options.out, and the other requested files. Removes all of them on an error. Throws ConfigError on
/// invalid options, DataError when the folder is not empty or cannot be written.
SynthReport write_dataset(const SynthOptions& options, const Auroc& auroc, const SynthProgress& progress = {});

}  // namespace roentgen::synth
