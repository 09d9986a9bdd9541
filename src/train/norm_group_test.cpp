// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests batch norms over all ranks: N ranks with batch B / N must make the same updates as one process with batch B.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include "core/error.h"
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

constexpr std::int64_t kGlobalBatch = 12;
constexpr int kUpdates = 4;
constexpr double kRate = 0.1;
constexpr std::chrono::milliseconds kLimit{60'000};

// Network with all fused forms of batch norm that have their own kernels: alone, with ReLU, with sum and ReLU. 16
// channels fill whole blocks of the memory layout; 10 channels need padding.
constexpr std::string_view kResidual = R"(
conv1 = conv2d(image, out=10, kernel=3x3, pad=1x1)
norm1 = batch_norm(conv1)
conv2 = conv2d(norm1, out=16, kernel=3x3, pad=1x1)
norm2 = batch_norm(conv2)
relu2 = relu(norm2)
conv3 = conv2d(relu2, out=16, kernel=3x3, pad=1x1)
norm3 = batch_norm(conv3)
sum = add(norm3, relu2)
last = relu(sum)
)";

// Network in which several batch norms read the same values and share their statistics.
constexpr std::string_view kDense = R"(
a = conv2d(image, out=16, kernel=3x3, pad=1x1)
norm1 = batch_norm(a)
relu1 = relu(norm1)
b = conv2d(relu1, out=16, kernel=3x3, pad=1x1)
ab = concat(a, b)
norm2 = batch_norm(ab)
relu2 = relu(norm2)
c = conv2d(relu2, out=16, kernel=3x3, pad=1x1)
abc = concat(ab, c)
norm3 = batch_norm(abc)
last = relu(norm3)
)";

graph::Graph graph_of(std::string_view body, std::int64_t batch) {
  const std::string text = fmt::format(
      "graph \"net\"\ninput image ({}, 1, 8, 8){}pool = global_avg_pool(last)\nflat = flatten(pool)\n"
      "fc = linear(flat, out=2)\noutput logits = fc\n",
      batch, body);
  return graph::with_loss(graph::parse_graph(text, "net").or_throw(), {});
}

// Results of a run with one rank or several.
struct End {
  std::vector<float> weights;
  std::vector<float> statistics;
  std::vector<double> losses;
  std::string plan;
};

enum class Statistics { Local, Synchronised };

End train_rank(const data::Dataset& dataset, std::string_view body, dist::CommThread* group, Statistics kind) {
  const Ranks ranks(group);
  const std::int64_t batch = kGlobalBatch / ranks.size();
  const auto engine = engine::make_engine("cpu");
  engine::CompileOptions compiling{.threads = 1, .slots = 2, .bucket_bytes = 2048};
  if (kind == Statistics::Synchronised) compiling.norm_group = norm_group(ranks);
  const auto executable = engine->compile(graph_of(body, batch), compiling);
  engine::initialise(*executable, 3);
  const SlotMemory memory(*executable, 2, 2);
  data::LoaderOptions options;
  options.shard = {.batch = batch, .tail = data::Tail::Drop, .rank = ranks.rank(), .ranks = ranks.size()};
  options.preprocess.size_px = kSizePx;
  options.dtype = memory.dtype();
  data::Loader loader(dataset, data::samples_of(dataset, data::Split::Train), options, memory.slots());
  Stepper stepper(*executable, {.optimizer = "sgd", .weight_decay = 1e-3, .group = group});
  End end;
  for (int update = 0; update < kUpdates; ++update) {
    end.losses.push_back(stepper.update(loader, update, kRate).loss);
  }
  const auto& parameters = executable->graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& all = graph::is_trained(parameters[i].role) ? end.weights : end.statistics;
    const std::vector<float> values = executable->store(static_cast<std::int32_t>(i));
    all.insert(all.end(), values.begin(), values.end());
  }
  end.plan = executable->plan().text();
  return end;
}

std::vector<End> train_ranks(const data::Dataset& dataset, std::string_view body, int ranks, Statistics kind) {
  dist::LocalGroup group(ranks);
  std::vector<End> ends(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      dist::CommThread comm([&] { return group.member(rank); }, kLimit);
      ends[static_cast<std::size_t>(rank)] = train_rank(dataset, body, &comm, kind);
    });
  }
  threads.clear();
  return ends;
}

template <typename Number>
double largest_difference(const std::vector<Number>& a, const std::vector<Number>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = std::max(largest, difference / (1.0 + std::abs(static_cast<double>(b[i]))));
  }
  return largest;
}

class NormGroup : public testing::TestWithParam<std::string_view> {
 protected:
  NormGroup() {
    write_data(folder_);
    data::SourceOptions source;
    source.root = folder_.path();
    source.labels = {"bright", "noise"};
    dataset_ = data::load_dataset(source);
  }
  const data::TestFolder folder_;
  data::Dataset dataset_;
};

// Bound of relative differences. Statistics are sums in double in another order: they round to the same float or its
// neighbour (6e-8). Gradients are float32 sums in another order, so such errors add up over the updates. Measured: at
// most 6e-8; with local statistics at least 3e-3.
constexpr double kOrderOfSums = 1e-6;

TEST_P(NormGroup, makes_of_ranks_the_updates_of_one_process) {
  const End one = train_rank(dataset_, GetParam(), nullptr, Statistics::Synchronised);
  EXPECT_THAT(one.plan, testing::Not(testing::HasSubstr("over ranks"))) << "one process waits for nobody";
  for (const int ranks : {2, 3, 4}) {
    const std::vector<End> ends = train_ranks(dataset_, GetParam(), ranks, Statistics::Synchronised);
    for (const End& end : ends) {
      EXPECT_THAT(end.plan, testing::HasSubstr("over ranks"));
      EXPECT_EQ(end.weights, ends[0].weights) << "bit for bit on all ranks";
      EXPECT_EQ(end.statistics, ends[0].statistics) << "running statistics, too";
    }
    EXPECT_LE(largest_difference(ends[0].weights, one.weights), kOrderOfSums) << ranks << " ranks";
    EXPECT_LE(largest_difference(ends[0].statistics, one.statistics), kOrderOfSums) << ranks << " ranks";
    EXPECT_LE(largest_difference(ends[0].losses, one.losses), kOrderOfSums) << ranks << " ranks";
    const std::vector<End> local = train_ranks(dataset_, GetParam(), ranks, Statistics::Local);
    EXPECT_GE(largest_difference(local[0].weights, one.weights), 1000.0 * kOrderOfSums) << "the bound tells them apart";
  }
}

TEST_P(NormGroup, names_the_rank_that_is_not_there) {
  dist::LocalGroup group(2);
  dist::CommThread here([&] { return group.member(0); }, std::chrono::milliseconds(100));
  try {
    static_cast<void>(train_rank(dataset_, GetParam(), &here, Statistics::Synchronised));
    FAIL();
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("batch norm "));
    EXPECT_THAT(error.what(), testing::HasSubstr("no sign of rank 1"));
  }
}

INSTANTIATE_TEST_SUITE_P(Nets, NormGroup, testing::Values(kResidual, kDense),
                         [](const auto& net) { return net.param == kDense ? "dense" : "residual"; });

TEST(NormGroupSums, are_those_of_all_ranks) {
  constexpr int kRanks = 3;
  dist::LocalGroup group(kRanks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      dist::CommThread comm([&] { return group.member(rank); }, kLimit);
      const auto norms = norm_group(Ranks(&comm));
      EXPECT_EQ(norms->ranks, kRanks);
      std::vector<double> sums{1.0 + rank, 1e300 * rank};
      norms->sum(runtime::host_span(sums), runtime::reached_event(), 7);
      EXPECT_EQ(sums, (std::vector{6.0, 3e300}));
    });
  }
  threads.clear();
  EXPECT_EQ(norm_group(Ranks(nullptr)), nullptr);
}

}  // namespace
}  // namespace roentgen::train
