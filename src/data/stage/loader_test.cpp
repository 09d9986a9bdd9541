// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The loader: content of batches, which must not depend on threads, ranks, caches and resuming.
#include "data/stage/loader.h"

#include "core/error.h"
#include "data/stage/image_cache.h"
#include "data/stage/loader_testing.h"
#include "data/stage/order_testing.h"
#include "data/stage/sample_loader.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

TEST_F(LoaderTest, gives_the_order_of_each_epoch) {
  const auto seen = run(options());
  ASSERT_EQ(seen.size(), 8U);
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = shuffled_order(23, kSeed, epoch);
    for (std::int64_t step = 0; step < 4; ++step) {
      const auto& batch = seen[epoch * 4 + static_cast<std::size_t>(step)];
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_EQ(batch.index, step);
      EXPECT_EQ(batch.samples, batch_samples(order, step, options().shard));
    }
  }
}

TEST_F(LoaderTest, fills_rows_as_one_sample_alone) {
  auto wanted = options();
  wanted.epochs = 1;
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  const auto batch = loader.next();
  SampleLoader alone(dataset_, wanted);
  const std::size_t row_bytes = slot_bytes(wanted.preprocess, DType::F32);
  runtime::AlignedBuffer expected(row_bytes);
  for (std::size_t row = 0; row < 5; ++row) {
    const std::string& id = dataset_.samples[batch->samples[row]].id;
    const AugmentDraw distortion = draw(wanted.augment, {.seed = kSeed, .epoch = 0, .id = id});
    ASSERT_TRUE(alone.load(batch->samples[row], &distortion, {.bytes = expected.bytes().first(row_bytes)}));
    EXPECT_TRUE(
        std::equal(expected.data(), expected.data() + row_bytes, slots.images(batch->slot).data() + row * row_bytes));
  }
}

TEST_F(LoaderTest, masks_unknown_labels) {
  const auto wanted = options(LoadMode::Evaluation);
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  const auto batch = loader.next();
  EXPECT_THAT(slots.labels(batch->slot), testing::ElementsAre(1, 0, 0, 0, 1, 0, 0, 1, 1, 0));
  EXPECT_THAT(slots.mask(batch->slot), testing::ElementsAre(1, 1, 1, 0, 1, 0, 1, 1, 1, 0));
}

TEST_F(LoaderTest, gives_the_same_bytes_with_any_number_of_workers_and_slots) {
  auto wanted = options();
  wanted.workers = 1;
  const auto one = run(wanted, 1);
  wanted.workers = 4;
  EXPECT_EQ(run(wanted, 2), one);
  wanted.workers = 16;
  EXPECT_EQ(run(wanted, 8), one);
}

TEST_F(LoaderTest, augments_otherwise_in_each_epoch) {
  auto wanted = options();
  wanted.shard.batch = 23;
  const auto seen = run(wanted);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NE(seen[0].hash, seen[1].hash);
}

TEST_F(LoaderTest, neither_shuffles_nor_augments_in_evaluation) {
  auto wanted = options(LoadMode::Evaluation);
  const auto seen = run(wanted);
  EXPECT_THAT(seen[0].samples, testing::ElementsAre(0, 1, 2, 3, 4));
  wanted.augment = {};
  wanted.seed = kSeed + 1;
  EXPECT_EQ(run(wanted), seen);
}

TEST_F(LoaderTest, pads_the_last_batch_with_zeros) {
  const auto wanted = options(LoadMode::Evaluation);
  Slots slots = slots_for(wanted, 1);
  Loader loader(dataset_, everything(), wanted, slots.all());
  std::optional<Batch> batch;
  for (int i = 0; i < 5; ++i) {
    if (i > 0) loader.release(0);
    batch = loader.next();
  }
  EXPECT_EQ(batch->valid, 3);
  const std::size_t row_bytes = slot_bytes(wanted.preprocess, DType::F32);
  EXPECT_TRUE(std::all_of(slots.images(0).begin() + static_cast<std::ptrdiff_t>(3 * row_bytes), slots.images(0).end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  for (std::size_t i = 6; i < 10; ++i) {
    EXPECT_EQ(slots.mask(0)[i], 0.0F);
    EXPECT_EQ(slots.labels(0)[i], 0.0F);
  }
}

TEST_F(LoaderTest, resumes_at_any_batch) {
  const auto whole = run(options());
  for (const LoaderPosition start : {LoaderPosition{0, 3}, LoaderPosition{1, 0}, LoaderPosition{1, 2}}) {
    auto wanted = options();
    wanted.start = start;
    const auto first = static_cast<std::ptrdiff_t>(start.epoch * 4 + start.batch);
    EXPECT_EQ(run(wanted), std::vector<Seen>(whole.begin() + first, whole.end()));
  }
}

TEST_F(LoaderTest, tells_the_position_to_resume_at) {
  const auto wanted = options();
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  EXPECT_EQ(loader.steps_per_epoch(), 4);
  for (const LoaderPosition expected :
       {LoaderPosition{0, 1}, LoaderPosition{0, 2}, LoaderPosition{0, 3}, LoaderPosition{1, 0}}) {
    const auto batch = loader.next();
    loader.release(batch->slot);
    EXPECT_EQ(loader.position(), expected);
  }
}

TEST_F(LoaderTest, shares_the_global_batch_among_ranks) {
  auto alone = options();
  alone.shard.batch = 6;
  const auto whole = run(alone);
  for (int rank = 0; rank < 3; ++rank) {
    auto wanted = options();
    wanted.shard = {.batch = 2, .tail = Tail::Drop, .rank = rank, .ranks = 3};
    const auto part = run(wanted);
    ASSERT_EQ(part.size(), whole.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(part[i].samples, std::vector<std::uint32_t>(whole[i].samples.begin() + rank * 2,
                                                            whole[i].samples.begin() + rank * 2 + 2));
    }
  }
}

TEST_F(LoaderTest, gives_the_same_bytes_from_a_cache) {
  const auto plain = run(options());
  ImageCache cache(23, 1 << 20);
  auto wanted = options();
  wanted.cache = &cache;
  EXPECT_EQ(run(wanted), plain);
  EXPECT_GT(cache.bytes(), 0U);
  EXPECT_EQ(run(wanted), plain);
}

TEST_F(LoaderTest, keeps_within_the_budget_of_a_cache) {
  const auto plain = run(options());
  ImageCache cache(23, 500);
  auto wanted = options();
  wanted.cache = &cache;
  EXPECT_EQ(run(wanted), plain);
  EXPECT_LE(cache.bytes(), 500U);
  EXPECT_GT(cache.bytes(), 300U);
}

TEST_F(LoaderTest, fills_slots_of_8_and_16_bits) {
  for (const DType dtype : {DType::U8, DType::U16}) {
    auto wanted = options();
    wanted.dtype = dtype;
    const auto one = run(wanted);
    wanted.workers = 4;
    EXPECT_EQ(run(wanted), one);
  }
}

TEST_F(LoaderTest, never_ends_without_a_number_of_epochs) {
  auto wanted = options();
  wanted.epochs = 0;
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  for (int i = 0; i < 9; ++i) loader.release(loader.next()->slot);
  EXPECT_EQ(loader.position(), (LoaderPosition{2, 1}));
}

TEST_F(LoaderTest, stops_while_workers_have_work_left) {
  auto wanted = options();
  wanted.epochs = 0;
  Slots slots = slots_for(wanted, 8);
  for (int i = 0; i < 20; ++i) {
    const Loader loader(dataset_, everything(), wanted, slots.all());
  }
}

TEST_F(LoaderTest, counts_what_it_does) {
  const auto wanted = options(LoadMode::Evaluation);
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  while (const auto batch = loader.next()) loader.release(batch->slot);
  const auto stats = loader.stats();
  EXPECT_EQ(stats.samples, 23);
  EXPECT_GT(stats.read_bytes, 23U * 57U);  // no PNG is smaller than 57 bytes
  EXPECT_GT(stats.decode_s, 0.0);
  EXPECT_EQ(stats.bad, 0);
}

TEST_F(LoaderTest, gives_class_indices) {
  for (auto& sample : dataset_.samples) sample.labels[1] = 1.0F - sample.labels[0];
  dataset_.samples[1].labels = {std::nanf(""), 0.0F};
  auto wanted = options(LoadMode::Evaluation);
  wanted.label_form = LabelForm::ClassIndex;
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  const auto batch = loader.next();
  EXPECT_THAT(slots.labels(batch->slot), testing::ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(slots.mask(batch->slot), testing::ElementsAre(1, 0, 1, 1, 1));
}

TEST_F(LoaderTest, refuses_class_indices_of_several_positives) {
  dataset_.samples[2].labels = {1.0F, 1.0F};
  auto wanted = options();
  wanted.label_form = LabelForm::ClassIndex;
  Slots slots = slots_for(wanted);
  EXPECT_THAT(message_of<DataError>([&] { const Loader loader(dataset_, everything(), wanted, slots.all()); }),
              HasSubstr("exactly one positive class"));
}

TEST_F(LoaderTest, says_when_the_caller_holds_every_slot) {
  const auto wanted = options();
  Slots slots = slots_for(wanted, 2);
  Loader loader(dataset_, everything(), wanted, slots.all());
  static_cast<void>(loader.next());
  static_cast<void>(loader.next());
  EXPECT_THROW(static_cast<void>(loader.next()), std::logic_error);
}

TEST_F(LoaderTest, refuses_options_that_cannot_be) {
  const auto refusal = [&](LoaderOptions wanted, std::vector<std::uint32_t> samples) {
    Slots slots = slots_for(options());
    return message_of<ConfigError>([&] { const Loader loader(dataset_, samples, wanted, slots.all()); });
  };
  auto wanted = options();
  EXPECT_THAT(refusal(wanted, {}), HasSubstr("images: expected at least 1"));
  EXPECT_THAT(refusal(wanted, {0, 1, 2}), HasSubstr("one batch of 5 images, got 3"));
  wanted.workers = 0;
  EXPECT_THAT(refusal(wanted, everything()), HasSubstr("workers"));
  wanted = options();
  wanted.shard.batch = 0;
  EXPECT_THAT(refusal(wanted, everything()), HasSubstr("batch"));
  wanted = options();
  wanted.start = {.epoch = 0, .batch = 4};
  EXPECT_THAT(refusal(wanted, everything()), HasSubstr("start"));
}

TEST_F(LoaderTest, refuses_slots_of_another_size) {
  auto wanted = options();
  Slots slots = slots_for(wanted);
  wanted.dtype = DType::U8;
  EXPECT_THAT(message_of<ShapeError>([&] { const Loader loader(dataset_, everything(), wanted, slots.all()); }),
              HasSubstr("720 bytes, 10 labels and 10 label masks, got 2880"));
}

}  // namespace
}  // namespace roentgen::data
