// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `sweep`: short tests of all combinations of batch, fusion, dtype, ranks and GDR, and the recipe of the fastest.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/record.h"
#include "bench/options.h"
#include "bench/short_run.h"
#include "bench/sweep.h"
#include "bench/sweep_recipe.h"
#include "core/error.h"
#include "core/log.h"
#include "dist/gpu_network.h"
#include "dist/launched.h"
#include "dist/nccl_calls.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "io/file.h"
#include "io/json.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAutomaticGdr = "auto";

class SweepCase final : public Case {
 public:
  SweepCase()
      : Case("short tests of many settings, cheapest first, and the recipe of the fastest for a long test",
             "roentgen bench sweep --batch 16,32 --fuse on,off --dtype f32,bf16 --out fastest.toml\n"
             "roentgen bench sweep --device cuda --batch 128,256 --ranks 1,2 --resume sweep.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--image", "--channels", "--warmup", "--steps"}),
                   network_.options({"--model", "--labels", "--device", "--threads", "--oversubscribe", "--algorithms",
                                     "--recompute", "--allow-shared-gpu"}),
                   ranks_.options({"--ranks", "--hosts", "--bucket-mb", "--reduce", "--wire"}),
                   {{.name = "--batch", .target = &sizes_.batch, .doc = "batch sizes to combine, such as 8,16,32"},
                    {.name = "--fuse", .target = &fuses_, .doc = "graph optimizations to combine, such as on,off"},
                    {.name = "--dtype", .target = &dtypes_, .doc = "number formats to combine, such as f32,bf16"},
                    {.name = "--gdr",
                     .target = &gdrs_,
                     .doc = "GPUDirect RDMA (for several ranks on GPUs) to combine: auto,on,off"},
                    {.name = "--out",
                     .target = &recipe_,
                     .doc = "write the fastest setting as a recipe",
                     .is_output = true,
                     .value_name = "FILE"},
                    {.name = "--resume",
                     .target = &state_,
                     .doc = "keep finished tests in this file, and do not repeat those in it",
                     .is_output = true,
                     .value_name = "FILE"}}});
  }
  [[nodiscard]] bool has_failed(const Value& result) const override { return result.at("chosen").is_null(); }

  [[nodiscard]] Value run(const Host& host) override {
    if (const auto launched = dist::launched_rank()) {
      if (host.is_own_rank && host.is_own_rank()) return run_as_rank(host, launched->size);
      if (launched->size > 1) return refuse_launch(host, launched->size);
    }
    std::vector<std::string> warnings;
    const NetworkOptions network = network_.sized(sizes_.without_batch());
    const std::vector<SweepSetting> settings = sweep_settings(lists(), has_nccl(network.device, warnings));
    if (!recipe_.empty()) {  // refuses before the first test what a recipe cannot hold
      for (const SweepSetting& each : settings) static_cast<void>(recipe_of(network, each, ""));
    }
    Value result =
        settings_of("sweep", network,
                    {"model", "image_px", "channels", "labels", "device", "algorithms", "recompute", "warmup", "n"});
    if (network_.threads > 0) result.set("threads", network_.threads);
    add_exchange(result);
    const SweepRun sweep{.steps = sizes_.warmup + sizes_.steps,
                         .has_own_devices = is_emulated_device(network.device) || !is_host(network.device),
                         .plan = [&](const SweepSetting& each) { return plan(options_of(each, host)); },
                         .run = [&](const SweepSetting& each) { return run_setting(each, host); },
                         .known = known_rows(result),
                         .keep = [&](const Value::Array& rows) { keep_rows(result, rows); }};
    log::info(fmt::format("sweep: planning {} settings", settings.size()));
    Value::Array rows = run_sweep(settings, sweep);
    finish(result, network, choose_row(rows));
    result.set("rows", std::move(rows));
    add_warnings(result, std::move(warnings));
    add_environment(result);
    return result;
  }

 private:
  [[nodiscard]] static bool is_host(const std::string& device) { return engine::parse_device(device).is_host(); }

  [[nodiscard]] SweepLists lists() const {
    SweepLists lists{.batches = parse_batches(sizes_.batch),
                     .fuses = names_in(fuses_),
                     .dtypes = names_in(dtypes_),
                     .ranks = ranks_.counts(),
                     .gdrs = names_in(gdrs_)};
    for (const auto& [option, names] :
         {std::pair{"--fuse", &lists.fuses}, {"--dtype", &lists.dtypes}, {"--gdr", &lists.gdrs}}) {
      if (!names->empty() && std::ranges::find(*names, "") == names->end()) continue;
      throw ConfigError(
          error_text("bench.sweep", option, "values separated by commas", "an empty value", "leaving out the option"));
    }
    refuse_repeated("--batch", lists.batches);
    refuse_repeated("--fuse", lists.fuses);
    refuse_repeated("--dtype", lists.dtypes);
    refuse_repeated("--ranks", lists.ranks);
    refuse_repeated("--gdr", lists.gdrs);
    for (const std::string& gdr : lists.gdrs) static_cast<void>(dist::gdr_level(gdr));
    if (!ranks_.hosts.empty() && lists.ranks.size() > 1) {
      throw ConfigError(error_text("bench.sweep", "--ranks", "one number with --hosts", ranks_.ranks,
                                   "the sum of the hosts' numbers"));
    }
    return lists;
  }

  /// Throws ConfigError if a value occurs twice, because it would be measured twice.
  template <typename Values>
  static void refuse_repeated(std::string_view option, const Values& values) {
    if (std::set(values.begin(), values.end()).size() == values.size()) return;
    throw ConfigError(error_text("bench.sweep", option, "different values", fmt::format("{}", fmt::join(values, ",")),
                                 "each value once"));
  }

  /// Throws ConfigError on the first rank of a launcher's group, because a sweep starts the ranks itself.
  [[nodiscard]] static Value refuse_launch(const Host& host, int processes) {
    return host.join_ranks({.may_oversubscribe = true}, [processes](dist::CommThread*) -> Value {
      throw ConfigError(error_text("bench.sweep", "mpirun or srun", "one process, which starts the ranks of a setting",
                                   fmt::format("{} processes", processes), "--ranks without mpirun or srun"));
    });
  }

  /// Adds the settings of the exchange of gradients to the result.
  void add_exchange(Value& result) const {
    const RankRequest group = request("");
    result.set("reduce", group.reduce);
    result.set("wire", group.wire);
    result.set("bucket_mb", ranks_.bucket_mb);
    if (!ranks_.hosts.empty()) result.set("hosts", ranks_.hosts);
  }

  /// Returns whether --gdr can have an effect. If it was given in vain, adds the reason to `warnings`.
  [[nodiscard]] bool has_nccl(const std::string& device, std::vector<std::string>& warnings) const {
    if (gdrs_ == kAutomaticGdr) return false;
    std::string reason;
    if (is_emulated_device(device) || is_host(device)) {
      reason = "device " + device;
    } else if (!ranks_.reduce.empty() && ranks_.reduce != "auto" && ranks_.reduce != "nccl") {
      reason = "--reduce " + ranks_.reduce;
    } else {
      try {
        static_cast<void>(dist::make_nccl_calls());
      } catch (const CommError& error) {
        reason = error.what();
      }
    }
    if (!reason.empty()) warnings.push_back("--gdr not varied, because gradients do not pass through NCCL: " + reason);
    return reason.empty();
  }

  /// Options of run_scaling_point() for a setting. Ranks without a device of their own divide the cores.
  [[nodiscard]] ScalingOptions options_of(const SweepSetting& setting, const Host& host) const {
    ScalingOptions options{.step = network_.sized(sizes_.without_batch()), .bucket_mb = ranks_.bucket_mb};
    options.device_images_per_s = take_emulated_device(options.step);
    options.step.batch = setting.batch;
    options.step.fuse = setting.fuse;
    options.step.dtype = setting.dtype;
    options.step.graph = host.graph_of_file(options.step);
    const std::int64_t cores = runtime::physical_cores(runtime::usable_cores());
    const std::int64_t shared = std::max<std::int64_t>(1, cores / setting.ranks);
    options.step.threads = threads_of(network_.threads > 0 ? network_.threads : shared, network_.may_oversubscribe);
    return options;
  }

  [[nodiscard]] static SweepNeeds plan(const ScalingOptions& options) {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.step.device);
    const engine::Plan plan = plan_step(options.step, *engine, {.threads = options.step.threads, .slots = 1});
    SweepNeeds needs{.planned_bytes = plan.memory.total() + plan.memory.parameters};  // SGD's momentum
    for (const engine::PlanEntry& entry : plan.entries) needs.flops += static_cast<double>(entry.flops);
    return needs;
  }

  [[nodiscard]] RankRequest request(const std::string& gdr) const {
    RankRequest request = ranks_.request(network_.may_oversubscribe);
    request.gdr = gdr;
    return request;
  }

  /// Runs one rank in this process, several in a new group of processes.
  [[nodiscard]] Value run_setting(const SweepSetting& setting, const Host& host) const {
    const ScalingOptions options = options_of(setting, host);
    if (setting.ranks == 1 && ranks_.hosts.empty()) return run_short(options, nullptr);
    const std::string gdr = setting.gdr.empty() ? std::string(kAutomaticGdr) : setting.gdr;
    RankRequest group = request(gdr);
    group.ranks = setting.ranks;
    group.hosts = ranks_.hosts;
    return short_row_in(
        host.start_ranks(group, {"--batch", fmt::to_string(setting.batch), "--fuse", setting.fuse, "--dtype",
                                 setting.dtype, "--gdr", gdr, "--threads", fmt::to_string(options.step.threads)}));
  }

  /// Runs this process as one rank of a setting, whose options have one value each.
  [[nodiscard]] Value run_as_rank(const Host& host, std::int64_t ranks) const {
    log::set_level(log::Level::Warning);  // without messages that repeat for every setting
    const SweepLists own = lists();
    const SweepSetting setting{
        .batch = own.batches.front(), .fuse = own.fuses.front(), .dtype = own.dtypes.front(), .ranks = ranks};
    RankRequest rank = request(own.gdrs.front());
    rank.threads = [this] {
      return is_emulated_device(network_.network.device) ? 0 : static_cast<int>(network_.threads);
    };
    return host.join_ranks(rank, [&](dist::CommThread* group) { return run_short(options_of(setting, host), group); });
  }

  /// Returns the rows of an earlier sweep. Throws ConfigError if it had other options, or ran on another machine or
  /// build.
  [[nodiscard]] Value::Array known_rows(const Value& settings) const {
    if (state_.empty() || !fs::exists(state_)) return {};
    const Value stored = read_record(state_).value;
    const Value own = make_record("sweep", {}, settings);
    std::string other;
    for (const char* key : {"case", "host", "commit"}) {
      if (stored.at(key) != own.at(key)) other = fmt::format("another {}", key);
    }
    const auto keys = differing_keys(record_settings(stored.at("result")), record_settings(settings));
    if (!keys.empty()) other = fmt::format("another {}", fmt::join(keys, ", "));
    for (const char* key : {"warmup", "n", "bucket_mb"}) {
      if (other.empty() && stored.at("result").at(key) != settings.at(key)) other = fmt::format("another {}", key);
    }
    if (other.empty()) return stored.at("result").at("rows").as_array();
    throw ConfigError(error_text("bench.sweep", "--resume " + state_.string(),
                                 "a sweep with the same options, host and commit", other, "another file"));
  }

  void keep_rows(const Value& settings, const Value::Array& rows) const {
    if (state_.empty()) return;
    Value result = settings;
    result.set("rows", rows);
    io::write_file_atomically(state_, io::to_json(make_record("sweep", {}, std::move(result))) + "\n");
  }

  [[nodiscard]] SweepOptions common_options() const {
    return {.threads = network_.threads,
            .hosts = ranks_.hosts,
            .reduce = ranks_.reduce,
            .wire = ranks_.wire,
            .bucket_mb = ranks_.bucket_mb,
            .may_oversubscribe = network_.may_oversubscribe,
            .may_share_device = network_.network.may_share_device};
  }

  /// Recipe of a setting; an emulated device stands for the CPU.
  [[nodiscard]] std::string recipe_of(NetworkOptions network, const SweepSetting& setting,
                                      std::string_view comment) const {
    if (is_emulated_device(network.device)) network.device = NetworkOptions{}.device;
    return sweep_recipe(network, setting, common_options(), comment);
  }

  /// Adds the chosen setting to the result, and writes its recipe.
  void finish(Value& result, const NetworkOptions& network, const SweepChoice& choice) const {
    result.set("verdict", choice.text);
    result.set("chosen", Value());
    if (choice.verdict == SweepVerdict::None) return;
    result.set("chosen", to_value(choice.setting));
    if (recipe_.empty()) return;
    io::write_file_atomically(recipe_, recipe_of(network, choice.setting, "roentgen bench sweep, " + choice.text));
    result.set("recipe_file", recipe_.string());
    result.set("next_command", long_command(recipe_, choice.setting, common_options()));
    result.set("train_command", train_command(recipe_, choice.setting, common_options()));
  }

  static void add_warnings(Value& result, std::vector<std::string> warnings) {
    for (const Value& row : result.at("rows").as_array()) {
      if (row.find("warnings") == nullptr || row.at("warnings").as_array().empty()) continue;
      std::vector<std::string> texts;
      for (const Value& text : row.at("warnings").as_array()) texts.push_back(text.as_string());
      warnings.push_back(fmt::format("{}: {}", setting_text(setting_of(row)), fmt::join(texts, "; ")));
    }
    result.set("warnings", Value::Array(warnings.begin(), warnings.end()));
  }

  SizeArguments sizes_{.batch = "8,16,32", .warmup = kShortWarmup, .steps = kShortSteps};
  NetworkArguments network_;
  RankArguments ranks_;
  std::string fuses_ = "on,off";
  std::string dtypes_ = "f32,bf16";
  std::string gdrs_{kAutomaticGdr};
  fs::path recipe_;
  fs::path state_;
};

}  // namespace

std::unique_ptr<Case> make_sweep_case() { return std::make_unique<SweepCase>(); }

}  // namespace roentgen::bench
