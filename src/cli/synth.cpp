// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen synth: writes a synthetic chest X-ray data set, and prints the best AUROC that its noisy labels allow.
#include "synth/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/command_list.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "eval/auroc.h"
#include "runtime/cores.h"

namespace roentgen::cli {
namespace {

Value optional_value(const std::optional<double>& number) { return number ? Value(*number) : Value(nullptr); }

std::string optional_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.4f}", *number) : std::string("undefined");
}

Value report_value(const synth::SynthReport& report) {
  Value findings = Value::table();
  for (const synth::FindingReport& finding : report.findings) {
    findings.set(finding.name, Value::Table{{"train_val_positives", finding.train_val_positives},
                                            {"test_positives", finding.test_positives},
                                            {"ceiling", optional_value(finding.ceiling)}});
  }
  return Value::Table{{"images", report.images},
                      {"patients", report.patients},
                      {"test_images", report.test_images},
                      {"boxes", report.boxes},
                      {"mean_ceiling", optional_value(report.mean_ceiling)},
                      {"findings", std::move(findings)},
                      {"seconds", report.seconds}};
}

// Default JPEG quality and PNG compression level.
constexpr std::int64_t kQuality = 92, kPngLevel = 6;

[[noreturn]] void refuse(std::string_view option, std::string_view expected, std::string_view got) {
  throw ConfigError(error_text("cli.synth", option, expected, fmt::format("'{}'", got), "roentgen synth --help"));
}

// Returns the index in `words` of the word that equals `text`. Throws ConfigError if there is none.
std::size_t choose(std::string_view option, std::string_view text, const std::array<std::string_view, 2>& words) {
  if (text == words[0]) return 0;
  if (text == words[1]) return 1;
  refuse(option, fmt::format("{} or {}", words[0], words[1]), text);
}

std::optional<double> optional_number(std::string_view option, std::string_view text) {
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(option, "a number from -1 to 1", text);
  return value;
}

// Parses findings given as "all", "" (none) or names such as "Mass,Edema".
synth::PerFinding<bool> findings_of(std::string_view option, std::string_view text) {
  synth::PerFinding<bool> chosen{};
  if (text == "all") chosen.fill(true);
  if (text == "all" || text.empty()) return chosen;
  for (const std::string_view name : comma_parts(text)) {
    const auto known = std::ranges::find(synth::kFindingNames, name);
    if (known == synth::kFindingNames.end()) {
      refuse(option, fmt::format("all, or some of {}", fmt::join(synth::kFindingNames, ", ")), name);
    }
    chosen[static_cast<std::size_t>(known - synth::kFindingNames.begin())] = true;
  }
  return chosen;
}

class SynthCommand final : public Command {
 public:
  SynthCommand()
      : Command("synth", "Draw a synthetic chest X-ray data set.",
                "roentgen synth build/quickstart/data --images 8000 --size 80 --seed 1\n"
                "roentgen synth /tmp/phantoms --images 200 --size 1024 --seed 7 --json phantoms.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "DIR", .target = &options_.out, .doc = "new or empty folder", .need = Need::Required},
        {.name = "--images", .target = &options_.images, .doc = "number of images", .range = {1, 1e7}},
        {.name = "--size", .target = &options_.size_px, .doc = "width and height of an image, px", .range = {16, 4096}},
        {.name = "--seed",
         .target = &seed_,
         .doc = "random seed; the same seed gives the same files on every machine",
         .range = {.low = 0}},
        {.name = "--prevalence-low",
         .target = &options_.population.prevalence_low,
         .doc = "prevalence of the rarest finding",
         .range = {0, 0.5}},
        {.name = "--prevalence-high",
         .target = &options_.population.prevalence_high,
         .doc = "prevalence of the commonest finding",
         .range = {0, 0.5}},
        {.name = "--label-noise",
         .target = &options_.population.label_noise,
         .doc = "share of labels that are wrong on purpose",
         .range = {0, 0.4}},
        {.name = "--prevalence",
         .target = &prevalence_,
         .doc = "range: from --prevalence-low to -high; nih: ChestX-ray14's 0.2-17.7%",
         .value_name = "range|nih"},
        {.name = "--test-prevalence-factor",
         .target = &options_.test_prevalence_factor,
         .doc = "prevalence in the test set, as a multiple of that in training",
         .range = {0, 100}},
        {.name = "--labels",
         .target = &labels_,
         .doc = "label file: nih (Data_Entry_2017_v2020.csv) or csv (1, 0, -1, blank)",
         .value_name = "nih|csv"},
        {.name = "--uncertain",
         .target = &options_.population.uncertain,
         .doc = "with --labels csv: share of labels marked uncertain (-1)",
         .range = {0, 1}},
        {.name = "--blank",
         .target = &options_.population.blank,
         .doc = "with --labels csv: share of negative labels left empty",
         .range = {0, 1}},
        {.name = "--ap",
         .target = &options_.population.ap_share,
         .doc = "share of images with anteroposterior (AP) view",
         .range = {0, 1}},
        {.name = "--shortcut",
         .target = &shortcut_,
         .doc = "correlation of lines and tubes with edema, -1 to 1 (spurious shortcut)",
         .value_name = "RHO"},
        {.name = "--shortcut-test",
         .target = &test_shortcut_,
         .doc = "correlation with edema in the test set (default: as --shortcut)",
         .value_name = "RHO"},
        {.name = "--pairs",
         .target = &pairs_,
         .doc = "write each image with a finding again without it, to pairs/",
         .value_name = "all|FINDING,FINDING"},
        {.name = "--masks",
         .target = &options_.has_masks,
         .doc = "write masks/<Finding>/<image>.png, the exact pixels of each finding"},
        {.name = "--form",
         .target = &form_,
         .doc = "image format; the gray values differ only by rounding",
         .value_name = "png8|png16|png12|jpeg"},
        {.name = "--quality", .target = &quality_, .doc = "quality of JPEG files, 1 to 100", .range = {1, 100}},
        {.name = "--png-level",
         .target = &png_level_,
         .doc = "zlib compression level of PNG files; lower is faster, same pixels",
         .range = {1, 9}},
        {.name = "--markers",
         .target = &options_.film.markers,
         .doc = "share of images with a lead marker, L or R",
         .range = {0, 1}},
        {.name = "--inverted",
         .target = &options_.film.inverted,
         .doc = "share of images with inverted gray values",
         .range = {0, 1}},
        {.name = "--collimated",
         .target = &options_.film.collimated,
         .doc = "share of images with a black collimator border",
         .range = {0, 1}},
        {.name = "--threads",
         .target = &threads_,
         .doc = "compute threads; 0 = all cores; does not change the files",
         .range = {0, 1e6}}};
  }

  [[nodiscard]] Folders folders() const override { return {.data = {}, .made = options_.out}; }
  [[nodiscard]] CommandResult run() override {
    if (const int most = runtime::available_hardware_threads(); threads_ > most) {
      throw ConfigError(error_text("cli.synth", "--threads",
                                   fmt::format("at most {}, the cores that this process may use", most),
                                   fmt::to_string(threads_), "a smaller number, or 0 for all cores"));
    }
    options_.seed = static_cast<std::uint64_t>(seed_);
    options_.threads = static_cast<int>(threads_);
    options_.film.form = synth::form_of(form_);
    const bool is_jpeg = options_.film.form == synth::Form::Jpeg;
    if (!is_jpeg && quality_ != kQuality) refuse("--quality", "also --form jpeg", form_);
    if (is_jpeg && png_level_ != kPngLevel) refuse("--png-level", "also a PNG format as --form", form_);
    options_.film.jpeg_quality = static_cast<int>(quality_);
    options_.png_level = static_cast<int>(png_level_);
    options_.population.prevalence =
        choose("--prevalence", prevalence_, {"range", "nih"}) == 0 ? synth::Prevalence::Range : synth::Prevalence::Nih;
    options_.labels =
        choose("--labels", labels_, {"nih", "csv"}) == 0 ? synth::LabelTable::Nih : synth::LabelTable::Csv;
    options_.population.shortcut = optional_number("--shortcut", shortcut_);
    options_.test_shortcut = optional_number("--shortcut-test", test_shortcut_);
    options_.pairs = findings_of("--pairs", pairs_);
    const auto progress = [](std::int64_t done, std::int64_t total) {
      if (terminal::has_progress())
        terminal::show_progress(fmt::format("{}/{} {}", done, total, plural(total, "image")));
    };
    const synth::SynthReport report = synth::write_dataset(
        options_,
        [](std::span<const float> scores, std::span<const std::uint8_t> labels) { return eval::auroc(scores, labels); },
        progress);
    terminal::clear_progress();
    terminal::print(fmt::format("{} of {} ({}) in {:.1f} s: {}\n", counted(report.images, "image"),
                                counted(report.patients, "patient"), counted(report.test_images, "test image"),
                                report.seconds, terminal_text(options_.out.string())));
    terminal::print(
        fmt::format("{:<20}{:>20}{:>16}{:>10}\n", "finding", "train+val positives", "test positives", "ceiling"));
    for (const synth::FindingReport& finding : report.findings) {
      terminal::print(fmt::format("{:<20}{:>20}{:>16}{:>10}\n", finding.name, finding.train_val_positives,
                                  finding.test_positives, optional_text(finding.ceiling)));
    }
    terminal::print(fmt::format("ceiling: mean test AUROC {} (of the true severity under the drawn label noise)\n",
                                optional_text(report.mean_ceiling)));
    return {.json = report_value(report)};
  }

 private:
  synth::SynthOptions options_;
  std::int64_t seed_ = 1;
  std::int64_t threads_ = 0;
  std::string form_ = "png8";
  std::int64_t quality_ = kQuality;
  std::int64_t png_level_ = kPngLevel;
  std::string prevalence_ = "range";
  std::string labels_ = "nih";
  std::string shortcut_;
  std::string test_shortcut_;
  std::string pairs_;
};

}  // namespace

std::unique_ptr<Command> make_synth_command() { return std::make_unique<SynthCommand>(); }

}  // namespace roentgen::cli
