// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ablation.h"

#include <memory>
#include <vector>

#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/input.h"
#include "bench/orders.h"
#include "bench/rounds.h"
#include "data/source/dataset.h"

namespace roentgen::bench {
namespace {

constexpr double kMostSettling_s = 3.0;

}  // namespace

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
    PipelineOptions input = options.input;
    input.pipeline = data::parse_pipeline(orders[i].pipeline);
    input.most_readers = kReaders;
    Input running(dataset, input, device->slots(dataset.label_names.size()));
    return take_batches(running, *device, {.warmup = input.warmup, .settle_s = kMostSettling_s, .steps = input.steps});
  });

  Value table = Value::array(), pipelines = Value::array();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    std::vector<double> of_base;
    for (std::size_t round = 0; round < courses[i].size(); ++round) {
      of_base.push_back(courses[i][round].images_per_s() / courses[0][round].images_per_s());
    }
    const double ratio = summarise(of_base).median;
    table.push_back(Value::Table{
        {"order", orders[i].name},
        {"images_per_s", median_of(courses[i], [](const Course& course) { return course.images_per_s(); })},
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
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
