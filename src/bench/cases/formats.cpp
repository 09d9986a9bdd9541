// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/record_folder.h"
#include "bench/rounds.h"
#include "bench/work_folder.h"
#include "core/error.h"
#include "core/log.h"
#include "data/codec/codec.h"
#include "data/convert/record_form.h"
#include "data/source/dataset.h"
#include "data/stage/sample_reader.h"
#include "io/place.h"

namespace roentgen::bench {
namespace {

// Longest time until the pipeline has settled, in times of a measurement.
constexpr double kSettling = 5.0;

enum Temperature : std::size_t { kWarm, kCold, kTemperatures };

// Measurement of one format in one round.
struct Speed {
  double images_per_s = 0.0;
  std::string checksum;
  bool has_settled = true;
};
using Rounds = std::vector<Speed>;

double rate_of(const Speed& speed) { return speed.images_per_s; }

double rate(const Rounds& rounds) { return median_of(rounds, rate_of); }

Value samples_of_rounds(const Rounds& rounds) {
  Value::Array speeds;
  for (const Speed& speed : rounds) speeds.emplace_back(speed.images_per_s);
  return speeds;
}

double bytes_per_image(const RecordFolder& records) {
  return static_cast<double>(records.bytes()) / static_cast<double>(records.dataset().samples.size());
}

double bytes_per_image(const data::Dataset& dataset) {
  double bytes = 0.0;
  for (const data::Sample& sample : dataset.samples)
    bytes += static_cast<double>(std::filesystem::file_size(sample.path));
  return bytes / static_cast<double>(dataset.samples.size());
}

// True if all files are PNG. Records that store the pixels of JPEG or DICOM files may give other batches than the
// files. JPEG files may be decoded at reduced size or straight to gray, and DICOM files may lose gray levels.
bool are_all_png(const data::Dataset& dataset) {
  data::SampleReader reader;
  return std::ranges::all_of(dataset.samples, [&](const data::Sample& sample) {
    if (sample.stored && sample.stored->raw) return false;
    const auto bytes = reader.read(sample).or_throw<DataError>();
    const auto image = reader.unpack(sample, bytes).or_throw<DataError>();
    return data::read_info(image, sample.id).or_throw<DataError>().format == "png";
  });
}

// The image files and the record files converted from them, as formats to measure.
class Forms {
 public:
  Forms(const data::Dataset& files, const FormatsOptions& options)
      : files_(files), options_(options), work_(options.work) {
    const auto images = std::ssize(files.samples);
    std::vector<RecordCase> all = record_cases(options.stored_px, files);
    for (RecordCase& each : all) {
      log::info(fmt::format("formats: converting to {} ({} of {})", each.name, records_.size() + 1, all.size()));
      if (each.has_shards) each.options.shards = record_files_for(images);
      each.options.workers = workers_of(options.input);
      if (options.input.preprocess && each.options.encoding != data::Encoding::Keep) {
        each.options.intensity = data::parse_intensity(options.input.preprocess->intensity);
      }
      each.options.folder = work_.path() / fmt::to_string(records_.size());
      records_.push_back(std::make_unique<RecordFolder>(files, each.options));
      cases_.push_back(std::move(each));
    }
  }

  [[nodiscard]] std::size_t count() const { return cases_.size() + 1; }

  [[nodiscard]] Speed measure(std::size_t form, std::size_t temperature) const {
    const data::Dataset& dataset = form == 0 ? files_ : records_[form - 1]->dataset();
    InputOptions input = options_.input;
    input.is_cold = temperature == kCold;
    if (!input.is_cold) read_once(dataset);
    const std::unique_ptr<Consumer> nothing = make_emulated_device(0.0, batch_size(input));
    Input running(dataset, input, nothing->slots(dataset.label_names.size()));
    const Course course = take_batches(running, *nothing,
                                       {.warmup = input.warmup,
                                        .settle_s = kSettling * options_.input.most_s,
                                        .steps = input.steps,
                                        .most_s = options_.input.most_s});
    return {.images_per_s = course.images_per_s(), .checksum = course.checksum, .has_settled = course.has_settled};
  }

  /// @param speeds by format and by cold or warm reads
  [[nodiscard]] Value row(std::size_t form, const std::vector<Rounds>& speeds) const {
    const Rounds& warm = speeds[form * kTemperatures + kWarm];
    const Rounds& cold = speeds[form * kTemperatures + kCold];
    Value row = Value::table();
    row.set("form", form == 0 ? "files" : cases_[form - 1].name);
    row.set("size", is_resized(form) ? fmt::format("{} px", options_.stored_px) : "original");
    row.set("warm_images_per_s", rate(warm));
    row.set("cold_images_per_s", rate(cold));
    for (const char* of_files : {"warm_of_files", "cold_of_files"}) row.set(of_files, 1.0);  // add_gains() sets others
    row.set("bytes_per_image", form == 0 ? bytes_per_image(files_) : bytes_per_image(*records_[form - 1]));
    row.set("convert_s", form == 0 ? Value() : Value(records_[form - 1]->seconds()));
    for (const char* none : {"warm_break_even_epochs", "cold_break_even_epochs"}) row.set(none, {});
    row.set("same_batches", true);
    row.set("samples", Value::Table{{"warm_images_per_s", samples_of_rounds(warm)},
                                    {"cold_images_per_s", samples_of_rounds(cold)}});
    if (form == 0) return row;
    const bool is_same = warm.front().checksum == speeds[kWarm].front().checksum;
    if (!is_same && keeps_pixels(form)) {
      throw DataError(error_text("bench.formats", cases_[form - 1].name, "the same batches as from the image files",
                                 "different batches", "reporting this bug"));
    }
    row.set("same_batches", is_same);
    return row;
  }

 private:
  // True for formats whose batches must equal the batches of the image files.
  [[nodiscard]] bool keeps_pixels(std::size_t form) const {
    const data::Encoding encoding = cases_[form - 1].options.encoding;
    if (is_resized(form) || encoding == data::Encoding::Jpeg) return false;
    return encoding == data::Encoding::Keep || are_all_png(files_);
  }

  [[nodiscard]] bool is_resized(std::size_t form) const { return form > 0 && cases_[form - 1].options.size_px > 0; }

  const data::Dataset& files_;
  const FormatsOptions& options_;
  WorkFolder work_;
  std::vector<RecordCase> cases_;
  std::vector<std::unique_ptr<RecordFolder>> records_;
};

}  // namespace

std::vector<RecordCase> record_cases(std::int64_t stored_px, const data::Dataset& dataset) {
  std::vector<RecordCase> cases;
  std::vector<data::RecordForm> forms = data::record_forms();
  std::erase_if(forms, [&](const data::RecordForm& form) { return data::misfit(dataset, form).has_value(); });
  for (const std::int64_t size_px : {std::int64_t{0}, stored_px}) {
    for (const data::RecordForm& form : forms) {
      for (const std::string_view encoding : data::encoding_names()) {
        RecordCase one{.name = fmt::format("{} {}", form.name, encoding)};
        data::parse_encoding(encoding, one.options);
        one.options.form = form.name;
        one.options.size_px = size_px;
        if (size_px > 0 && one.options.encoding == data::Encoding::Keep) continue;
        if (!form.has_raw && one.options.encoding == data::Encoding::Raw) continue;
        // Skips folders of unchanged or non-PNG files, because the original files are measured as the baseline.
        if (form.is_folder && (size_px == 0 || one.options.encoding != data::Encoding::Png)) continue;
        if (form.is_folder) one.name = fmt::format("{} files", form.name);
        one.has_shards = !form.is_folder && form.file_of_split.empty();
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

Value run_formats(const data::Dataset& dataset, const FormatsOptions& options) {
  require_at_least("warmup", options.input.warmup, 0);
  require_at_least("steps", options.input.steps, 1);
  require_at_least("rounds", options.rounds, 1);
  require_at_least("resize", options.stored_px, 1);
  require_at_least("trainings", options.use.trainings, 1);
  require_at_least("changes", options.use.changes, 0);
  require_at_least("epochs", options.use.epochs, 1);
  const Forms forms(dataset, options);
  std::vector<Rounds> speeds = interleave(forms.count() * kTemperatures, options.rounds, [&](std::size_t arm) {
    return forms.measure(arm / kTemperatures, arm % kTemperatures);
  });
  Value rows = Value::array();
  for (std::size_t form = 0; form < forms.count(); ++form) rows.push_back(forms.row(form, speeds));
  add_gains(std::ssize(dataset.samples), rows);

  Value result = Value::table();
  result.set("case", "formats");
  result.set("pipeline", options.input.pipeline.text());
  add_settings(result, dataset, options.input);
  std::erase_if(result.as_table(), [](const auto& entry) { return entry.first == "cold"; });
  result.set("warmup", options.input.warmup);
  result.set("rounds", options.rounds);
  result.set("cell_s", options.input.most_s);
  result.set("stored_px", options.stored_px);
  result.set("emulated", options.input.storage.has_value());
  // In a table of its own, so that the ledger compares results of different plans.
  result.set("use", Value::Table{{"trainings", options.use.trainings},
                                 {"changes", options.use.changes},
                                 {"epochs", options.use.epochs}});
  result.set("advice", convert_advice(std::ssize(dataset.samples), rows, options.use));
  result.set("formats", std::move(rows));
  std::int64_t unsettled = 0;
  for (const Rounds& rounds : speeds) unsettled += std::ranges::count(rounds, false, &Speed::has_settled);
  warn_of_settling(result, unsettled);
  add_environment(result);
  return result;
}

namespace {

class FormatsCase final : public Case {
 public:
  FormatsCase()
      : Case("speed of reading image files, and every record format that convert writes",
             "roentgen bench formats --data images/ --work /tmp --resize 256\n"
             "roentgen bench formats --data images/ --work /tmp --trainings 20 --changes 3 --epochs 50") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined(
        {input_.options({"--data", "--pipeline", "--workers", "--emulate-storage", "--cell-seconds"}),
         sizes_.options({"--batch", "--image", "--channels", "--warmup"}),

         {rounds_option(options_.rounds),
          {.name = "--work", .target = &options_.work, .doc = "folder for temporary record files", .value_name = "DIR"},
          {.name = "--resize",
           .target = &options_.stored_px,
           .doc = "side of the resized images, px",
           .range = {1, 16384}},
          {.name = "--trainings",
           .target = &options_.use.trainings,
           .doc = "planned trainings; changes of the data in that time",
           .range = {1, kMany}},
          {.name = "--changes",
           .target = &options_.use.changes,
           .doc = "planned trainings; changes of the data in that time",
           .range = {0, kMany}},
          {.name = "--epochs", .target = &options_.use.epochs, .doc = "epochs of a training", .range = {1, kMany}}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    const data::Dataset dataset = input_.dataset(host);
    if (options_.work.empty()) {
      throw ConfigError(
          error_text("cli.bench", "--work", "a folder for temporary record files", "no --work", "--work DIR"));
    }
    for (const std::string& data : input_.data) io::refuse_inside_data("--work", options_.work, data);
    options_.input = input_.checked(sizes_);
    constexpr std::int64_t kMostSteps = 100'000;  // large enough that only the time limit ends a measurement
    options_.input.steps = kMostSteps;
    return run_formats(dataset, options_);
  }

 private:
  SizeArguments sizes_;
  InputArguments input_{.input = {.most_s = 1.0}};
  FormatsOptions options_;
};

}  // namespace

std::unique_ptr<Case> make_formats_case() { return std::make_unique<FormatsCase>(); }

}  // namespace roentgen::bench
