// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests runs of several ranks, each a thread of this process.
#include "train/ranks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "core/error.h"
#include "data/stage/pixel_hashes.h"
#include "data/transform/preprocess.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "graph/loss.h"
#include "io/file.h"
#include "train/ema.h"
#include "train/predict.h"
#include "train/ranks_testing.h"
#include "train/trainer_testing.h"
#include "train/training_ranks_testing.h"

namespace roentgen::train {
namespace {

using testing::HasSubstr;

TEST_F(RanksOfARun, make_what_one_makes_of_the_same_global_batch) {
  run("one");
  for (const int ranks : {1, 2, 4}) {
    const std::string name = std::to_string(ranks);
    expect_none(run_ranks(ranks, 8 / ranks, name));
    EXPECT_EQ(resume_of(name).state.step, resume_of("one").state.step);
    expect_close_end(resume_of(name), resume_of("one"));
    for (const TrainOutcome& outcome : outcomes_) {
      EXPECT_TRUE(outcome.is_finished);
      EXPECT_EQ(outcome.images, 4 * 32) << "images of all ranks";
      EXPECT_EQ(outcome.best_epoch, outcomes_[0].best_epoch);
    }
  }
}

TEST_F(RanksOfARun, of_three_make_it_too) {
  recipe_.train.batch = 6;
  run("one");
  expect_none(run_ranks(3, 2, "three"));
  EXPECT_EQ(resume_of("three").state.step, resume_of("one").state.step);
  expect_close_end(resume_of("three"), resume_of("one"));
}

TEST_F(RanksOfARun, make_it_with_accumulation_clipping_and_averages_too) {
  recipe_.train.accumulate = 2;
  recipe_.train.clip_norm = 0.05;
  recipe_.train.ema = 0.9;
  run("one");
  expect_none(run_ranks(2, 4, "two"));
  expect_close_end(resume_of("two"), resume_of("one"));
  ASSERT_EQ(resume_of("two").ema.size(), 2U);
  for (std::size_t k = 0; k < resume_of("one").ema[0].values.size(); ++k) {
    EXPECT_NEAR(resume_of("two").ema[0].values[k], resume_of("one").ema[0].values[k], 1e-5F);
  }
}

TEST_F(RanksOfARun, make_it_with_rates_by_layer_that_grow_with_the_batch) {
  recipe_.optimizer.name = "lars";
  std::get<engine::Lars>(recipe_.optimizer.rules).trust = 0.1;
  recipe_.optimizer.lr = 0.5;
  recipe_.optimizer.lr_batch = 4;  // doubles the rate, because an update has 8 images
  run("one");
  expect_none(run_ranks(4, 2, "four"));
  expect_close_end(resume_of("four"), resume_of("one"));
  EXPECT_THAT(io::read_text(RunFolder(out_.path() / "four").log()).or_throw(), HasSubstr("\"lr\":1.0"));
}

TEST_F(RanksOfARun, leave_the_files_of_one_run) {
  expect_none(run_ranks(2, 4, "two"));
  const RunFolder folder(out_.path() / "two");
  const std::string log = io::read_text(folder.log()).or_throw();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4 * 4 + 4);
  EXPECT_THAT(log, HasSubstr("\"comm_exposed\":"));
  EXPECT_THAT(log, HasSubstr("\"imbalance\":"));
  EXPECT_THAT(io::read_text(folder.aurocs()).or_throw(), testing::StartsWith("label,auc\nbright,"));
  EXPECT_EQ(resume_of("two").info.training_pixels.size(), 32U) << "of all ranks";
}

TEST_F(RanksOfARun, stop_and_go_on_to_the_same_bits) {
  expect_none(run_ranks(2, 4, "whole"));
  expect_none(run_ranks(2, 4, "parts", Start::Fresh, 6));
  EXPECT_EQ(resume_of("parts").state.step, 6);
  expect_none(run_ranks(2, 4, "parts", Start::Resume, 9));
  expect_none(run_ranks(2, 4, "parts", Start::Resume));
  expect_same_end(resume_of("parts"), resume_of("whole"));
}

TEST_F(RanksOfARun, go_on_as_more_or_fewer_with_the_same_global_batch) {
  run("whole");
  expect_none(run_ranks(2, 4, "parts", Start::Fresh, 5));
  expect_none(run_ranks(4, 2, "parts", Start::Resume, 6));
  expect_none(run_ranks(1, 8, "parts", Start::Resume, 7));
  expect_none(run_ranks(2, 4, "parts", Start::Resume));
  EXPECT_EQ(resume_of("parts").state.step, resume_of("whole").state.step);
  expect_close_end(resume_of("parts"), resume_of("whole"));
}

TEST_F(RanksOfARun, go_on_as_fewer_with_the_images_that_none_has_had) {
  expect_none(run_ranks(2, 4, "parts", Start::Fresh, 1));  // uses 8 of 32 images
  expect_none(run_ranks(1, 4, "parts", Start::Resume, 3));
  EXPECT_EQ(resume_of("parts").state.epoch, 0);
  expect_none(run_ranks(1, 4, "parts", Start::Resume));
  EXPECT_EQ(resume_of("parts").state.step, 1 + 24 / 4 + 3 * 32 / 4);
  EXPECT_EQ(resume_of("parts").info.training_pixels.size(), 32U);
}

TEST_F(RanksOfARun, go_on_as_more_where_too_few_images_for_an_update_are_left) {
  recipe_.train.accumulate = 2;
  for (const char* name : {"whole", "parts"}) {
    expect_none(run_ranks(2, 1, name, Start::Fresh, 7));  // uses 28 of 32 images; an update of 3 ranks takes 6
  }
  expect_none(run_ranks(3, 1, "whole", Start::Resume, 12));
  expect_none(run_ranks(3, 1, "parts", Start::Resume, 9));
  expect_none(run_ranks(3, 1, "parts", Start::Resume, 12));
  EXPECT_EQ(resume_of("parts").state.epoch, 2) << "3 ranks have 5 updates per epoch";
  expect_same_end(resume_of("parts"), resume_of("whole"));
}

TEST_F(RanksOfARun, count_and_name_the_unreadable_images_of_all) {
  recipe_.train.max_bad = 0.2;  // tolerates 6.4 of 32 images
  const std::vector<std::string> bad{"img02.png", "img09.png", "img15.png", "img20.png"};
  for (const std::string& name : bad) data_.write(name, "no image");
  expect_none(run_ranks(4, 2, "four", Start::Fresh, 4));  // one epoch
  const RunFolder folder(out_.path() / "four");
  EXPECT_THAT(resume_of("four").state.bad_samples, testing::SizeIs(4));
  EXPECT_THAT(io::read_text(folder.log()).or_throw(), HasSubstr("\"bad_images\":4"));
  const std::string named = io::read_text(folder.quarantine()).or_throw();
  for (const std::string& name : bad) EXPECT_THAT(named, HasSubstr(name));
  EXPECT_EQ(std::count(named.begin(), named.end(), '\n'), 5) << "each once: " << named;
}

TEST_F(RanksOfARun, stop_together_at_more_unreadable_images_than_are_borne) {
  recipe_.train.max_bad = 0.1;  // tolerates 3.2 of 32 images, more than any single rank meets
  for (const char* name : {"img02.png", "img09.png", "img15.png", "img20.png"}) data_.write(name, "no image");
  for (const auto& error : run_ranks(4, 2, "four"))
    EXPECT_THAT(text_of(error), HasSubstr("at most 10% of the images, got 4 of 32"));
}

TEST_F(RanksOfARun, refuse_another_batch_on_resume_that_is_not_the_same_update) {
  expect_none(run_ranks(2, 4, "parts", Start::Fresh, 1));
  const auto errors = run_ranks(2, 8, "parts", Start::Resume, 0, {}, std::chrono::milliseconds{300});
  EXPECT_THAT(text_of(errors[0]),
              HasSubstr("train.batch: expected 4 on 2 ranks, together 8 images per update, as before, got 8"));
}

TEST_F(RanksOfARun, refuse_a_batch_that_they_cannot_all_fill) {
  const auto errors = run_ranks(2, 17, "large", Start::Fresh, 0, {}, std::chrono::milliseconds{300});
  EXPECT_THAT(
      text_of(errors[0]),
      HasSubstr("train.batch: expected at least one full batch per rank, with 2 ranks and 32 training images, got 17"));
}

TEST_F(RanksOfARun, stop_together_when_one_is_asked_to) {
  expect_none(run_ranks(2, 4, "stopped", Start::Fresh, 0,
                        [](int rank, TrainJob& job) { job.is_stop_asked = [rank] { return rank == 1; }; }));
  for (const TrainOutcome& outcome : outcomes_) {
    EXPECT_FALSE(outcome.is_finished);
    EXPECT_EQ(outcome.step, 1);
  }
  EXPECT_EQ(resume_of("stopped").state.step, 1);
}

TEST_F(RanksOfARun, stop_together_on_a_loss_that_is_not_finite_on_one) {
  ReferenceEngine poisoned;
  poisoned.form.makes_nan_loss = true;
  // A job refers to its engine, so a new engine is created.
  recipe_.train.batch = 4;
  const RunFolder folder(out_.path() / "nan");
  folder.create_new();
  const auto errors = as_ranks(2, [&](dist::CommThread& comm) {
    const data::Dataset dataset = load();
    const graph::Graph model = flat_model(4, kSizePx, 2);
    ReferenceEngine sound;
    const RunFolder out(out_.path() / "nan");
    static_cast<void>(train({.recipe = recipe_,
                             .dataset = dataset,
                             .model = model,
                             .engine = comm.rank() == 1 ? poisoned : sound,
                             .folder = out,
                             .observers = {},
                             .is_stop_asked = {},
                             .group = &comm}));
  });
  for (const auto& error : errors) EXPECT_THAT(text_of(error), HasSubstr("step 1: expected a finite loss, got nan"));
}

TEST_F(RanksOfARun, predict_as_one_to_the_last_digit) {
  const data::Dataset dataset = load();
  std::vector<std::uint32_t> samples(dataset.samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint32_t>(i);
  const graph::Graph model = graph::with_loss(flat_model(5, kSizePx, 2), {});
  const auto predicted = [&](const Ranks& ranks) {
    ReferenceExecutable executable(model, {.slots = 2});
    engine::initialise(executable, 3);
    PredictOptions options{.preprocess = recipe_.preprocess};
    options.views = {data::AugmentDraw{}, data::AugmentDraw{.zoom = 1.25}};
    return predict(ranks, executable, dataset, samples, options);
  };
  const PredictResult one = predicted(Ranks(nullptr));
  for (const int size : {2, 3, 12}) {  // with 12, some ranks get none of the 10 batches
    expect_none(as_ranks(size, [&](dist::CommThread& comm) {
      const PredictResult shared = predicted(Ranks(&comm));
      EXPECT_EQ(shared.predictions.probabilities, one.predictions.probabilities);
      EXPECT_EQ(shared.predictions.image_ids, one.predictions.image_ids);
      EXPECT_EQ(shared.loss, one.loss);
    }));
  }
}

TEST(RanksTogether, give_each_other_texts_and_numbers) {
  expect_none(as_ranks(3, [](dist::CommThread& comm) {
    const Ranks ranks(&comm);
    EXPECT_EQ(ranks.broadcast("of " + std::to_string(comm.rank()), {.name = "test"}), "of 0");
    const std::string own(static_cast<std::size_t>(comm.rank()), 'x');
    EXPECT_EQ(ranks.gather(own, {.name = "test"}), (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(ranks.gather("", {.name = "test"}), std::vector<std::string>(3));
    std::vector<float> values{static_cast<float>(comm.rank()), 4.0F};
    ranks.average(values, {.name = "test"});
    EXPECT_EQ(values, (std::vector<float>{1.0F, 4.0F}));
  }));
}

TEST(RanksTogether, have_the_hashes_of_all) {
  const std::vector<std::uint32_t> samples{4, 0, 2, 3};
  for (const std::size_t most_at_once : {1U, 9U, 1000U}) {  // 1, 3 and all samples at once
    expect_none(as_ranks(3, [&](dist::CommThread& comm) {
      data::PixelHashes hashes(5);
      hashes.set(samples[static_cast<std::size_t>(comm.rank())], 70U + comm.rank());
      hashes.set(1, 9U + comm.rank());  // hash of a sample that is not exchanged
      unite_hashes(Ranks(&comm), samples, hashes, most_at_once);
      EXPECT_EQ(hashes.get(4), 70U);
      EXPECT_EQ(hashes.get(0), 71U);
      EXPECT_EQ(hashes.get(2), 72U);
      EXPECT_EQ(hashes.get(3), 0U) << "blank";
      EXPECT_EQ(hashes.get(1), 9U + comm.rank());
    }));
  }
}

TEST(RanksTogether, give_the_first_their_values_in_pieces) {
  for (const std::size_t most_at_once : {1U, 9U, 1000U}) {  // 1, 3 and all values of a rank at once
    expect_none(as_ranks(3, [&](dist::CommThread& comm) {
      const std::vector<std::uint64_t> own(static_cast<std::size_t>(comm.rank()) * 4, 70U + comm.rank());
      std::vector<std::uint64_t> all = gather_on_first(Ranks(&comm), own, {.name = "test"}, most_at_once);
      std::ranges::sort(all);
      if (comm.rank() != 0) {
        EXPECT_TRUE(all.empty());
        return;
      }
      EXPECT_EQ(all, (std::vector<std::uint64_t>{71, 71, 71, 71, 72, 72, 72, 72, 72, 72, 72, 72}));
    }));
  }
  EXPECT_EQ(gather_on_first(Ranks(nullptr), std::vector<std::uint64_t>{3, 2}, {.name = "test"}),
            (std::vector<std::uint64_t>{3, 2}));
}

TEST(RanksTogether, average_figures_in_full_whatever_gradients_travel_as) {
  dist::LocalGroup group(2);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      // LocalGroup supports no messages, which bf16 needs: reducing these values in bf16 would fail.
      dist::CommThread comm([&] { return group.member(rank); }, kLimit, {.wire = "bf16"});
      std::vector<float> values{1.0009765625F};  // bf16 would round it to 1
      Ranks(&comm).average(values, {.name = "test"});
      EXPECT_EQ(values[0], 1.0009765625F);
    });
  }
}

TEST(RanksTogether, name_those_whose_weights_differ) {
  for (const int astray : {0, 2}) {
    const auto errors = as_ranks(3, [&](dist::CommThread& comm) {
      ReferenceExecutable executable(graph::with_loss(flat_model(2, kSizePx, 2), {}), {.slots = 1});
      engine::initialise(executable, 1);
      const Ranks ranks(&comm);
      require_equal_weights(ranks, executable, 100);
      if (comm.rank() == astray) {
        const float other = executable.parameters().values()[5] + 1e-6F;
        executable.parameters().upload(5, {&other, 1});
      }
      require_equal_weights(ranks, executable, 200);
    });
    for (const auto& error : errors) {
      EXPECT_THAT(text_of(error),
                  HasSubstr(fmt::format("weights after step 200: expected equal weights on all ranks, got "
                                        "different weights on rank {} (",
                                        astray)));
    }
  }
}

TEST(OddRanks, are_those_that_most_do_not_agree_with) {
  using Hashes = std::vector<std::uint64_t>;
  EXPECT_THAT(odd_ranks(Hashes{7, 7, 7}), testing::IsEmpty());
  EXPECT_THAT(odd_ranks(Hashes{8, 7, 7}), testing::ElementsAre(0));
  EXPECT_THAT(odd_ranks(Hashes{7, 8, 7, 9, 7}), testing::ElementsAre(1, 3));
  EXPECT_THAT(odd_ranks(Hashes{7, 8}), testing::ElementsAre(0, 1)) << "nobody knows which";
}

}  // namespace
}  // namespace roentgen::train
