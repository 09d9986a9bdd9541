// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options that several cases share, in groups. A case contains the groups it needs and selects their options by name.
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

/// Upper limit of options without a natural one.
inline constexpr double kMany = 1e6;

/// Names of options: {"--batch", "--image"}.
using Names = std::initializer_list<std::string_view>;

/// Texts between commas: "a,b"; an empty list for an empty text.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);
/// A unit, and its size in the base unit.
struct Unit {
  std::string_view name;
  double factor;
};
/// "1.5Gbit" in the base unit; nullopt unless it is a positive number and one of the units, with at most one blank
/// between.
[[nodiscard]] std::optional<double> quantity_in(std::string_view text, std::span<const Unit> units);
/// Batch sizes, "1,4,16"; ConfigError unless all are numbers from 1 to 65536.
[[nodiscard]] std::vector<std::int64_t> parse_batches(std::string_view text);

/// The option --rounds.
[[nodiscard]] Option rounds_option(std::int64_t& rounds);
/// The option --slow; 0 means the case's own factor.
[[nodiscard]] Option slow_option(double& factor);

/// Sizes and repetitions: --batch, --image, --channels, --warmup, --steps.
struct SizeArguments {
  /// A number, or several with commas; empty: the case's own.
  std::string batch{};
  std::int64_t image_px = 224;
  /// 0: the case's own.
  std::int64_t channels = 0;
  std::int64_t warmup = 3;
  std::int64_t steps = 10;

  /// The group's options of these names, bound to this object, as are those of the other groups.
  [[nodiscard]] std::vector<Option> options(Names names);
  /// The one number in `batch`, or `usual`. ConfigError for several.
  [[nodiscard]] std::int64_t batch_or(std::int64_t usual) const;
  /// Copy without a batch, for cases that take several.
  [[nodiscard]] SizeArguments without_batch() const;
  [[nodiscard]] std::int64_t channels_or(std::int64_t usual) const { return channels > 0 ? channels : usual; }
};

/// A network: --model, --labels, --device, --allow-shared-gpu, --fuse, --algorithms, --dtype, --recompute, --profile,
/// --models, --threads, --oversubscribe.
struct NetworkArguments {
  /// Targets of the options that are its fields.
  NetworkOptions network{.device = "auto"};
  /// Names separated by commas; empty: the case's own.
  std::string models{};
  std::int64_t threads = 0;
  bool may_oversubscribe = false;

  [[nodiscard]] std::vector<Option> options(Names names);
  /// Options of a training network: all but --allow-shared-gpu, --profile and --models.
  [[nodiscard]] std::vector<Option> training_options();
  /// Values of the options, of the sizes that `sizes` has; `usual_channels` without --channels. Threads as asked, no
  /// graph. ConfigError for several batches.
  [[nodiscard]] NetworkOptions sized(const SizeArguments& sizes, std::int64_t usual_channels = 3) const;
  /// sized() with threads as threads_of() has them.
  [[nodiscard]] NetworkOptions checked(const SizeArguments& sizes) const;
};

/// Images per second of a --device that is "emulated:RATE"; the device goes back to its default. 0: an engine.
[[nodiscard]] double take_emulated_device(NetworkOptions& network);

/// Images from files: --data, --pipeline, --recipe, --workers, --input-cores, --cache-dir, --memory-budget, --cold,
/// --readers, --cell-seconds, --emulate-storage, --slot-dtype, --device.
struct InputArguments {
  /// Targets of the options that are its fields.
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
  /// Values of the options; `usual_batch` without --batch. ConfigError as the parsers of the texts, for --image beside
  /// --recipe, and for a --cache-dir in --data.
  [[nodiscard]] InputOptions checked(const SizeArguments& sizes, std::int64_t usual_batch = 64) const;
  /// Images that --data names. ConfigError for none.
  [[nodiscard]] data::Dataset dataset(const Host& host) const;
};

/// Processes that share the work: --ranks, --hosts, --per-host, --no-overlap, --bucket-mb, --reduce, --wire.
struct RankArguments {
  /// A number, or several with commas.
  std::string ranks = "1";
  /// "a:2,b:2"; empty: this host.
  std::string hosts{};
  /// Ranks of a host; 0: the case's own.
  std::int64_t per_host = 0;
  /// Gradients travel after backward.
  bool is_late = false;
  double bucket_mb = 4.0;
  /// Names; empty: the case's own.
  std::string reduce{};
  std::string wire{};

  [[nodiscard]] std::vector<Option> options(Names names);
  /// The numbers in `ranks`; ConfigError unless all are from 1 to 65536.
  [[nodiscard]] std::vector<std::int64_t> counts() const;
  /// The one of them; ConfigError for several.
  [[nodiscard]] std::int64_t count() const;
};

}  // namespace roentgen::bench
