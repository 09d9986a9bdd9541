// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `experiment`: whether an order of stages keeps a network or an accelerator busy, from image files and from
// records of the same bytes, from memory, from disk and from slow storage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pipeline.h"
#include "bench/step.h"
#include "core/value.h"

namespace roentgen::bench {

/// What to measure: all combinations of orders (orders.h: preset_orders()), formats, devices and storages.
struct ExperimentOptions {
  /// Batch, image side, channels, workers, warm-up and at most so many steps of every cell. `storage` is the slow
  /// storage of a third of the cells; without it they are left out. Pipeline, device, cold and cores are not used.
  PipelineOptions input;
  /// Networks to train, by their names.
  std::vector<std::string> models{"resnet50", "densenet121"};
  /// Appetites of emulated accelerators, images a second.
  std::vector<double> rates{200.0, 1000.0, 5000.0};
  /// Labels, fuse, algorithms, engine and threads of the networks; its graph, if any, takes their place.
  StepOptions step;
  /// Folder for the record files, which are removed in the end.
  std::filesystem::path work;
  /// Longest time that is measured of a cell in a round; above 0.
  double cell_s = 1.0;
  /// At least 1.
  std::int64_t rounds = 1;
};

/// Measures device after device, the cells of each in interleaved rounds: warm-up (as long as the input can work ahead
/// at least), then steps until cell_s are over. The result, a table:
///   case, the input's settings (without cold, with buffer), rounds, cell_s, record_files
///   devices           [{device, emulated, images_per_s}]: alone, on a batch in memory
///   cells             [{device, storage, format, order, images_per_s, of_device, of_naive, wait_share, bound, steps,
///                     emulated}]: medians over the rounds; of_device and of_naive of the ratios within each round,
///                     of_naive to the naive order with the same device, storage and format
///   pipelines         [{order, stages}]
///   program, cpu, ...
/// Errors as run_pipeline(), make_training_step() and RecordFolder; ConfigError without any device.
[[nodiscard]] Value run_experiment(const data::Dataset& dataset, const ExperimentOptions& options);

/// "200,1000,5000" as rates; ConfigError otherwise. Empty: none.
[[nodiscard]] std::vector<double> parse_rates(std::string_view text);

}  // namespace roentgen::bench
