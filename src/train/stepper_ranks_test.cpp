// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests updates of a network with batch norm on several ranks, with and without parameter servers. The expected result
// is computed by one thread with the executables of all ranks: local statistics, mean of the gradients, one update for
// all.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <thread>

#include "data/stage/loader.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "dist/mailbox_testing.h"
#include "dist/nccl_averages.h"
#include "dist/nccl_twin_testing.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/servers/parameter_server.h"
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

std::unique_ptr<engine::Engine> cpu_engine() { return engine::make_engine("cpu"); }
/// Creates an engine with device memory, so that gradients are copied through the host.
std::unique_ptr<engine::Engine> reference_engine() { return std::make_unique<ReferenceEngine>(); }

// Engine, data and loader of one rank.
struct Rank {
  Rank(const data::Dataset& dataset, int rank, int ranks, std::unique_ptr<engine::Engine> made,
       std::size_t bucket_bytes = 128)
      : engine(std::move(made)) {
    const graph::Graph model = graph::with_loss(graph::parse_graph(kNet, "net").or_throw(), {});
    // small buckets, so that the network has several
    executable = engine->compile(model, {.threads = 1, .slots = 2, .bucket_bytes = bucket_bytes});
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
  [[nodiscard]] std::vector<float> weights() const { return executable->parameters().values(); }

  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::Executable> executable;
  std::unique_ptr<SlotMemory> memory;
  std::unique_ptr<data::Loader> loader;
};

StepperOptions options() { return {.optimizer = "sgd", .weight_decay = 1e-3}; }

/// Function that computes the mean of the gradients of all ranks.
using Mean = std::vector<float> (*)(const std::vector<std::unique_ptr<Rank>>& all);

std::vector<std::vector<float>> gradients_of(const std::vector<std::unique_ptr<Rank>>& all) {
  std::vector<std::vector<float>> gradients;
  for (const auto& rank : all) gradients.push_back(rank->executable->gradients().values());
  return gradients;
}

// Computes the mean of the gradients like dist::LocalGroup, in double.
std::vector<float> mean_in_double(const std::vector<std::unique_ptr<Rank>>& all) {
  const std::vector<std::vector<float>> gradients = gradients_of(all);
  std::vector<float> mean(gradients[0].size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0.0;
    for (const std::vector<float>& each : gradients) sum += static_cast<double>(each[i]);
    mean[i] = static_cast<float>(sum / static_cast<double>(all.size()));
  }
  return mean;
}

// Computes the mean of the gradients like the algorithms with messages: in float32, in the order of ranks.
std::vector<float> mean_in_float(const std::vector<std::unique_ptr<Rank>>& all) {
  const float factor = 1.0F / static_cast<float>(all.size());
  const std::vector<std::vector<float>> gradients = gradients_of(all);
  std::vector<float> mean = gradients[0];
  for (std::size_t i = 0; i < mean.size(); ++i) {
    for (std::size_t rank = 1; rank < all.size(); ++rank) mean[i] += gradients[rank][i];
    mean[i] *= factor;
  }
  return mean;
}

/// Test case: algorithm that averages gradients, function for the expected mean, and engine.
struct Way {
  const char* reduce;
  Mean mean;
  const char* engine_name = "cpu";
  std::unique_ptr<engine::Engine> (*make)() = cpu_engine;
  /// Number of parameter servers in addition to the ranks.
  int servers = 0;
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.reduce << "_" << way.engine_name;
  if (way.servers > 0) *out << "_with_" << way.servers << "_servers";
}

ServerOptions servers_of(const Way& way) {
  return {.way = way.servers > 0 ? UpdateWay::Servers : UpdateWay::Sync, .servers = way.servers};
}

// Runs parameter server number `index`, which has the same initial weights as the workers.
void serve(dist::CommThread& comm, const data::Dataset& dataset, int index, const Way& way) {
  const Rank rank(dataset, 0, 1, way.make());
  engine::Executable& executable = *rank.executable;
  Optimizer optimizer("sgd", engine::OptimizerRules{}, executable);
  ParameterServer server(executable, optimizer,
                         ranges_by_bucket(update_ranges(executable, options()), executable.buckets()),
                         {.servers = servers_of(way), .index = index, .workers = comm.first_rank()});
  comm.call([&](dist::Communicator& communicator) { server.serve(communicator); });
}

// Computes the expected result of `ranks` ranks.
std::vector<std::unique_ptr<Rank>> emulate(const data::Dataset& dataset, int ranks, const Way& way) {
  std::vector<std::unique_ptr<Rank>> all;
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(std::make_unique<Rank>(dataset, rank, ranks, way.make()));
    optimizers.push_back(std::make_unique<Optimizer>("sgd", engine::OptimizerRules{}, *all.back()->executable));
  }
  for (int update = 0; update < kUpdates; ++update) {
    for (const auto& rank : all) {
      const auto batch = rank->loader->next();
      rank->executable->bind_slot(batch->slot);
      rank->executable->set_step(update);
      rank->executable->forward();
      rank->executable->backward({});
      rank->loader->release(batch->slot);
    }
    const std::vector<float> mean = way.mean(all);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto ranges = update_ranges(*all[rank]->executable, options());
      engine::Arena& gradients = all[rank]->executable->gradients();
      gradients.upload(0, mean);
      optimizers[rank]->apply({.ranges = ranges, .lr = kRate, .step = update + 1}, gradients);
    }
  }
  return all;
}

class RanksWithBatchNorm : public testing::TestWithParam<Way> {};

TEST_P(RanksWithBatchNorm, make_the_updates_of_local_statistics_bit_for_bit) {
  const data::TestFolder folder;
  write_data(folder);
  data::SourceOptions source;
  source.root = folder.path();
  source.labels = {"bright", "noise"};
  const data::Dataset dataset = data::load_dataset(source);
  for (const int ranks : {1, 2, 3, 4}) {
    const auto wanted = emulate(dataset, ranks, GetParam());
    std::vector<double> mean(wanted[0]->statistics().size());
    for (const auto& rank : wanted) {
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(rank->statistics()[i]) / ranks;
    }
    const int servers = GetParam().servers;
    dist::LocalGroup group(ranks + servers);
    dist::Mailboxes boxes(ranks + servers);
    std::vector<std::jthread> threads;
    for (int number = 0; number < ranks + servers; ++number) {
      threads.emplace_back([&, number] {
        const auto seed = static_cast<unsigned>(number);
        dist::CommThread comm([&] { return std::make_unique<dist::MailboxMember>(boxes, group, number, seed); },
                              std::chrono::minutes(1), {.algorithm = GetParam().reduce});
        if (servers > 0) comm.divide(servers);
        if (number >= ranks) return serve(comm, dataset, number - ranks, GetParam());
        Rank rank(dataset, number, ranks, GetParam().make());
        ASSERT_GT(rank.executable->buckets().size(), 1U);
        StepperOptions stepping = options();
        stepping.group = &comm;
        stepping.device_id = "device-" + std::to_string(number);
        stepping.make_nccl = [] { return std::make_unique<dist::NcclTwin>(dist::twin_device()); };
        stepping.servers = servers_of(GetParam());
        Stepper stepper(*rank.executable, stepping);
        for (int update = 0; update < kUpdates; ++update)
          static_cast<void>(stepper.update(*rank.loader, update, kRate));
        stepper.settle();
        if (servers > 0) stepper.servers()->end();
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

// Weights of rank 0 after some updates by `exchange`. `compiled` is the executable's bucket size in bytes. `joined`
// gives the Stepper's bucket size for each update, or 0 for the executable's.
std::vector<float> weights_by_exchange(const data::Dataset& dataset, int ranks, std::size_t compiled,
                                       const std::function<std::size_t(int update)>& joined, double clip_norm) {
  dist::LocalGroup group(ranks);
  dist::Mailboxes boxes(ranks);
  std::vector<float> weights;
  std::vector<std::jthread> threads;
  for (int number = 0; number < ranks; ++number) {
    threads.emplace_back([&, number] {
      dist::CommThread comm(
          [&] { return std::make_unique<dist::MailboxMember>(boxes, group, number, static_cast<unsigned>(number)); },
          std::chrono::minutes(1), {.algorithm = "exchange"});
      Rank rank(dataset, number, ranks, cpu_engine(), compiled);
      StepperOptions stepping = options();
      stepping.group = &comm;
      stepping.clip_norm = clip_norm;
      Stepper stepper(*rank.executable, stepping);
      EXPECT_EQ(stepper.has_free_bucket_size(), ranks > 1);
      for (int update = 0; update < kUpdates; ++update) {
        if (ranks > 1) stepper.set_bucket_bytes(joined(update));
        static_cast<void>(stepper.update(*rank.loader, update, kRate));
      }
      if (number == 0) weights = rank.weights();
    });
  }
  threads.clear();
  return weights;
}

TEST(RanksByExchange, make_the_same_bits_with_buckets_of_any_size) {
  const data::TestFolder folder;
  write_data(folder);
  data::SourceOptions source;
  source.root = folder.path();
  source.labels = {"bright", "noise"};
  const data::Dataset dataset = data::load_dataset(source);
  for (const int ranks : {1, 2, 3, 4}) {
    for (const double clip_norm : {0.0, 0.05}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, clip_norm " << clip_norm);
      const auto as_compiled = [](int) { return std::size_t{0}; };
      const std::vector<float> smallest = weights_by_exchange(dataset, ranks, 1, as_compiled, clip_norm);
      ASSERT_FALSE(smallest.empty());
      for (const std::size_t compiled : {64U, 192U, 1U << 20U}) {
        EXPECT_EQ(weights_by_exchange(dataset, ranks, compiled, as_compiled, clip_norm), smallest) << compiled;
      }
      const auto changing = [](int update) { return std::size_t{64} << static_cast<unsigned>(2 * update); };
      EXPECT_EQ(weights_by_exchange(dataset, ranks, 1, changing, clip_norm), smallest) << "sizes change";
    }
  }
}

TEST(JoinBuckets, joins_neighbours_until_they_are_large_enough) {
  const std::vector<engine::Bucket> buckets{{0, 16}, {16, 48}, {64, 16}, {80, 16}, {96, 160}, {256, 16}};
  const std::vector<SentBucket> joined = join_buckets(buckets, 32 * sizeof(float));
  ASSERT_EQ(joined.size(), 4U);
  const std::vector<std::int64_t> begins{0, 64, 96, 256}, ends{64, 96, 256, 272}, lasts{1, 3, 4, 5};
  for (std::size_t i = 0; i < joined.size(); ++i) {
    EXPECT_EQ(joined[i].place.begin, begins[i]);
    EXPECT_EQ(joined[i].place.begin + joined[i].place.count, ends[i]);
    EXPECT_EQ(joined[i].last, lasts[i]);
  }
  EXPECT_EQ(join_buckets(buckets, 0).size(), buckets.size());
  EXPECT_EQ(join_buckets(buckets, 1U << 20U).size(), 1U);
}

TEST(RanksThatFail, leave_nothing_under_way_when_backward_throws) {
  dist::LocalGroup group(2);  // the other rank never joins
  dist::CommThread comm([&] { return group.member(0); }, std::chrono::minutes(1));
  {
    std::vector<float> gradients(3, 1.0F);
    const auto host = runtime::make_cpu_device();
    GradientExchange exchange(comm, {.device = *host, .is_host = true}, 2);
    exchange.begin();
    exchange.tell({.loss = 1.0});
    exchange.send(0, runtime::host_span(gradients), runtime::reached_event());
    exchange.send(1, runtime::host_span(gradients), runtime::reached_event());
  }
  EXPECT_THROW(static_cast<void>(comm.average_figures({}, {.name = "more"})), CommError) << "this rank has failed";
  EXPECT_TRUE(comm.fail()) << "as the first";
}

INSTANTIATE_TEST_SUITE_P(Ways, RanksWithBatchNorm,
                         testing::Values(Way{"allreduce", mean_in_double}, Way{"auto", mean_in_float},
                                         Way{"exchange", mean_in_float, "reference", reference_engine},
                                         Way{"nccl", mean_in_float, "reference", reference_engine},
                                         Way{"exchange", mean_in_float, "cpu", cpu_engine, 1},
                                         Way{"exchange", mean_in_float, "cpu", cpu_engine, 2},
                                         Way{"exchange", mean_in_float, "reference", reference_engine, 2},
                                         Way{"auto", mean_in_float, "reference", reference_engine, 2}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace roentgen::train
