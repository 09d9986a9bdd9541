// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/synth.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "io/file.h"
#include "io/json.h"
#include "io/png_writer.h"
#include "runtime/cores.h"
#include "synth/layout.h"
#include "synth/report.h"
#include "synth/truth_files.h"

namespace roentgen::synth {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kMostImages = 10'000'000;
constexpr std::int64_t kLeastSize = 16, kMostSize = 4096;
constexpr int kMostThreads = 1024;
constexpr std::int64_t kProgressEvery = 64;
constexpr std::string_view kImages = "images";
constexpr std::string_view kTables[] = {"Data_Entry_2017_v2020.csv", "train_val_list.txt", "test_list.txt",
                                        "BBox_List_2017.csv",        "truth.csv",          "synth.json"};

[[noreturn]] void refuse(std::string_view what, std::string_view expected, const std::string& got,
                         std::string_view remedy = "roentgen synth --help") {
  throw ConfigError(error_text("synth.options", what, expected, got, remedy));
}

void validate(const SynthOptions& options) {
  const Population& population = options.population;
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
  if (!(population.label_noise >= 0.0 && population.label_noise <= 0.4)) {
    refuse("label noise", "0 to 0.4", fmt::format("{}", population.label_noise));
  }
  if (!(population.prevalence_low > 0.0 && population.prevalence_low <= population.prevalence_high &&
        population.prevalence_high <= 0.5)) {
    refuse("prevalences", "0 < low <= high <= 0.5",
           fmt::format("{} to {}", population.prevalence_low, population.prevalence_high));
  }
  if (presence(population.prevalence_high, population.label_noise) >= 1.0) {
    refuse("prevalences", "a share of positive labels that findings in every image would reach",
           fmt::format("{}", population.prevalence_high), "a lower prevalence or less label noise");
  }
}

// Removes what was written when it goes out of scope before keep().
class Unfinished {
 public:
  explicit Unfinished(const fs::path& folder) : folder_(folder) {
    std::error_code error;
    if (fs::exists(folder) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
      throw DataError(error_text("synth.out", folder.string(), "a new or empty folder", "something is there",
                                 "another folder, or remove this one"));
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
    for (const std::string_view name : kTables) fs::remove(folder_ / name, ignored);
    if (!existed_) fs::remove(folder_, ignored);
  }
  void keep() { is_kept_ = true; }

 private:
  fs::path folder_;
  bool existed_ = false;
  bool is_kept_ = false;
};

// Not atomic and not synced, which thousands of small files would pay for: the tables, written last, make the set.
void write_image(const fs::path& path, const Study& study, int level) {
  const auto png = io::encode_png(
      {.width_px = study.size_px, .height_px = study.size_px, .pixels = std::as_bytes(std::span(study.pixels))}, level);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  file.close();
  if (!file) {
    throw DataError(
        error_text("synth.out", path.string(), "a file that can be written", "a write error", "free space"));
  }
}

/// Counts finished images and tells the caller. Thread-safe.
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

void render_all(const SynthOptions& options, std::vector<Entry>& entries, const SynthProgress& progress) {
  const auto total = static_cast<std::int64_t>(entries.size());
  Counter counter(progress, total);
  std::atomic<bool> failed = false;
  std::exception_ptr cause;
  // OMP_NUM_THREADS may ask for more than a machine can start.
  const int most = runtime::available_hardware_threads();
  const int threads = options.threads > 0 ? options.threads : std::min(omp_get_max_threads(), most);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
  for (std::int64_t i = 0; i < total; ++i) {
    if (failed) continue;
    try {
      Entry& entry = entries[static_cast<std::size_t>(i)];
      entry.study = render_study(entry.key, options.size_px, options.population);
      write_image(options.out / kImages / image_name(entry.key), entry.study, options.png_level);
      if (options.has_masks) write_masks(options.out, entry);
      entry.study.pixels = {};
      counter.count();
    } catch (...) {
      if (!failed.exchange(true)) cause = std::current_exception();
    }
  }
  if (cause) std::rethrow_exception(cause);
}

Value describe(const SynthOptions& options) {
  return Value::Table{{"images", options.images},
                      {"size_px", options.size_px},
                      {"seed", static_cast<std::int64_t>(options.seed)},
                      {"prevalence_low", options.population.prevalence_low},
                      {"prevalence_high", options.population.prevalence_high},
                      {"label_noise", options.population.label_noise},
                      {"masks", options.has_masks}};
}

void write_tables(const SynthOptions& options, std::span<const Entry> entries) {
  const std::string texts[] = {
      data_entry_csv(entries), name_list(entries, Split::TrainVal),  name_list(entries, Split::Test), box_csv(entries),
      truth_csv(entries),      io::to_json(describe(options)) + "\n"};
  static_assert(std::size(texts) == std::size(kTables));
  for (std::size_t i = std::size(texts); i-- > 0;) io::write_file_atomically(options.out / kTables[i], texts[i]);
}
}  // namespace

SynthReport write_dataset(const SynthOptions& options, const Auroc& auroc, const SynthProgress& progress) {
  validate(options);
  const auto start = std::chrono::steady_clock::now();
  Unfinished unfinished(options.out);
  if (options.has_masks) make_mask_folders(options.out);
  std::vector<Entry> entries = list_studies(options.seed, options.images);
  render_all(options, entries, progress);
  write_tables(options, entries);
  SynthReport report = summarise(entries, auroc);
  unfinished.keep();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace roentgen::synth
