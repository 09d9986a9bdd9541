// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Updates that several ranks make of a network with batch norm, against a loop in one thread that holds every rank's
// executable: local statistics, mean of the gradients, one update for all.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "data/stage/loader.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/stepper.h"
#include "train/trainer_testing.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kBatch = 4;
constexpr int kUpdates = 5;
constexpr double kRate = 0.3;

constexpr std::string_view kNet = R"(graph "small"
input image (4, 1, 8, 8)
conv1 = conv2d(image, out=8, kernel=3x3, pad=1x1)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
pool = global_avg_pool(relu1)
flat = flatten(pool)
fc = linear(flat, out=2)
output logits = fc
)";

// One rank's engine, data and loader.
struct Rank {
  Rank(const data::Dataset& dataset, int rank, int ranks) : engine(engine::make_engine("cpu")) {
    const graph::Graph model = graph::with_loss(graph::parse_graph(kNet, "net").or_throw(), {});
    // Small buckets, so that there are several.
    executable = engine->compile(model, {.threads = 1, .slots = 2, .bucket_bytes = 256});
    engine::initialise(*executable, 3);
    memory = std::make_unique<SlotMemory>(*executable, 2, 2);
    data::LoaderOptions options;
    options.shard = {.batch = kBatch, .tail = data::Tail::Drop, .rank = rank, .ranks = ranks};
    options.preprocess.size_px = kSizePx;
    options.dtype = memory->dtype();
    loader = std::make_unique<data::Loader>(dataset, data::samples_of(dataset, data::Split::Train), options,
                                            memory->slots());
  }

  [[nodiscard]] std::vector<float> statistics() const {
    std::vector<float> all;
    const auto& parameters = executable->graph().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (graph::is_trained(parameters[i].role)) continue;
      const std::vector<float> values = executable->store(static_cast<std::int32_t>(i));
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  [[nodiscard]] std::vector<float> weights() const {
    return {executable->parameters().begin(), executable->parameters().end()};
  }

  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::Executable> executable;
  std::unique_ptr<SlotMemory> memory;
  std::unique_ptr<data::Loader> loader;
};

StepperOptions options() {
  return {.optimizer = "sgd", .optimizer_options = {.momentum = 0.9, .threads = 1}, .weight_decay = 1e-3};
}

// What so many ranks must come to.
std::vector<std::unique_ptr<Rank>> emulate(const data::Dataset& dataset, int ranks) {
  std::vector<std::unique_ptr<Rank>> all;
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(std::make_unique<Rank>(dataset, rank, ranks));
    optimizers.push_back(make_optimizer("sgd", options().optimizer_options, std::ssize(all.back()->weights())));
  }
  for (int update = 0; update < kUpdates; ++update) {
    std::vector<double> sum(all[0]->weights().size());
    for (const auto& rank : all) {
      const auto batch = rank->loader->next();
      rank->executable->bind_slot(batch->slot);
      rank->executable->set_step(update);
      rank->executable->forward();
      rank->executable->backward([](std::int64_t) {});
      rank->loader->release(batch->slot);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(rank->executable->gradients()[i]);
    }
    std::vector<float> mean(sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) mean[i] = static_cast<float>(sum[i] / ranks);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto ranges = update_ranges(*all[rank]->executable, options());
      optimizers[rank]->apply({.parameters = all[rank]->executable->parameters(),
                               .gradients = mean,
                               .ranges = ranges,
                               .lr = kRate,
                               .step = update + 1});
    }
  }
  return all;
}

TEST(RanksWithBatchNorm, make_the_updates_of_local_statistics_bit_for_bit) {
  const data::TestFolder folder;
  write_data(folder);
  data::SourceOptions source;
  source.root = folder.path();
  source.labels = {"bright", "noise"};
  const data::Dataset dataset = data::load_dataset(source);
  for (const int ranks : {1, 2, 3, 4}) {
    const auto wanted = emulate(dataset, ranks);
    std::vector<double> mean(wanted[0]->statistics().size());
    for (const auto& rank : wanted) {
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(rank->statistics()[i]) / ranks;
    }
    dist::LocalGroup group(ranks);
    std::vector<std::jthread> threads;
    for (int number = 0; number < ranks; ++number) {
      threads.emplace_back([&, number] {
        dist::CommThread comm([&] { return group.member(number); }, std::chrono::minutes(1));
        Rank rank(dataset, number, ranks);
        ASSERT_GT(rank.executable->buckets().size(), 1U);
        StepperOptions stepping = options();
        stepping.group = &comm;
        Stepper stepper(*rank.executable, stepping);
        for (int update = 0; update < kUpdates; ++update)
          static_cast<void>(stepper.update(*rank.loader, update, kRate));
        const Rank& other = *wanted[static_cast<std::size_t>(number)];
        EXPECT_EQ(rank.weights(), other.weights()) << "rank " << number << " of " << ranks;
        EXPECT_EQ(rank.statistics(), other.statistics()) << "its own";
        average_statistics(Ranks(&comm), *rank.executable, nullptr);
        const std::vector<float> averaged = rank.statistics();
        for (std::size_t i = 0; i < mean.size(); ++i)
          EXPECT_NEAR(averaged[i], mean[i], 1e-6 * (1.0 + std::abs(mean[i])));
      });
    }
  }
}

}  // namespace
}  // namespace roentgen::train
