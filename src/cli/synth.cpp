// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen synth: a synthetic chest X-ray data set, with its ceiling.
#include "synth/synth.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command_list.h"
#include "core/error.h"
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

class SynthCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "synth"; }
  [[nodiscard]] std::string_view summary() const override { return "Draw a synthetic chest X-ray data set."; }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen synth build/quickstart/data --images 8000 --size 80 --seed 1\n"
           "roentgen synth /tmp/phantoms --images 200 --size 1024 --seed 7 --json phantoms.json";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "DIR", .target = &options_.out, .doc = "new or empty folder", .need = Need::Required},
        {.name = "--images", .target = &options_.images, .doc = "how many", .least = 1, .most = 1e7},
        {.name = "--size", .target = &options_.size_px, .doc = "width and height, px", .least = 16, .most = 4096},
        {.name = "--seed", .target = &seed_, .doc = "same seed, same pixels and labels, on every machine", .least = 0},
        {.name = "--prevalence-low",
         .target = &options_.population.prevalence_low,
         .doc = "of the rarest finding",
         .least = 0,
         .most = 0.5},
        {.name = "--prevalence-high",
         .target = &options_.population.prevalence_high,
         .doc = "of the commonest",
         .least = 0,
         .most = 0.5},
        {.name = "--label-noise",
         .target = &options_.population.label_noise,
         .doc = "share of wrong labels",
         .least = 0,
         .most = 0.4},
        {.name = "--masks",
         .target = &options_.has_masks,
         .doc = "masks/<Finding>/<image>.png: the exact pixels of every finding that is there"},
        {.name = "--threads", .target = &threads_, .doc = "0 = all cores; changes no byte", .least = 0, .most = 1e6}};
  }

  [[nodiscard]] Folders folders() const override { return {.data = {}, .made = options_.out}; }
  [[nodiscard]] CommandResult run() override {
    if (const int most = runtime::available_hardware_threads(); threads_ > most) {
      throw ConfigError(error_text("cli.synth", "--threads", fmt::format("at most {}, what the process may use", most),
                                   fmt::to_string(threads_), "fewer, or 0 for all cores"));
    }
    options_.seed = static_cast<std::uint64_t>(seed_);
    options_.threads = static_cast<int>(threads_);
    const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
    const auto progress = [is_terminal](std::int64_t done, std::int64_t total) {
      if (is_terminal) fmt::print(stderr, "\r\x1b[K{}/{} images", done, total);
    };
    const synth::SynthReport report = synth::write_dataset(
        options_,
        [](std::span<const float> scores, std::span<const std::uint8_t> labels) { return eval::auroc(scores, labels); },
        progress);
    if (is_terminal) fmt::print(stderr, "\r\x1b[K");
    fmt::print("{} images of {} patients ({} test images) in {:.1f} s: {}\n", report.images, report.patients,
               report.test_images, report.seconds, options_.out.string());
    fmt::print("{:<20}{:>20}{:>16}{:>10}\n", "finding", "train+val positives", "test positives", "ceiling");
    for (const synth::FindingReport& finding : report.findings) {
      fmt::print("{:<20}{:>20}{:>16}{:>10}\n", finding.name, finding.train_val_positives, finding.test_positives,
                 optional_text(finding.ceiling));
    }
    fmt::print("ceiling: mean test AUROC {} (of the true severity under the drawn label noise)\n",
               optional_text(report.mean_ceiling));
    return {.json = report_value(report)};
  }

 private:
  synth::SynthOptions options_;
  std::int64_t seed_ = 1;
  std::int64_t threads_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_synth_command() { return std::make_unique<SynthCommand>(); }

}  // namespace roentgen::cli
