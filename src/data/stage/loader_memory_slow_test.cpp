// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of a loader over 20 epochs, as the system measures it. It must not exceed the plan of memory_plan.h, and must
// not grow from epochs 3-7 to the last five epochs.
#include "data/stage/disk_cache.h"
#include "data/stage/loader_testing.h"
#include "data/stage/memory_plan.h"
#include "runtime/memory.h"

namespace roentgen::data {
namespace {

constexpr std::int64_t kSide = 512;
constexpr int kCount = 24;
constexpr std::uint32_t kEpochs = 20;

class LoaderMemory : public testing::Test {
 protected:
  LoaderMemory() {
    Random random(kSeed, RandomStage::Test);
    for (int i = 0; i < kCount; ++i) {
      std::vector<std::byte> pixels(kSide * kSide);
      for (auto& pixel : pixels) pixel = static_cast<std::byte>(random.below(256));
      const auto bytes = io::encode_png({.width_px = kSide, .height_px = kSide, .pixels = pixels}, 1);
      Sample sample;
      sample.id = fmt::format("{}.png", i);
      sample.path =
          folder_.write(sample.id, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      sample.labels = {static_cast<float>(i % 2)};
      sample.split = Split::Train;
      dataset_.samples.push_back(sample);
    }
    dataset_.label_names = {"odd"};
    samples_.resize(kCount);
    std::iota(samples_.begin(), samples_.end(), 0U);
  }

  /// Runs 20 epochs and measures the memory after each.
  void expect_within_plan(std::string_view pipeline, ImageStore* store) const {
    LoaderOptions options;
    options.shard = {.batch = 6};
    options.pipeline = parse_pipeline(pipeline);
    options.workers = 2;
    options.most_readers = 4;
    options.seed = kSeed;
    options.epochs = kEpochs;
    options.preprocess.size_px = 224;
    options.augment = {.rotate_deg = 10.0, .crop_area_min = 0.5};
    options.cache = store;
    const std::uint64_t row = slot_bytes(options.preprocess, options.dtype) + 8;
    const std::uint64_t planned =
        total_bytes(memory_uses(*options.pipeline, {.samples = kCount,
                                                    .sample = largest_sample(dataset_, samples_, 1),
                                                    .batch = options.shard.batch,
                                                    .row_bytes = row,
                                                    .workers = options.workers,
                                                    .readers = options.most_readers,
                                                    .slots = 3}));
    const std::size_t before = runtime::resident_memory_bytes();
    Slots slots(3, options.shard.batch, 1, slot_bytes(options.preprocess, options.dtype));
    Loader loader(dataset_, samples_, options, slots.all());
    std::vector<std::size_t> held;
    while (const auto batch = loader.next()) {
      if (batch->epoch > held.size()) held.push_back(runtime::resident_memory_bytes());
      loader.release(batch->slot);
    }
    held.push_back(runtime::resident_memory_bytes());
    ASSERT_EQ(held.size(), kEpochs) << pipeline;
    tell(pipeline, before, planned, held);
    // Allowance for program code, thread stacks and fragmentation.
    const std::size_t own = (std::size_t{6} << 20U) + planned / 4;
    EXPECT_LE(*std::ranges::max_element(held), before + planned + own) << pipeline << ": " << planned << " planned";
    expect_no_growth(held);
  }

  /// Compares means, because the content of buffers differs from epoch to epoch.
  static void expect_no_growth(const std::vector<std::size_t>& held) {
    constexpr std::ptrdiff_t kMany = 5;
    const auto mean = [](auto first) { return std::accumulate(first, first + kMany, std::size_t{0}) / kMany; };
    EXPECT_LE(mean(held.end() - kMany), mean(held.begin() + 2) + (std::size_t{2} << 20U));
  }

  static void tell(std::string_view pipeline, std::size_t before, std::uint64_t planned,
                   const std::vector<std::size_t>& held) {
    const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
    fmt::print("{}: {:.1f} MiB planned; {:.1f} held before, at most {:.1f}, {:.1f} after epoch 3, {:.1f} after {}\n",
               pipeline, mib(planned), mib(before), mib(*std::ranges::max_element(held)), mib(held[2]),
               mib(held.back()), held.size());
  }

  TestFolder folder_, caches_;
  Dataset dataset_;
  std::vector<std::uint32_t> samples_;
};

TEST_F(LoaderMemory, of_names_stays_within_the_plan) { expect_within_plan("default", nullptr); }

TEST_F(LoaderMemory, of_buffers_of_files_stays_within_the_plan) {
  expect_within_plan(
      "files | shuffle | interleave(cycle=4, parallel=3) | prefetch(8) | shuffle(12) | repeat | map_and_batch | "
      "prefetch(1)",
      nullptr);
}

TEST_F(LoaderMemory, of_buffers_of_rows_stays_within_the_plan) {
  expect_within_plan("samples | map(parallel=3) | shuffle(20) | repeat | batch | prefetch(1)", nullptr);
}

// Mapped pages of the cache file count as resident, although the system can reclaim them. All are present after two
// epochs.
TEST_F(LoaderMemory, with_a_cache_on_the_disk_does_not_grow) {
  DiskCache cache(dataset_, {.folder = caches_.path(), .preprocess = {}, .reserve_bytes = 0});
  LoaderOptions options;
  options.shard = {.batch = 6};
  options.workers = 2;
  options.epochs = kEpochs;
  options.preprocess.size_px = 224;
  options.cache = &cache;
  const std::size_t before = runtime::resident_memory_bytes();
  Slots slots(3, 6, 1, slot_bytes(options.preprocess, options.dtype));
  Loader loader(dataset_, samples_, options, slots.all());
  std::vector<std::size_t> held;
  while (const auto batch = loader.next()) {
    if (batch->epoch > held.size()) held.push_back(runtime::resident_memory_bytes());
    loader.release(batch->slot);
  }
  held.push_back(runtime::resident_memory_bytes());
  ASSERT_EQ(held.size(), kEpochs);
  tell("default, with a cache file of 6 MiB", before, 0, held);
  expect_no_growth(held);
  EXPECT_EQ(cache.kept(), kCount);
}

}  // namespace
}  // namespace roentgen::data
