// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/synth.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "io/file.h"
#include "io/json.h"
#include "io/png_writer.h"
#include "runtime/cores.h"
#include "synth/film_file.h"
#include "synth/layout.h"
#include "synth/mask.h"
#include "synth/report.h"

namespace roentgen::synth {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kMostImages = 10'000'000;
constexpr std::int64_t kLeastSize = 16, kMostSize = 4096;
constexpr int kMostThreads = 1024;
constexpr std::int64_t kProgressEvery = 64;
constexpr std::string_view kImages = "images";
// Folder for masks in a data set: kMaskFolder/<Finding>/<image>.png.
constexpr std::string_view kMaskFolder = "masks";
constexpr std::string_view kTables[] = {"Data_Entry_2017_v2020.csv",
                                        "labels.csv",
                                        "train_val_list.txt",
                                        "test_list.txt",
                                        "BBox_List_2017.csv",
                                        "truth.csv",
                                        "pairs.csv",
                                        "film.csv",
                                        "synth.json"};

[[noreturn]] void refuse(std::string_view what, std::string_view expected, const std::string& got,
                         std::string_view remedy = "roentgen synth --help") {
  throw ConfigError(error_text("synth.options", what, expected, got, remedy));
}

// Throws ConfigError if a setting in `population` is out of range.
void validate(const Population& population) {
  if (!(population.label_noise >= 0.0 && population.label_noise <= 0.4)) {
    refuse("label noise", "0 to 0.4", fmt::format("{}", population.label_noise));
  }
  if (!(population.prevalence_low > 0.0 && population.prevalence_low <= population.prevalence_high &&
        population.prevalence_high <= 0.5)) {
    refuse("prevalences", "0 < low <= high <= 0.5",
           fmt::format("{} to {}", population.prevalence_low, population.prevalence_high));
  }
  const double most = std::ranges::max(prevalences(population));
  if (!(population.prevalence_factor > 0.0 && most <= 0.5)) {
    refuse("test prevalence factor", "a number above 0 that gives no finding a prevalence above 0.5",
           fmt::format("{}", population.prevalence_factor));
  }
  if (presence(most, population.label_noise) >= 1.0) {
    refuse("prevalences", "a prevalence that is possible with this label noise", fmt::format("{}", most),
           "a lower prevalence or less label noise");
  }
  for (const auto& [what, share] : {std::pair("uncertain", population.uncertain), std::pair("blank", population.blank),
                                    std::pair("ap", population.ap_share)}) {
    if (!(share >= 0.0 && share <= 1.0)) refuse(what, "a share from 0 to 1", fmt::format("{}", share));
  }
  if (population.shortcut && !(*population.shortcut >= -1.0 && *population.shortcut <= 1.0)) {
    refuse("shortcut", "-1 to 1", fmt::format("{}", *population.shortcut));
  }
}

void validate(const SynthOptions& options) {
  if (options.out.empty()) refuse("folder", "a path", "nothing");
  if (options.images < 1 || options.images > kMostImages) {
    refuse("images", fmt::format("1 to {}", kMostImages), fmt::format("{}", options.images));
  }
  if (options.size_px < kLeastSize || options.size_px > kMostSize) {
    refuse("size", fmt::format("{} to {} px", kLeastSize, kMostSize), fmt::format("{}", options.size_px));
  }
  if (options.threads < 0 || options.threads > kMostThreads) {
    refuse("threads", fmt::format("0 (all) to {}", kMostThreads), fmt::format("{}", options.threads));
  }
  if (options.png_level < 1 || options.png_level > 9) {
    refuse("png level", "1 to 9", fmt::format("{}", options.png_level));
  }
  validate(options.film);
  validate(population_of(options, Split::TrainVal));
  validate(population_of(options, Split::Test));
  if (options.test_shortcut && !options.population.shortcut) {
    refuse("test shortcut", "also --shortcut, for the training images", "no --shortcut", "--shortcut RHO as well");
  }
  const Population& population = options.population;
  if (options.labels == LabelTable::Nih && (population.uncertain > 0.0 || population.blank > 0.0)) {
    refuse("uncertain and blank labels", "a label table that supports them", "NIH's table", "--labels csv");
  }
  if (population.prevalence == Prevalence::Nih && (population.prevalence_low != Population{}.prevalence_low ||
                                                   population.prevalence_high != Population{}.prevalence_high)) {
    refuse("prevalence", "nih, or a range", "both", "leaving out --prevalence-low and --prevalence-high");
  }
}

// Removes all output files when it goes out of scope, unless keep() was called.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& folder) : folder_(folder) {
    std::error_code error;
    if (fs::exists(folder) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
      throw DataError(error_text("synth.out", folder.string(), "a new or empty folder", "a folder that is not empty",
                                 "another folder, or deleting this one"));
    }
    existed_ = fs::exists(folder, error);
    if (!fs::create_directories(folder / kImages, error)) {
      throw DataError(
          error_text("synth.out", folder.string(), "a folder that can be written", error.message(), "another folder"));
    }
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (is_kept_) return;
    std::error_code ignored;
    fs::remove_all(folder_ / kImages, ignored);
    fs::remove_all(folder_ / kMaskFolder, ignored);
    fs::remove_all(folder_ / kPairFolder, ignored);
    for (const std::string_view name : kTables) fs::remove(folder_ / name, ignored);
    if (!existed_) fs::remove(folder_, ignored);
  }
  void keep() { is_kept_ = true; }

 private:
  fs::path folder_;
  bool existed_ = false;
  bool is_kept_ = false;
};

// Creates the folders kMaskFolder and kPairFolder if the options request masks or pairs, each with a subfolder per
// finding.
void make_truth_folders(const SynthOptions& options) {
  const auto make = [&](const fs::path& folder) {
    std::error_code error;
    fs::create_directories(options.out / folder, error);
    if (!error) return;
    throw DataError(error_text("synth.out", (options.out / folder).string(), "a folder that can be written",
                               error.message(), "another folder"));
  };
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    if (options.has_masks) make(fs::path(kMaskFolder) / kFindingNames[i]);
    if (options.pairs[i]) make(fs::path(kPairFolder) / kFindingNames[i]);
  }
}

void write_image(const fs::path& path, const Study& study, const SynthOptions& options) {
  write_set_file(path, encode_film(study, options.film, options.png_level));
}

/// Counts finished images and reports progress. Thread-safe.
class Counter {
 public:
  Counter(const SynthProgress& tell, std::int64_t total) : tell_(tell), total_(total) {}
  void count() {
    const MutexLock lock(mutex_);
    ++done_;
    if (tell_ && (done_ % kProgressEvery == 0 || done_ == total_)) tell_(done_, total_);
  }

 private:
  const SynthProgress& tell_;
  const std::int64_t total_;
  Mutex mutex_;
  std::int64_t done_ RG_GUARDED_BY(mutex_) = 0;
};

// Writes the masks of an image as 8-bit gray PNG files of its size, 255 inside and 0 outside. Writes one mask for each
// finding that is present, also if its label is negative. Thread-safe.
void write_masks(const fs::path& out, const Entry& entry) {
  constexpr int kPngLevel = 6;  // masks have only two values, so their files are small at any level
  const fs::path name = fs::path(image_name(entry.key)).replace_extension(".png");
  PerFinding<Mask> masks = masks_of(entry.key, entry.study.size_px, entry.study.scene);
  const Study& study = entry.study;
  const double field_mm = study.pixel_mm * static_cast<double>(study.size_px);
  const PixelRect open = open_pixels(study.marks, study.size_px, field_mm);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i].empty()) continue;
    close(masks[i], open, study.size_px);
    const io::PngImage png{
        .width_px = study.size_px, .height_px = study.size_px, .pixels = std::as_bytes(std::span(masks[i]))};
    write_set_file(out / kMaskFolder / kFindingNames[i] / name, io::encode_png(png, kPngLevel));
  }
}

// Renders the image again, once without each present finding that options.pairs selects.
void write_pairs(const SynthOptions& options, const Entry& entry) {
  for (std::size_t i = 0; i < options.pairs.size(); ++i) {
    if (!options.pairs[i] || entry.study.scene.severity[i] <= 0.0) continue;
    const Study without =
        render_without(entry.key, options.size_px, entry.study.scene, static_cast<Finding>(i), options.film);
    write_image(options.out / kPairFolder / kFindingNames[i] / image_name(entry.key, entry.form), without, options);
  }
}

void render_all(const SynthOptions& options, std::vector<Entry>& entries, const SynthProgress& progress) {
  const auto total = static_cast<std::int64_t>(entries.size());
  Counter counter(progress, total);
  std::atomic<bool> failed = false;
  std::exception_ptr cause;
  // Limits the threads, because OMP_NUM_THREADS may ask for more than a machine can start.
  const int most = runtime::available_hardware_threads();
  const int threads = options.threads > 0 ? options.threads : std::min(omp_get_max_threads(), most);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
  for (std::int64_t i = 0; i < total; ++i) {
    if (failed) continue;
    try {
      Entry& entry = entries[static_cast<std::size_t>(i)];
      entry.study = render_study(entry.key, options.size_px, population_of(options, entry.split), options.film);
      write_image(options.out / kImages / image_name(entry.key, entry.form), entry.study, options);
      if (options.has_masks) write_masks(options.out, entry);
      write_pairs(options, entry);
      entry.study.pixels = {};
      entry.study.gray = {};
      counter.count();
    } catch (...) {
      if (!failed.exchange(true)) cause = std::current_exception();
    }
  }
  if (cause) std::rethrow_exception(cause);
}

Value shortcut_value(const std::optional<double>& shortcut) { return shortcut ? Value(*shortcut) : Value(nullptr); }

Value describe(const SynthOptions& options) {
  Value pairs = Value::array();
  for (std::size_t i = 0; i < options.pairs.size(); ++i) {
    if (options.pairs[i]) pairs.push_back(std::string(kFindingNames[i]));
  }
  return Value::Table{{"images", options.images},
                      {"size_px", options.size_px},
                      {"seed", static_cast<std::int64_t>(options.seed)},
                      {"prevalence_low", options.population.prevalence_low},
                      {"prevalence_high", options.population.prevalence_high},
                      {"prevalence", options.population.prevalence == Prevalence::Nih ? "nih" : "range"},
                      {"test_prevalence_factor", options.test_prevalence_factor},
                      {"label_noise", options.population.label_noise},
                      {"labels", options.labels == LabelTable::Csv ? "csv" : "nih"},
                      {"uncertain", options.population.uncertain},
                      {"blank", options.population.blank},
                      {"ap", options.population.ap_share},
                      {"shortcut", shortcut_value(options.population.shortcut)},
                      {"test_shortcut", shortcut_value(population_of(options, Split::Test).shortcut)},
                      {"form", std::string(name_of(options.film.form))},
                      {"quality", options.film.jpeg_quality},
                      {"png_level", options.png_level},
                      {"markers", options.film.markers},
                      {"inverted", options.film.inverted},
                      {"collimated", options.film.collimated},
                      {"masks", options.has_masks},
                      {"pairs", std::move(pairs)}};
}

// Writes the tables, and synth.json last: it marks the data set as complete.
void write_tables(const SynthOptions& options, std::span<const Entry> entries) {
  const auto write = [&](std::string_view name, const std::string& text) {
    io::write_file_atomically(options.out / name, text);
  };
  if (std::ranges::find(options.pairs, true) != options.pairs.end()) {
    write("pairs.csv", pairs_csv(entries, options.pairs, kImages));
  }
  if (has_marks(options.film)) write("film.csv", film_csv(entries));
  write("truth.csv", truth_csv(entries, options.population.shortcut ? TubeColumn::Present : TubeColumn::Absent));
  write("BBox_List_2017.csv", box_csv(entries));
  write("test_list.txt", name_list(entries, Split::Test));
  write("train_val_list.txt", name_list(entries, Split::TrainVal));
  if (options.labels == LabelTable::Csv) {
    write("labels.csv", labels_csv(entries, kImages));
  } else {
    write("Data_Entry_2017_v2020.csv", data_entry_csv(entries));
  }
  write("synth.json", io::to_json(describe(options)) + "\n");
}
}  // namespace

Population population_of(const SynthOptions& options, Split split) {
  Population population = options.population;
  if (split == Split::TrainVal) return population;
  population.prevalence_factor *= options.test_prevalence_factor;
  if (options.test_shortcut) population.shortcut = options.test_shortcut;
  return population;
}

SynthReport write_dataset(const SynthOptions& options, const Auroc& auroc, const SynthProgress& progress) {
  validate(options);
  const auto start = std::chrono::steady_clock::now();
  Unfinished unfinished(options.out);
  make_truth_folders(options);
  std::vector<Entry> entries = list_studies(options.seed, options.images);
  for (Entry& entry : entries) entry.form = options.film.form;
  render_all(options, entries, progress);
  write_tables(options, entries);
  SynthReport report = summarise(entries, auroc);
  unfinished.keep();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace roentgen::synth
