// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/disk_cache.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "data/stage/loader_testing.h"
#include "data/stage/pixel_hashes.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kImages = 23;

class DiskCacheTest : public LoaderTest {
 protected:
  [[nodiscard]] DiskCacheOptions kept(std::int64_t shrunk_px = 0) const {
    return {.folder = caches_.path(),
            .preprocess = options().preprocess,
            .shrunk_px = shrunk_px,
            .reserve_bytes = std::uint64_t{1} << 20};
  }
  /// Fills a cache, closes it and returns its file.
  [[nodiscard]] std::filesystem::path filled() const {
    DiskCache cache(dataset_, kept());
    EXPECT_EQ(decoded_in_a_pass(cache), kImages);
    EXPECT_EQ(cache.kept(), kImages);
    return cache.path();
  }
  static void flip(const std::filesystem::path& path, std::int64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0x10));
  }
  /// Returns a function that decodes a sample as the loader does.
  [[nodiscard]] ImageStore::Decode decoding(std::uint32_t sample, std::atomic<int>* count = nullptr) const {
    return [this, sample, count](Image& out) {
      if (count != nullptr) ++*count;
      return SampleReader().load(dataset_.samples[sample], Channels::Gray, out);
    };
  }
  /// Runs `work` in a child process and returns its status from waitpid().
  template <typename Work>
  static int in_a_process(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

  TestFolder caches_;
};

TEST_F(DiskCacheTest, gives_the_same_bytes_when_new_and_when_full) {
  const auto plain = run(options());
  const auto evaluated = run(options(LoadMode::Evaluation));
  for (int i = 0; i < 2; ++i) {
    DiskCache cache(dataset_, kept());
    EXPECT_EQ(run(with(cache)), plain);
    EXPECT_EQ(run(with(cache, LoadMode::Evaluation)), evaluated);
    EXPECT_EQ(cache.kept(), kImages);
  }
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(decoded_in_a_pass(cache), 0);
}

TEST_F(DiskCacheTest, decodes_a_changed_file_again) {
  static_cast<void>(filled());
  std::filesystem::copy_file(dataset_.samples[3].path, dataset_.samples[4].path,
                             std::filesystem::copy_options::overwrite_existing);
  const auto plain = run(options());
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(decoded_in_a_pass(cache), 1);
  EXPECT_EQ(run(with(cache)), plain);
}

TEST_F(DiskCacheTest, rebuilds_an_image_that_was_damaged_on_the_disk) {
  const auto path = filled();
  const auto plain = run(options());
  // The last image's pixels end at the end of the file.
  flip(path, static_cast<std::int64_t>(std::filesystem::file_size(path)) - 1);
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(run(with(cache)), plain);
  EXPECT_EQ(decoded_in_a_pass(cache), 0);
  DiskCache again(dataset_, kept());
  EXPECT_EQ(decoded_in_a_pass(again), 0);
}

TEST_F(DiskCacheTest, gives_no_other_image_whatever_bit_of_a_record_is_changed) {
  const auto path = filled();
  const auto evaluated = run(options(LoadMode::Evaluation));
  constexpr std::int64_t kRecord = 4096 + 7 * 64;
  for (std::int64_t byte = 0; byte < 64; byte += 5) {
    flip(path, kRecord + byte);
    DiskCache cache(dataset_, kept());
    EXPECT_EQ(run(with(cache, LoadMode::Evaluation)), evaluated) << byte;
    EXPECT_EQ(cache.kept(), kImages);
  }
}

TEST_F(DiskCacheTest, begins_anew_where_the_header_is_of_something_else) {
  const auto path = filled();
  for (const std::int64_t byte : {0, 8, 16, 24, 32, 48}) {
    flip(path, byte);
    DiskCache cache(dataset_, kept());
    EXPECT_EQ(cache.kept(), 0) << byte;
    EXPECT_EQ(decoded_in_a_pass(cache), kImages);
  }
  std::ofstream(path, std::ios::trunc) << "short";
  EXPECT_EQ(DiskCache(dataset_, kept()).kept(), 0);
}

TEST_F(DiskCacheTest, ends_with_an_error_where_its_file_is_cut_short_while_it_is_used) {
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(decoded_in_a_pass(cache), kImages);
  Image memory;
  const StoredPicture stored = cache.get(20, ImageUse::Exact, decoding(20), memory).or_throw();
  ASSERT_TRUE(stored.is_kept);
  cache.require_intact();
  std::filesystem::resize_file(cache.path(), 5000);
  for (const std::byte pixel : stored.image.bytes()) EXPECT_EQ(pixel, std::byte{0}) << "no SIGBUS";
  const auto refusal = [&](const auto& use) { return message_of<DataError>(use); };
  const auto named = HasSubstr("[data.cache] " + cache.path().string() + ": expected ");
  EXPECT_THAT(refusal([&] { cache.require_intact(); }), named);
  EXPECT_THAT(refusal([&] { static_cast<void>(decoded_in_a_pass(cache)); }), named);
  // If another process allocates space after the new end, the file has its old length again.
  std::filesystem::resize_file(cache.path(), 1 << 20);
  EXPECT_THAT(refusal([&] { cache.require_intact(); }), named);
  EXPECT_EQ(decoded_in_a_pass(*std::make_unique<DiskCache>(dataset_, kept())), kImages) << "begun anew";
}

TEST_F(DiskCacheTest, needs_a_folder) {
  DiskCacheOptions nowhere = kept();
  nowhere.folder.clear();
  EXPECT_THAT(message_of<ConfigError>([&] { const DiskCache cache(dataset_, nowhere); }),
              HasSubstr("expected a cache folder, got no private folder; try another --cache-dir"));
}

TEST_F(DiskCacheTest, ignores_what_was_cut_off) {
  const auto path = filled();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 300);
  const auto plain = run(options());
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(run(with(cache)), plain);
}

TEST_F(DiskCacheTest, keys_what_images_depend_on) {
  DiskCacheOptions usual = kept();
  const auto key = cache_key(dataset_, usual);
  usual.preprocess.mean = {0.1};
  usual.preprocess.size_px = 64;
  EXPECT_EQ(cache_key(dataset_, usual), key);
  EXPECT_NE(cache_key(dataset_, kept(8)), key);
  usual.preprocess = with_channels(usual.preprocess, 3);
  EXPECT_NE(cache_key(dataset_, usual), key);
  Dataset other = dataset_;
  std::swap(other.samples[1], other.samples[2]);
  EXPECT_NE(cache_key(other, kept()), key);
}

TEST_F(DiskCacheTest, ignores_the_file_of_another_key) {
  static_cast<void>(filled());
  DiskCacheOptions other = kept();
  other.preprocess = with_channels(other.preprocess, 3);
  EXPECT_EQ(DiskCache(dataset_, other).kept(), 0);
}

TEST_F(DiskCacheTest, of_two_processes_decodes_each_image_once) {
  int start[2], counts[2];
  ASSERT_EQ(::pipe(start), 0);
  ASSERT_EQ(::pipe(counts), 0);
  for (int process = 0; process < 2; ++process) {
    if (::fork() != 0) continue;
    ::close(start[1]);
    char byte = 0;
    static_cast<void>(::read(start[0], &byte, 1));  // both processes start when the parent closes the pipe
    DiskCache cache(dataset_, kept());
    const std::int64_t decoded = decoded_in_a_pass(cache);
    const bool is_told = ::write(counts[1], &decoded, sizeof(decoded)) == sizeof(decoded);
    ::_exit(is_told ? 0 : 1);
  }
  ::close(start[0]);
  ::close(start[1]);
  std::int64_t sum = 0;
  for (int process = 0; process < 2; ++process) {
    int status = -1;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
    std::int64_t decoded = 0;
    ASSERT_EQ(::read(counts[0], &decoded, sizeof(decoded)), static_cast<ssize_t>(sizeof(decoded)));
    sum += decoded;
  }
  EXPECT_EQ(sum, kImages);
  EXPECT_EQ(run(with(*std::make_unique<DiskCache>(dataset_, kept()))), run(options()));
}

TEST_F(DiskCacheTest, goes_on_where_a_process_was_killed_while_it_decoded) {
  const int status = in_a_process([&] {
    DiskCache cache(dataset_, kept());
    Image memory;
    for (std::uint32_t sample = 0; sample < 9; ++sample) {
      static_cast<void>(cache.get(sample, ImageUse::Exact, decoding(sample), memory));
    }
    const auto killed = [](Image&) -> Status {
      ::raise(SIGKILL);
      return Done{};
    };
    static_cast<void>(cache.get(9, ImageUse::Exact, killed, memory));
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(cache.kept(), 9);
  EXPECT_EQ(decoded_in_a_pass(cache), kImages - 9);
  EXPECT_EQ(run(with(cache)), run(options()));
}

TEST_F(DiskCacheTest, of_many_threads_decodes_each_image_once) {
  DiskCache cache(dataset_, kept());
  std::atomic<int> decoded = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Image memory, plain;
      for (std::uint32_t sample = 0; sample < kImages; ++sample) {
        const auto got = cache.get(sample, ImageUse::Exact, decoding(sample, &decoded), memory);
        ASSERT_TRUE(got);
        ASSERT_TRUE(decoding(sample)(plain));
        EXPECT_TRUE(std::ranges::equal(got.value().image.bytes(), std::as_const(plain).bytes()));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(decoded, kImages);
}

TEST_F(DiskCacheTest, gives_up_its_claim_on_an_image_that_cannot_be_decoded) {
  DiskCache cache(dataset_, kept());
  Image memory;
  const auto broken = [](Image&) -> Status { return Failure{"broken"}; };
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(cache.get(3, ImageUse::Exact, broken, memory));
  EXPECT_TRUE(cache.get(3, ImageUse::Exact, decoding(3), memory));
  EXPECT_TRUE(cache.has(3, ImageUse::Exact));
}

TEST_F(DiskCacheTest, leaves_room_on_the_disk) {
  DiskCacheOptions options = kept();
  options.reserve_bytes = std::uint64_t{1} << 62;
  DiskCache cache(dataset_, options);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(with(cache)), run(LoaderTest::options()));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(cache.kept(), 0);
  const auto first = said.find("the others are decoded in every epoch");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("the others", first + 1), std::string::npos) << said;
}

TEST_F(DiskCacheTest, goes_on_without_where_a_write_fails) {
  const auto plain = run(options());
  const int status = in_a_process([&] {
    DiskCache cache(dataset_, kept());
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = std::filesystem::file_size(cache.path()) + 500, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool is_same = run(with(cache)) == plain;
    ::_exit(is_same && cache.kept() > 0 && cache.kept() < kImages ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  DiskCache cache(dataset_, kept());
  EXPECT_EQ(run(with(cache)), plain);
}

TEST_F(DiskCacheTest, shrinks_training_images_the_same_way_in_every_pass) {
  for (std::uint32_t sample = 0; sample < 5; ++sample) dataset_.samples[sample].split = Split::Val;
  std::vector<Seen> first;
  std::vector<std::uint64_t> hashes;
  {
    DiskCache cache(dataset_, kept(8));
    LoaderOptions wanted = with(cache);
    PixelHashes pixels(kImages);
    wanted.pixel_hashes = &pixels;
    first = run(wanted);
    for (std::uint32_t sample = 0; sample < kImages; ++sample) hashes.push_back(pixels.get(sample));
    Image memory;
    const auto small = cache.get(20, ImageUse::Training, decoding(20), memory);
    EXPECT_EQ(std::min(small.value().image.width_px(), small.value().image.height_px()), 8);
    EXPECT_EQ(cache.get(2, ImageUse::Training, decoding(2), memory).value().image.layout(),
              (ImageLayout{.width_px = 12, .height_px = 11}));
  }
  EXPECT_NE(first, run(options()));
  DiskCache full(dataset_, kept(8));
  EXPECT_EQ(run(with(full)), first);
  DiskCacheOptions no_room = kept(8);
  no_room.folder = caches_.path() / "other";
  no_room.reserve_bytes = std::uint64_t{1} << 62;
  DiskCache empty(dataset_, no_room);
  EXPECT_EQ(run(with(empty)), first);
  EXPECT_EQ(run(with(full, LoadMode::Evaluation)), run(options(LoadMode::Evaluation)));
  Image image;
  for (std::uint32_t sample = 0; sample < kImages; ++sample) {
    ASSERT_TRUE(decoding(sample)(image));
    EXPECT_EQ(hashes[sample], pixel_hash(image)) << sample;
  }
}

TEST_F(DiskCacheTest, keeps_pixels_within_segments) {
  CacheFile file(caches_.path() / "small.cache", {.key = std::string(32, '7'), .samples = 100, .segment_bytes = 65536});
  const std::vector<std::byte> pixels(40'000, std::byte{3});
  for (std::uint32_t sample = 0; sample < 100; sample += 9) {
    ASSERT_TRUE(file.put(sample, {.layout = {.width_px = 200, .height_px = 200}, .pixels = pixels}));
    const auto entry = file.find(sample);
    ASSERT_TRUE(entry);
    EXPECT_TRUE(std::ranges::equal(entry->pixels, pixels));
  }
  const std::vector<std::byte> large(65'537);
  EXPECT_THAT(file.put(1, {.layout = {.width_px = 65'537, .height_px = 1}, .pixels = large}).error(),
              HasSubstr("at most 65536 bytes"));
  EXPECT_FALSE(file.find(1));
}

TEST_F(DiskCacheTest, is_refused_in_the_data_folder_and_where_no_folder_can_be) {
  dataset_.root = folder_.path();
  DiskCacheOptions options = kept();
  options.folder = folder_.path() / "cache";
  EXPECT_THAT(message_of<ConfigError>([&] { const DiskCache cache(dataset_, options); }),
              HasSubstr("expected a folder outside the data folder"));
  EXPECT_FALSE(std::filesystem::exists(options.folder));
  options.folder = caches_.write("file", "") / "below";
  EXPECT_THAT(message_of<ConfigError>([&] { const DiskCache cache(dataset_, options); }),
              HasSubstr("expected a folder that can be created"));
}

TEST_F(DiskCacheTest, is_what_a_stage_asks_for) {
  LoaderOptions wanted = options();
  wanted.pipeline = parse_pipeline("samples | cache(where=disk) | shuffle | shard | repeat | map_and_batch | prefetch");
  EXPECT_EQ(wanted.pipeline->text(),
            "samples | cache(where=disk) | shuffle | shard | repeat | map_and_batch | prefetch");
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(run(wanted)); }), HasSubstr("a cache folder"));
  DiskCache cache(dataset_, kept());
  wanted.cache = &cache;
  EXPECT_EQ(run(wanted), run(options()));
  EXPECT_GT(cache.kept(), 0);
  EXPECT_THAT(message_of<ConfigError>(
                  [] { static_cast<void>(parse_pipeline("samples | cache(limit_mb=5, where=disk) | map_and_batch")); }),
              HasSubstr("no limit_mb"));
  EXPECT_THAT(
      message_of<ConfigError>([] { static_cast<void>(parse_pipeline("samples | map | cache(where=disk) | batch")); }),
      HasSubstr("a stage before it that yields samples"));
}

}  // namespace
}  // namespace roentgen::data
