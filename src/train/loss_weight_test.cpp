// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that an update of several batches and ranks is that of one batch with all their images. Some labels are
// unknown, and the last batch has no known label at all.
#include "train/loss_weight.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <ostream>
#include <thread>

#include "core/random.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "dist/mailbox_testing.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "train/predict.h"
#include "train/servers/parameter_server.h"
#include "train/stepper.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kRows = 12;  // of an update
constexpr std::int64_t kLabels = 3;
constexpr int kUpdates = 3;

/// Division of the rows of an update.
struct Parts {
  int ranks = 1;
  std::int64_t accumulate = 1;
  int servers = 0;
  [[nodiscard]] std::int64_t batch() const { return kRows / (ranks * accumulate); }
};

/// Loss and clipping of a test.
struct Loss {
  const char* kind = "sigmoid";
  const char* reduction = "mean_known";
  double clip_norm = 0.0;
  /// Learning rate; a sum has larger gradients than a mean.
  [[nodiscard]] double rate() const { return reduction == std::string_view("sum") ? 0.02 : 0.5; }
};
void PrintTo(const Loss& loss, std::ostream* out) {
  *out << loss.kind << "_" << loss.reduction << (loss.clip_norm > 0.0 ? "_clipped" : "");
}

std::int64_t columns_of(const Loss& loss) { return loss.kind == std::string_view("softmax") ? 1 : kLabels; }

/// Batches of one rank, with random values that depend only on the update and the row.
class Rows final : public data::BatchSource {
 public:
  Rows(engine::Executable& executable, const Loss& loss, const Parts& parts, int rank, bool are_known)
      : memory_(executable, 1, columns_of(loss)),
        loss_(loss),
        parts_(parts),
        rank_(rank),
        are_known_(are_known),
        samples_(static_cast<std::size_t>(parts.batch())) {}

  [[nodiscard]] std::optional<data::Batch> next() override {
    const data::BatchSlot slot = memory_.slots()[0];
    const std::int64_t update = batch_ / parts_.accumulate, part = batch_ % parts_.accumulate;
    ++batch_;
    const auto columns = static_cast<std::size_t>(columns_of(loss_));
    const std::span image(reinterpret_cast<float*>(slot.images.data()), slot.images.size() / sizeof(float));
    const std::size_t pixels = image.size() / samples_.size();
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::int64_t row = (rank_ * parts_.accumulate + part) * parts_.batch() + static_cast<std::int64_t>(i);
      Random random(static_cast<std::uint64_t>(update * kRows + row), RandomStage::Test);
      for (float& pixel : image.subspan(i * pixels, pixels)) pixel = static_cast<float>(random.uniform(-1.0, 1.0));
      const bool is_empty = row >= kRows - kRows / 4;  // the last rank of four has no known label
      for (std::size_t k = 0; k < columns; ++k) {
        slot.labels[i * columns + k] = static_cast<float>(random.below(columns == 1 ? kLabels : 2));
        const bool is_known = random.chance(0.6) && !is_empty;
        slot.mask[i * columns + k] = is_known || are_known_ ? 1.0F : 0.0F;
      }
    }
    return data::Batch{.slot = 0, .samples = samples_, .valid = std::ssize(samples_)};
  }
  void release(int /*slot*/) override {}

 private:
  SlotMemory memory_;
  Loss loss_;
  Parts parts_;
  std::int64_t rank_;
  bool are_known_;
  std::int64_t batch_ = 0;
  std::vector<std::uint32_t> samples_;
};

struct Trained {
  std::vector<float> weights;
  std::vector<double> losses;
  std::vector<double> norms;
};

/// Engine and executable of one rank, for `batch` rows.
struct Rank {
  Rank(const Loss& loss, const Parts& parts) : engine(engine::make_engine("cpu")) {
    const std::string net = fmt::format(
        "graph \"small\"\ninput image ({}, 1, 6, 6)\nconv1 = conv2d(image, out=8, kernel=3x3, pad=1x1)\n"
        "relu1 = relu(conv1)\npool = global_avg_pool(relu1)\nflat = flatten(pool)\nfc = linear(flat, out={})\n"
        "output logits = fc\n",
        parts.batch(), kLabels);
    const graph::Graph model = graph::with_loss(
        graph::parse_graph(net, "net").or_throw(),
        {.kind = loss.kind, .reduction = loss.reduction, .is_partial = parts.ranks * parts.accumulate > 1});
    executable = engine->compile(model, {.threads = 1, .slots = 1, .bucket_bytes = 64});
    engine::initialise(*executable, 3);
  }
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::Executable> executable;
};

Trained train(const Loss& loss, const Parts& parts, int rank, dist::CommThread* comm, bool are_known) {
  const Rank own(loss, parts);
  Rows rows(*own.executable, loss, parts, rank, are_known);
  Stepper stepper(*own.executable, {.optimizer = "sgd",
                                    .accumulate = parts.accumulate,
                                    .clip_norm = loss.clip_norm,
                                    .group = comm,
                                    .servers = {.way = parts.servers > 0 ? UpdateWay::Servers : UpdateWay::Sync,
                                                .servers = parts.servers}});
  Trained trained;
  for (int update = 0; update < kUpdates; ++update) {
    const StepRecord record = stepper.update(rows, update, loss.rate());
    trained.losses.push_back(record.loss);
    trained.norms.push_back(record.gradient_norm.value_or(0.0));
  }
  if (parts.servers > 0) stepper.servers()->end();
  trained.weights = own.executable->parameters().values();
  return trained;
}

void serve(dist::CommThread& comm, const Loss& loss, const Parts& parts) {
  const Rank own(loss, parts);
  Optimizer optimizer("sgd", engine::OptimizerRules{}, *own.executable);
  ParameterServer server(*own.executable, optimizer,
                         ranges_by_bucket(update_ranges(*own.executable, {}), own.executable->buckets()),
                         {.servers = {.way = UpdateWay::Servers, .servers = parts.servers},
                          .index = comm.rank() - comm.first_rank(),
                          .workers = comm.first_rank(),
                          .clip_norm = loss.clip_norm});
  comm.call([&](dist::Communicator& communicator) { server.serve(communicator); });
}

/// Result of rank 0.
Trained train(const Loss& loss, const Parts& parts, bool are_known = false) {
  const int all = parts.ranks + parts.servers;
  if (all == 1) return train(loss, parts, 0, nullptr, are_known);
  dist::LocalGroup group(all);
  dist::Mailboxes boxes(all);
  Trained first;
  std::vector<std::jthread> threads;
  for (int number = 0; number < all; ++number) {
    threads.emplace_back([&, number] {
      dist::CommThread comm(
          [&] { return std::make_unique<dist::MailboxMember>(boxes, group, number, static_cast<unsigned>(number)); },
          std::chrono::minutes(1), {.algorithm = "exchange"});
      if (parts.servers > 0) comm.divide(parts.servers);
      if (number >= parts.ranks) return serve(comm, loss, parts);
      Trained own = train(loss, parts, number, &comm, are_known);
      if (number == 0) first = std::move(own);
    });
  }
  threads.clear();
  return first;
}

class WeightedUpdates : public testing::TestWithParam<Loss> {};

TEST_P(WeightedUpdates, of_parts_are_those_of_one_batch) {
  const Trained whole = train(GetParam(), {});
  for (const Parts& parts : {Parts{.ranks = 2}, Parts{.ranks = 3}, Parts{.ranks = 4}, Parts{.accumulate = 4},
                             Parts{.ranks = 2, .accumulate = 3}, Parts{.ranks = 4, .servers = 1},
                             Parts{.ranks = 2, .accumulate = 2, .servers = 2}}) {
    SCOPED_TRACE(fmt::format("{} ranks, accumulate {}, {} servers", parts.ranks, parts.accumulate, parts.servers));
    const Trained got = train(GetParam(), parts);
    ASSERT_EQ(got.weights.size(), whole.weights.size());
    // Sums of 12 rows in f32, in another order, over three updates.
    for (std::size_t i = 0; i < whole.weights.size(); ++i) EXPECT_NEAR(got.weights[i], whole.weights[i], 1e-6);
    for (std::size_t i = 0; i < whole.losses.size(); ++i) {
      EXPECT_NEAR(got.losses[i], whole.losses[i], 1e-6 * std::abs(whole.losses[i]));
      EXPECT_NEAR(got.norms[i], whole.norms[i], 1e-5 * whole.norms[i]);
    }
  }
}

TEST_P(WeightedUpdates, of_ranks_have_the_bits_of_accumulated_batches) {
  // Ranks multiply by 1 / ranks, then by LossCount::factor(). The first product is exact only for powers of two.
  for (const int ranks : {2, 4}) {
    const Trained accumulated = train(GetParam(), {.accumulate = ranks});
    EXPECT_EQ(train(GetParam(), {.ranks = ranks}).weights, accumulated.weights) << ranks << " ranks";
  }
}

TEST(Updates, of_three_ranks_have_the_bits_of_accumulated_batches_if_all_labels_are_known) {
  EXPECT_EQ(train({}, {.ranks = 3}, true).weights, train({}, {.accumulate = 3}, true).weights);
}

INSTANTIATE_TEST_SUITE_P(Losses, WeightedUpdates,
                         testing::Values(Loss{}, Loss{.reduction = "mean_batch"}, Loss{.reduction = "sum"},
                                         Loss{.clip_norm = 0.05}, Loss{.reduction = "sum", .clip_norm = 0.05},
                                         Loss{.kind = "softmax"}, Loss{.kind = "softmax", .reduction = "mean_batch"}),
                         testing::PrintToStringParamName());

TEST(LossWeight, of_known_labels_is_exactly_one) {
  for (const char* const reduction : {"mean_known", "mean_batch"}) {
    const Loss loss{.reduction = reduction};
    const Parts parts{.accumulate = 3};
    const Rank own(loss, parts);
    Rows rows(*own.executable, loss, parts, 0, true);
    const LossWeight weight(*own.executable, parts.accumulate);
    LossCount count;
    for (int i = 0; i < parts.accumulate; ++i) count += weight.of(rows.next()->slot);
    EXPECT_EQ(count.factor(), 1.0) << reduction;
  }
}

TEST(LossWeight, of_no_known_label_is_one) {
  EXPECT_EQ(LossCount{}.factor(), 1.0);
  EXPECT_EQ((LossCount{.batch_divisor = 12.0, .update_divisor = 0.0}.factor()), 1.0);
}

}  // namespace
}  // namespace roentgen::train
