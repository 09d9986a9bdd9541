// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Groups of command-line options that several benchmark cases share. A case has a group as a member and selects its
// options by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/case.h"
#include "bench/input.h"
#include "bench/network.h"
#include "core/option.h"

namespace roentgen::bench {

/// Upper limit for numeric options that have no natural limit.
inline constexpr double kMany = 1e6;

/// List of option names, such as {"--batch", "--image"}.
using Names = std::initializer_list<std::string_view>;

/// Splits a text such as "a,b" at commas; returns an empty list for an empty text.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);
/// Name of a unit and its size in the base unit.
struct Unit {
  std::string_view name;
  double factor;
};
/// Parses text such as "1.5Gbit" and converts it to the base unit. Nullopt unless the text is a positive number and one
/// of `units`, with at most one space between them.
[[nodiscard]] std::optional<double> quantity_in(std::string_view text, std::span<const Unit> units);
/// Parses batch sizes such as "1,4,16". Throws ConfigError unless all are numbers from 1 to 65536.
[[nodiscard]] std::vector<std::int64_t> parse_batches(std::string_view text);

/// Returns the option --rounds.
[[nodiscard]] Option rounds_option(std::int64_t& rounds);
/// Returns the option --slow; 0 means the default factor of the case.
[[nodiscard]] Option slow_option(double& factor);

/// Options for sizes and repetitions: --batch, --image, --channels, --warmup, --steps.
struct SizeArguments {
  /// Batch size, or several separated by commas; empty: the case's default.
  std::string batch{};
  std::int64_t image_px = 224;
  /// Number of channels; 0: the case's default.
  std::int64_t channels = 0;
  std::int64_t warmup = 3;
  std::int64_t steps = 10;

  /// Returns the options of this group that have these names. They set the fields of this object.
  [[nodiscard]] std::vector<Option> options(Names names);
  /// Returns the batch size, or `usual` if none was given. Throws ConfigError if several were given.
  [[nodiscard]] std::int64_t batch_or(std::int64_t usual) const;
  /// Returns a copy without a batch size, for cases that accept several batch sizes.
  [[nodiscard]] SizeArguments without_batch() const;
  [[nodiscard]] std::int64_t channels_or(std::int64_t usual) const { return channels > 0 ? channels : usual; }
};

/// Options for a network: --model, --labels, --device, --allow-shared-gpu, --fuse, --algorithms, --dtype, --recompute,
/// --profile, --models, --threads, --oversubscribe.
struct NetworkArguments {
  /// Values that the command-line options set.
  NetworkOptions network{.device = "auto"};
  /// Model names separated by commas; empty: the case's default.
  std::string models{};
  std::int64_t threads = 0;
  bool may_oversubscribe = false;

  [[nodiscard]] std::vector<Option> options(Names names);
  /// Returns the options for training a network: all except --allow-shared-gpu, --profile and --models.
  [[nodiscard]] std::vector<Option> training_options();
  /// Returns the network options with the sizes of `sizes`; without --channels, there are `usual_channels` channels.
  /// Threads are as given, and no graph is set. Throws ConfigError for several batch sizes.
  [[nodiscard]] NetworkOptions sized(const SizeArguments& sizes, std::int64_t usual_channels = 3) const;
  /// Returns sized() with the number of threads from threads_of().
  [[nodiscard]] NetworkOptions checked(const SizeArguments& sizes) const;
};

/// Returns the speed of an emulated --device "emulated:RATE" in images per second, and resets the device to its
/// default. Returns 0 for a real device.
[[nodiscard]] double take_emulated_device(NetworkOptions& network);

/// Options for images from files: --data, --pipeline, --recipe, --workers, --input-cores, --cache-dir, --memory-budget,
/// --cold, --readers, --cell-seconds, --emulate-storage, --slot-dtype, --device.
struct InputArguments {
  /// Values that the command-line options set.
  InputOptions input{};
  std::vector<std::string> data{};
  std::string pipeline = "default";
  std::filesystem::path recipe{};
  std::int64_t workers = 0;
  std::int64_t readers = InputOptions{}.most_readers;
  std::string cores{};
  std::string storage{};
  std::string slot_dtype = "f32";
  std::string device = "cpu";

  [[nodiscard]] std::vector<Option> options(Names names);
  /// Returns the input options; without --batch, the batch size is `usual_batch`. Throws ConfigError if a text cannot
  /// be parsed, --image is given with --recipe, or --cache-dir lies in --data.
  [[nodiscard]] InputOptions checked(const SizeArguments& sizes, std::int64_t usual_batch = 64) const;
  /// Returns the images of --data. Throws ConfigError if there are none.
  [[nodiscard]] data::Dataset dataset(const Host& host) const;
};

/// Options for several processes: --ranks, --ranks-per-node, --hosts, --per-host, --no-overlap, --bucket-mb, --reduce,
/// --wire.
struct RankArguments {
  /// Number of ranks, or several numbers separated by commas.
  std::string ranks = "1";
  /// Numbers of ranks that divide the cores of a node, separated by commas; empty: `ranks` counts.
  std::string per_node{};
  /// Hosts with their slots, such as "a:2,b:2"; empty: this host.
  std::string hosts{};
  /// Number of ranks per host; 0: the case's default.
  std::int64_t per_host = 0;
  /// True if gradients are averaged only after backward (--no-overlap).
  bool is_late = false;
  double bucket_mb = 4.0;
  /// Names of reduce algorithms; empty: the case's default.
  std::string reduce{};
  std::string wire{};

  [[nodiscard]] std::vector<Option> options(Names names);
  /// Returns the numbers in `ranks`. Throws ConfigError unless all are from 1 to 65536.
  [[nodiscard]] std::vector<std::int64_t> counts() const;
  /// Returns the numbers in `per_node`. Throws like counts().
  [[nodiscard]] std::vector<std::int64_t> counts_per_node() const;
  /// Returns the single number in `ranks`. Throws ConfigError if there are several.
  [[nodiscard]] std::int64_t count() const;
  /// Returns a request for ranks that average gradients by `reduce` and `wire`; its defaults where these are empty.
  [[nodiscard]] RankRequest request(bool may_oversubscribe) const;
};

}  // namespace roentgen::bench
