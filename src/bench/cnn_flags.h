// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Flags of tf_cnn_benchmarks, and their meaning in Roentgen. The case `cnn` runs them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/network.h"
#include "bench/scaling_point.h"
#include "core/option.h"
#include "core/value.h"
#include "data/transform/augment.h"

namespace roentgen::bench {

/// Values of the flags. Texts are empty and numbers 0 if a flag was not given, unless a default stands here.
struct CnnFlags {
  std::string device = "gpu";
  std::string model = "resnet50";
  std::string optimizer = "sgd";
  std::string variable_update{};
  std::string all_reduce_spec{};
  std::string horovod_device{};
  std::string local_parameter_device{};
  std::vector<std::string> data_dir{};
  std::string data_name = "imagenet";
  std::string data_format{};
  std::string distortions{};
  std::string use_fp16{};
  std::string xla{};
  std::string xla_compile{};
  std::int64_t batch_size = 64;
  std::int64_t num_gpus = 1;
  std::int64_t num_batches = 0;
  std::int64_t num_epochs = 0;
  std::int64_t num_warmup_batches = 10;
  std::int64_t display_every = 10;
  std::int64_t datasets_num_private_threads = 0;
  std::int64_t num_intra_threads = 0;
  double momentum = 0.9;
  double weight_decay = 4e-5;
  double init_learning_rate = 1e-4;
  /// Flags without effect, or with only one allowed value, by name; see cnn_flags.cpp.
  std::map<std::string, std::string> others{};

  /// Returns the options, which set the fields of this object.
  [[nodiscard]] std::vector<Option> options();
};

/// Facts about the start of the program on which the flags depend.
struct CnnMachine {
  std::int64_t cuda_devices = 0;
  /// Number of processes that mpirun or srun started.
  std::int64_t processes = 1;
};

/// Settings of Roentgen for a set of flags.
struct CnnPlan {
  /// Model, sizes and device; batch of one device. `steps` is 0 if num_epochs sets it.
  NetworkOptions network;
  BenchOptimizer optimizer;
  /// Number of devices of one process; above 1: the program starts a process for each.
  std::int64_t devices = 1;
  std::string reduce = "auto";
  std::string data_dir{};
  std::int64_t epochs = 0;
  int workers = 0;
  bool has_distortions = false;
  std::int64_t display_every = 10;
  /// One line for every given flag that has another meaning here or no effect.
  std::vector<std::string> notes{};
};

/// Translates the flags. Throws ConfigError for values that Roentgen lacks or that contradict each other.
[[nodiscard]] CnnPlan plan_of(const CnnFlags& flags, const CnnMachine& machine);

/// Augmentation for --distortions: random crops of at least 8% of the picture, and mirror images.
[[nodiscard]] data::Augment distortions();

/// Prints a run in the form of tf_cnn_benchmarks. Not thread-safe.
class CnnOutput {
 public:
  /// @param images number of images of a step, over all devices
  CnnOutput(double images, std::int64_t display_every) : images_(images), display_every_(display_every) {}

  /// Adds a measured step. Returns its line, after the heading for the first step; empty for a step that is not shown.
  /// Shown are the first step and every multiple of display_every.
  [[nodiscard]] std::string add(double step_s, double loss);
  /// Returns the lines at the end: the total speed between two lines of dashes.
  /// @param images_per_s number of all images by the time from the first step to the last
  [[nodiscard]] static std::string end(double images_per_s);

 private:
  double images_;
  std::int64_t display_every_;
  std::vector<double> step_s_{};
};

/// Returns all lines of a finished run.
/// @param result result of the case `cnn`
[[nodiscard]] std::string cnn_lines(const Value& result, std::int64_t display_every);

}  // namespace roentgen::bench
