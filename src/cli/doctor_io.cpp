// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen doctor io DIR: measures a folder's storage and decoding, and compares them with what training needs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/input.h"
#include "bench/network.h"
#include "cli/doctor_check.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/source/image_list.h"
#include "data/stage/memory_plan.h"
#include "data/stage/storage.h"
#include "doctor/probe.h"
#include "doctor/store.h"
#include "engine/engine.h"
#include "runtime/cores.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

/// Speed of decoding and transforming images.
struct DecodeSpeed {
  double images_per_s = 0.0;
  int threads = 1;         ///< decoding threads, at most one per core
  double cpu_share = 1.0;  ///< CPU time that these threads got, as a share of the wall time; below 1 on a busy machine
};

/// Measures the decoding of images that are in the page cache.
DecodeSpeed decode_speed(const data::Dataset& dataset, bench::InputOptions options) {
  // Few enough images to stay in the page cache, and enough to have different sizes.
  constexpr std::size_t kImages = 256;
  constexpr double kMost_s = 4.0;
  constexpr std::int64_t kMostBatches = 100'000;
  data::Dataset some = dataset;
  some.samples.resize(std::min(kImages, some.samples.size()));
  bench::read_once(some);
  options.storage.reset();
  options.batch = std::min<std::int64_t>(options.batch, std::ssize(some.samples));
  bench::BatchSize size = bench::batch_size(options);
  const data::MemoryShares memory = bench::share_memory(some, options);
  size.slots = memory.slots;
  options.most_readers = std::min(options.most_readers, memory.readers);
  const std::unique_ptr<bench::Consumer> consumer = bench::make_emulated_device(0.0, size);
  bench::Input input(some, options, consumer->slots(some.label_names.size()));
  const bench::Course course = bench::take_batches(
      input, *consumer, {.warmup = 3, .settle_s = kMost_s / 2, .steps = kMostBatches, .most_s = kMost_s});
  const int threads = std::min(bench::workers_of(options), runtime::available_cores());
  return {.images_per_s = course.images_per_s(),
          .threads = threads,
          .cpu_share = std::min(1.0, course.processor_s / (course.wall_s * threads))};
}

/// Warns if decoding got little CPU time, because a pipeline with more threads may get another share of it.
void warn_of_load(const DecodeSpeed& decode) {
  constexpr double kQuiet = 0.9;
  if (decode.cpu_share >= kQuiet) return;
  log::warning(
      fmt::format("decoding got {:.0f}% of the CPU time of {}, for example because other programs run; with all of "
                  "this time, it would reach about {:.4g} images/s",
                  100.0 * decode.cpu_share, counted(decode.threads, "core"), decode.images_per_s / decode.cpu_share));
}

/// Measures images per second of training steps with a recipe's network, without input.
double training_speed(const train::Recipe& recipe) {
  constexpr double kMost_s = 8.0;
  bench::NetworkOptions network{.model = recipe.model.name,
                                .batch = recipe.train.batch,
                                .image_px = recipe.preprocess.size_px,
                                .channels = recipe.preprocess.channels,
                                .labels = std::max<std::int64_t>(1, std::ssize(recipe.data.labels)),
                                .threads = static_cast<int>(recipe.train.threads),
                                .device = recipe.train.device,
                                .dtype = recipe.train.dtype};
  network.graph = task::make_model(
      recipe.model,
      {.batch = network.batch, .channels = network.channels, .image_px = network.image_px, .labels = network.labels});
  network = bench::checked(network);
  const auto engine = engine::make_engine(network.device);
  const auto executable = bench::compile_step(network, *engine, {.threads = network.threads, .slots = 1});
  bench::SgdSteps steps(*executable);
  const auto step = [&] {
    static_cast<void>(steps.run());
    static_cast<void>(steps.loss());  // waits for the device
  };
  step();  // warm-up
  const auto begin = bench::Clock::now();
  std::int64_t count = 0;
  while (count == 0 || bench::seconds_since(begin) < kMost_s) {
    step();
    ++count;
  }
  return static_cast<double>(count * network.batch) / bench::seconds_since(begin);
}

class IoCheck final : public DoctorCheck {
 public:
  [[nodiscard]] std::vector<Option> options() override {
    // Options with equal texts share a line of the help.
    constexpr const char* kThreadsDoc = "threads that decode (0 = all cores); threads that only read";
    return {
        {.name = "DIR", .target = &folder_, .doc = "folder with images or record files", .value_name = "DIR"},
        {.name = "--recipe", .target = &recipe_, .doc = "compare with the speed that training by this recipe needs"},
        {.name = "--images-per-s",
         .target = &needed_per_s_,
         .doc = "images per second that training needs",
         .range = {0, 1e9}},
        {.name = "--workers", .target = &workers_, .doc = kThreadsDoc, .range = {0, 4096}},
        {.name = "--readers", .target = &readers_, .doc = kThreadsDoc, .range = {0, 1024}},
        {.name = "--emulate-storage",
         .target = &storage_,
         .doc = "simulate storage: open=2ms,read=1ms,opens_per_s=1000"}};
  }

  [[nodiscard]] CommandResult run(const std::string& hosts) override {
    if (!hosts.empty()) {
      throw ConfigError(
          error_text("cli.doctor", "--hosts", "no --hosts with the check io", hosts, "doctor io on each host"));
    }
    if (folder_.empty()) {
      throw ConfigError(error_text("cli.doctor", "DIR", "a folder with images", "none", "roentgen doctor io DIR"));
    }
    const data::Dataset dataset = data::images_or_records({folder_.string()});
    bench::InputOptions input{.workers = static_cast<int>(workers_), .most_readers = static_cast<int>(readers_)};
    double needed_per_s = needed_per_s_;
    if (!recipe_.empty()) {
      const train::Recipe recipe = task::read_recipe(recipe_, {});
      input.preprocess = recipe.preprocess;
      input.augment = recipe.augment;
      input.image_px = recipe.preprocess.size_px;
      input.channels = recipe.preprocess.channels;
      log::info("measuring training steps of the recipe");
      if (needed_per_s == 0.0) needed_per_s = training_speed(recipe);
    }
    if (!storage_.empty()) input.storage = data::parse_storage_costs(storage_);
    return report(dataset, input, needed_per_s);
  }

 private:
  [[nodiscard]] CommandResult report(const data::Dataset& dataset, const bench::InputOptions& input,
                                     double needed_per_s) const {
    std::unique_ptr<data::EmulatedStorage> storage;
    if (input.storage) storage = std::make_unique<data::EmulatedStorage>(*input.storage);
    const doctor::StoreSpeed store = doctor::measure_store(
        dataset,
        {.most_readers = input.most_readers + bench::workers_of(input),
         .storage = storage.get(),
         .on_point = [](int readers) { log::info(fmt::format("reading {} at once", counted(readers, "file"))); }});
    log::info("decoding from memory");
    const DecodeSpeed decode = decode_speed(dataset, input);
    const doctor::InputSpeed speed{.storage_per_s = store.best().images_per_s, .decode_per_s = decode.images_per_s};
    if (speed.decode_per_s < speed.storage_per_s) warn_of_load(decode);
    const bool is_enough = speed.predicted_per_s() >= needed_per_s;
    const auto system = doctor::make_machine_probe(doctor::Effort::Quick)->file_system(folder_);
    const std::string type = system ? system->type : std::string();
    const bool are_files =
        std::ranges::none_of(dataset.samples, [](const auto& each) { return each.stored.has_value(); });

    Value result = Value::Table{{"file_system", type.empty() ? Value() : Value(type)},
                                {"images", dataset.samples.size()},
                                {"image_bytes", store.image_bytes},
                                {"opens_per_image", store.opens_per_image},
                                {"emulated", storage ? Value(storage->costs().text()) : Value()}};
    if (needed_per_s > 0.0) {
      result.set("needed", Value::Table{{"images_per_s", needed_per_s},
                                        {"opens_per_s", needed_per_s * store.opens_per_image},
                                        {"mb_per_s", needed_per_s * store.image_bytes * 1e-6}});
    }
    result.set("storage", Value::Table{{"images_per_s", store.best().images_per_s},
                                       {"opens_per_s", store.best().opens_per_s},
                                       {"mb_per_s", store.best().bytes_per_s * 1e-6},
                                       {"readers", store.best().readers}});
    result.set("decode_images_per_s", speed.decode_per_s);
    result.set("decode_cpu_share", decode.cpu_share);
    result.set("predicted_images_per_s", speed.predicted_per_s());
    result.set("points", doctor::to_value(store.points));
    Value remedies = Value::array();
    for (const std::string& line : doctor::store_remedies(speed, needed_per_s, type, are_files))
      remedies.push_back(line);
    terminal::print(report_text(result));
    for (const Value& line : remedies.as_array()) terminal::print(fmt::format("  try {}\n", line.as_string()));
    if (needed_per_s > 0.0) {
      terminal::print(fmt::format("{}: input delivers {:.4g} images/s, training needs {:.4g}\n",
                                  is_enough ? "enough" : "wrong", speed.predicted_per_s(), needed_per_s));
    }
    result.set("remedies", std::move(remedies));
    result.set("enough", is_enough);
    return {.json = std::move(result), .exit_code = is_enough ? kSuccess : kFailure};
  }

  std::filesystem::path folder_;
  std::filesystem::path recipe_;
  double needed_per_s_ = 0.0;
  std::int64_t workers_ = 0;
  std::int64_t readers_ = bench::InputOptions{}.most_readers;
  std::string storage_;
};

}  // namespace

std::unique_ptr<DoctorCheck> make_doctor_io() { return std::make_unique<IoCheck>(); }

}  // namespace roentgen::cli
