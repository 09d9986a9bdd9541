// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/pipeline_folders.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "bench/cases/pipeline.h"
#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "data/stage/loader.h"
#include "doctor/probe.h"

namespace roentgen::bench {
namespace {

// Measurement of one folder in one round.
struct Round {
  double images_per_s = 0.0;
  double read_ms = 0.0;
  double decode_ms = 0.0;
  double read_bytes = 0.0;
  std::string checksum;
  bool has_settled = true;
};

[[noreturn]] void refuse(const ImageFolder& folder, std::string_view expected, std::string_view got) {
  throw DataError(error_text("bench.pipeline", folder.name, expected, got, "copies of the same folder"));
}

// Compares the names of all images with those of the first folder.
void require_same_names(const std::vector<ImageFolder>& folders) {
  const auto& first = folders.front().dataset.samples;
  for (const ImageFolder& folder : folders) {
    const auto& samples = folder.dataset.samples;
    if (samples.size() != first.size()) {
      refuse(folder, fmt::format("{} images, as in {}", first.size(), folders.front().name),
             fmt::format("{}", samples.size()));
    }
    if (!std::ranges::equal(samples, first, {}, &data::Sample::id, &data::Sample::id)) {
      refuse(folder, "images of the same names as in " + folders.front().name, "other names");
    }
  }
}

Round measure(const data::Dataset& dataset, const InputOptions& options) {
  if (!options.is_cold) read_once(dataset);
  const PlannedInput plan = plan_input(dataset, options);
  const std::unique_ptr<Consumer> nothing = make_emulated_device(options.device_images_per_s, plan.size);
  Input input(dataset, plan.options, nothing->slots(dataset.label_names.size()));
  const Course course =
      take_batches(input, *nothing, {.warmup = options.warmup, .settle_s = plan.settle_s, .steps = plan.steps});
  const data::LoaderStats stats = input.loader().stats();
  const double loaded = std::max<double>(1.0, static_cast<double>(stats.samples));
  return {.images_per_s = course.images_per_s(),
          .read_ms = 1e3 * stats.read_s / loaded,
          .decode_ms = 1e3 * stats.decode_s / loaded,
          .read_bytes = static_cast<double>(stats.read_bytes) / loaded,
          .checksum = course.checksum,
          .has_settled = plan.settle_s <= 0.0 || course.has_settled};
}

Value file_system_of(const ImageFolder& folder) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder.name, error);
  if (error) return {};
  const auto found = doctor::make_machine_probe(doctor::Effort::Quick)->file_system(path);
  return found ? Value(found->type) : Value();
}

double rate_of(const Round& round) { return round.images_per_s; }

Value row_of(const ImageFolder& folder, const std::vector<Round>& rounds, const std::vector<Round>& first) {
  const auto [low, high] = std::ranges::minmax(rounds, {}, rate_of);
  return Value(Value::Table{{"folder", folder.name},
                            {"file_system", file_system_of(folder)},
                            {"images_per_s", median_of(rounds, rate_of)},
                            {"low", low.images_per_s},
                            {"high", high.images_per_s},
                            {"of_first", median_ratio(rounds, first, rate_of)},
                            {"read_ms", median_of(rounds, [](const Round& round) { return round.read_ms; })},
                            {"decode_ms", median_of(rounds, [](const Round& round) { return round.decode_ms; })},
                            {"read_bytes", rounds.front().read_bytes},
                            {"checksum", rounds.front().checksum}});
}

}  // namespace

Value compare_folders(const std::vector<ImageFolder>& folders, const InputOptions& options, std::int64_t rounds) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("steps", options.steps, 1);
  require_at_least("rounds", rounds, 1);
  require_same_names(folders);
  std::string first_checksum;
  std::int64_t unsettled = 0;
  const auto measured = interleave(folders.size(), rounds, [&](std::size_t i) {
    Round round = measure(folders[i].dataset, options);
    if (i == 0 && first_checksum.empty()) first_checksum = round.checksum;
    if (round.checksum != first_checksum) {
      refuse(folders[i], "the pixels of " + folders.front().name + " in the first batch", "other pixels");
    }
    unsettled += round.has_settled ? 0 : 1;
    return round;
  });
  Value rows = Value::array();
  for (std::size_t i = 0; i < folders.size(); ++i) {
    rows.push_back(row_of(folders[i], measured[i], measured[0]));
  }
  Value result = Value::table();
  result.set("case", "pipeline");
  result.set("pipeline", options.pipeline.text());
  add_settings(result, folders.front().dataset, options);
  result.set("warmup", options.warmup);
  result.set("n", plan_input(folders.front().dataset, options).steps);
  result.set("rounds", rounds);
  result.set("emulated", options.storage.has_value() || options.device_images_per_s > 0.0);
  result.set("folders", std::move(rows));
  warn_of_settling(result, unsettled);
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
