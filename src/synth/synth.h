// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes a synthetic chest X-ray data set in the layout of NIH ChestX-ray14. docs/reference/synthetic.md describes how
// images are drawn, and why. synth/study.h renders single studies.
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

/// File format of the label table.
enum class LabelTable : std::uint8_t {
  Nih,  ///< Data_Entry_2017_v2020.csv: labels joined by '|'; cannot express uncertain or unknown
  Csv,  ///< labels.csv: a column per finding with 1, 0, -1 (uncertain) or nothing
};

/// Settings of a synthetic data set.
struct SynthOptions {
  /// Output folder; must be new or empty.
  std::filesystem::path out;
  /// Number of images, 1 to 10,000,000. There are about two images per patient; a fifth of the patients form the test
  /// set.
  std::int64_t images = 8000;
  /// Width and height of the images in px, 16 to 4096.
  std::int64_t size_px = 80;
  /// Random seed. The same seed, size and population give the same pixels and labels on every machine; more images only
  /// add patients.
  std::uint64_t seed = 1;
  /// Prevalences and label noise.
  Population population;
  /// Differences of the test set: factor by which all prevalences are multiplied, and below another
  /// Population::shortcut (nullopt: the same).
  double test_prevalence_factor = 1.0;
  std::optional<double> test_shortcut = std::nullopt;
  LabelTable labels = LabelTable::Nih;
  /// Number of threads; 0: the default of OpenMP. Results do not depend on it.
  int threads = 0;
  /// Format of images and marks on their films.
  FilmOptions film;
  /// zlib level of the PNG files, 1 to 9; NIH's own files were written with level 6.
  int png_level = 6;
  /// True: writes an exact mask for each finding of each image (synth/mask.h) into masks/<Finding>/.
  bool has_masks = false;
  /// Findings for which a second image without the finding is written: pairs/<Finding>/<image>, listed in pairs.csv.
  PerFinding<bool> pairs{};
};

enum class Split : std::uint8_t { TrainVal, Test };

/// Returns the population of one split of the data set.
[[nodiscard]] Population population_of(const SynthOptions& options, Split split);

/// Statistics of one finding in the data set.
struct FindingReport {
  std::string name;
  /// Number of images labelled positive, by split.
  std::int64_t train_val_positives = 0;
  std::int64_t test_positives = 0;
  /// Best expected AUROC: the AUROC of the true severity for the noisy labels of the test set. No classifier is
  /// expected to exceed it. nullopt if the test set has only positive or only negative labels.
  std::optional<double> ceiling;
};

/// Counts of the written data set.
struct SynthReport {
  std::int64_t images = 0;
  std::int64_t patients = 0;
  std::int64_t test_images = 0;
  std::int64_t boxes = 0;
  /// Statistics of each finding, in the order of the list of findings.
  std::vector<FindingReport> findings;
  /// Mean of `ceiling` over the findings whose `ceiling` is defined; nullopt if there are none.
  std::optional<double> mean_ceiling;
  double seconds = 0.0;
};

/// Function that computes the AUROC of scores against labels (1 positive, 0 negative); nullopt if a class is missing.
/// eval::auroc has this signature.
using Auroc = std::function<std::optional<double>(std::span<const float> scores, std::span<const std::uint8_t> labels)>;

/// Progress callback, called after every few images and at the end. Worker threads call it, one at a time.
using SynthProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Writes images/, Data_Entry_2017_v2020.csv, train_val_list.txt, test_list.txt, BBox_List_2017.csv, truth.csv and
/// synth.json into options.out. Also writes the optional files that are requested. Removes all of them on an error.
/// Throws ConfigError on invalid options, DataError when the folder is not empty or cannot be written.
SynthReport write_dataset(const SynthOptions& options, const Auroc& auroc, const SynthProgress& progress = {});

}  // namespace roentgen::synth
