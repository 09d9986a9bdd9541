// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/case_list.h"
#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/rounds.h"
#include "data/source/dataset.h"

namespace roentgen::bench {
namespace {

// Number of files that the pipeline tf-official reads at the same time. The compared pipelines may not read more, so
// that the comparison is fair.
constexpr int kReaders = 10;
constexpr std::string_view kOfficial =
    "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | repeat | "
    "map_and_batch({workers}) | prefetch(1)";
constexpr std::string_view kNaive =
    "files | interleave | map({workers}) | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)";
constexpr std::string_view kDefault = "samples | shuffle | shard | repeat | map_and_batch({workers}) | prefetch";

Order order(std::string_view name, std::string_view fault, std::string_view text, const OrderSizes& sizes) {
  return {.name = name,
          .fault = fault,
          .pipeline = fmt::format(fmt::runtime(text), fmt::arg("batch", sizes.batch), fmt::arg("buffer", sizes.buffer),
                                  fmt::arg("workers", sizes.workers))};
}

}  // namespace

OrderSizes order_sizes(int workers, std::int64_t batch, std::int64_t images) {
  constexpr std::int64_t kUsualBuffer = 500, kShare = 8;
  return {.workers = workers, .batch = batch, .buffer = std::clamp<std::int64_t>(images / kShare, 1, kUsualBuffer)};
}

std::vector<Order> ablation_orders(const OrderSizes& sizes) {
  return {
      order("tf-official", "", kOfficial, sizes),
      order("one-prefetch", "nothing is prefetched between reading and mapping",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | shuffle({buffer}) | repeat | "
            "map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("serial-interleave", "one file is read at a time",
            "files | shard | shuffle | interleave | prefetch({batch}) | shuffle({buffer}) | repeat | "
            "map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("map-then-batch", "rows are mapped one by one and copied into batches",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
            "repeat | map({workers}) | batch | prefetch(1)",
            sizes),
      order("one-map-thread", "the same, and one thread maps",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
            "repeat | map | batch | prefetch(1)",
            sizes),
      order("shard-after-reading", "every rank reads everything",
            "files | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shard(tail=wrap) | "
            "shuffle({buffer}) | repeat | map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("shard-after-map", "every rank reads and maps everything",
            "files | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | map({workers}) | "
            "shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)",
            sizes),
      order("naive", "all of them, but all threads map", kNaive, sizes),
      order("naive-one-thread", "all of them",
            "files | interleave | map | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)", sizes),
      order("default", "", kDefault, sizes),
  };
}

Value run_ablation(const data::Dataset& dataset, const AblationOptions& options) {
  require_at_least("warmup", options.input.warmup, 0);
  require_at_least("steps", options.input.steps, 1);
  require_at_least("rounds", options.rounds, 1);
  const OrderSizes sizes =
      order_sizes(workers_of(options.input), options.input.batch, std::ssize(dataset.samples) / options.input.ranks);
  const std::vector<Order> orders = ablation_orders(sizes);
  const std::unique_ptr<Consumer> device =
      make_emulated_device(options.input.device_images_per_s, batch_size(options.input));
  const auto courses = interleave(orders.size(), options.rounds, [&](std::size_t i) {
    InputOptions input = options.input;
    input.pipeline = data::parse_pipeline(orders[i].pipeline);
    input.most_readers = kReaders;
    Input running(dataset, input, device->slots(dataset.label_names.size()));
    return take_batches(running, *device, {.warmup = input.warmup, .settle_s = kMostSettling_s, .steps = input.steps});
  });

  Value table = Value::array(), pipelines = Value::array();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const auto rate = [](const Course& course) { return course.images_per_s(); };
    const double ratio = median_ratio(courses[i], courses[0], rate);
    table.push_back(
        Value::Table{{"order", orders[i].name},
                     {"images_per_s", median_of(courses[i], rate)},
                     {"of_base", ratio},
                     {"lost", 1.0 - ratio},
                     {"wait_share", median_of(courses[i], [](const Course& course) { return course.wait_share(); })},
                     {"bound", bound_of(courses[i].back(), *device)},
                     {"fault", orders[i].fault}});
    pipelines.push_back(Value::Table{{"order", orders[i].name}, {"stages", orders[i].pipeline}});
  }

  Value result = Value::table();
  result.set("case", "ablation");
  add_settings(result, dataset, options.input);
  result.set("buffer", sizes.buffer);
  result.set("warmup", options.input.warmup);
  result.set("n", options.input.steps);
  result.set("rounds", options.rounds);
  result.set("device", device->is_emulated() ? Value(device->name()) : Value());
  result.set("emulated", options.input.storage.has_value() || device->is_emulated());
  result.set("base", orders[0].name);
  result.set("orders", std::move(table));
  result.set("pipelines", std::move(pipelines));
  std::int64_t unsettled = 0;
  for (const std::vector<Course>& rounds : courses)
    unsettled += std::ranges::count(rounds, false, &Course::has_settled);
  warn_of_settling(result, unsettled);
  add_environment(result);
  return result;
}

namespace {

class AblationCase final : public Case {
 public:
  AblationCase()
      : Case("the time that each fault of a naive input pipeline costs, one fault at a time",
             "roentgen bench ablation --data images/ --emulate-storage open=2ms,read=1ms") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({input_.options({"--data", "--workers", "--cold", "--emulate-storage", "--device"}),
                   sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),

                   ranks_.options({"--ranks"}),
                   {rounds_option(rounds_)}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    const data::Dataset dataset = input_.dataset(host);
    AblationOptions options{.input = input_.checked(sizes_), .rounds = rounds_};
    options.input.ranks = static_cast<int>(ranks_.count());
    return run_ablation(dataset, options);
  }

 private:
  SizeArguments sizes_;
  InputArguments input_;
  RankArguments ranks_{.ranks = "2"};
  std::int64_t rounds_ = 3;
};

}  // namespace

std::unique_ptr<Case> make_ablation_case() { return std::make_unique<AblationCase>(); }

}  // namespace roentgen::bench
