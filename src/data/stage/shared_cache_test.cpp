// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/shared_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kImages = 23;
constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kOtherKey = "0123456789abcdef0123456789abcdee";

class SharedCacheTest : public LoaderTest {
 protected:
  static CacheFileForm form(std::uint64_t most_bytes = 1 << 20) {
    return {.key = kKey, .samples = kImages, .segment_bytes = 1 << 16, .most_bytes = most_bytes};
  }
  static std::unique_ptr<SharedCache> created(std::uint64_t most_bytes = 1 << 20) {
    return SharedCache::create(form(most_bytes)).or_throw();
  }
  static std::unique_ptr<SharedCache> attached(const SharedCache& cache) {
    return SharedCache::attach(cache.location(), form()).or_throw();
  }
  [[nodiscard]] ImageStore::Decode decoding(std::uint32_t sample) const {
    return [this, sample](Image& out) { return SampleReader().load(dataset_.samples[sample], Channels::Gray, out); };
  }
  /// Gets samples [begin, end) from the store, as one process does with its share of an epoch.
  void take(ImageStore& store, std::uint32_t begin, std::uint32_t end) const {
    Image memory;
    for (std::uint32_t sample = begin; sample < end; ++sample) {
      static_cast<void>(store.get(sample, ImageUse::Training, decoding(sample), memory).or_throw());
    }
  }
  /// Runs `work` in a child process and returns its status from waitpid().
  static int in_a_process(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(SharedCacheTest, gives_the_same_bytes_when_new_and_when_full) {
  const auto plain = run(options());
  const auto evaluated = run(options(LoadMode::Evaluation));
  const auto cache = created();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(with(*cache)), plain);
    EXPECT_EQ(run(with(*cache, LoadMode::Evaluation)), evaluated);
    EXPECT_EQ(cache->kept(), kImages);
  }
  EXPECT_EQ(decoded_in_a_pass(*cache), 0);
}

TEST_F(SharedCacheTest, holds_the_images_of_all_processes) {
  const auto cache = created();
  take(*cache, 0, 10);
  const int status = in_a_process([&] {
    const auto other = attached(*cache);
    if (other->kept() != 10) ::_exit(1);
    take(*other, 5, kImages);
  });
  ASSERT_EQ(status, 0);
  EXPECT_EQ(cache->kept(), kImages);
  EXPECT_EQ(decoded_in_a_pass(*cache), 0);
  EXPECT_EQ(run(with(*cache)), run(options()));
}

TEST_F(SharedCacheTest, is_filled_by_processes_at_the_same_time) {
  const auto cache = created();
  std::vector<pid_t> children;
  for (int process = 0; process < 3; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto other = attached(*cache);
      for (int pass = 0; pass < 3; ++pass) take(*other, 0, kImages);
      ::_exit(other->kept() == kImages ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(cache->kept(), kImages);
  EXPECT_EQ(run(with(*cache)), run(options()));
}

TEST_F(SharedCacheTest, outlives_a_process_that_was_killed_while_it_filled) {
  const auto cache = created();
  const int status = in_a_process([&] {
    const auto other = attached(*cache);
    take(*other, 0, 9);
    const auto killed = [](Image&) -> Status {
      ::raise(SIGKILL);
      return Done{};
    };
    Image memory;
    static_cast<void>(other->get(9, ImageUse::Training, killed, memory));
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(cache->kept(), 9);
  EXPECT_EQ(decoded_in_a_pass(*cache), kImages - 9);
  EXPECT_EQ(run(with(*cache)), run(options()));
}

// A process can die between the reservation of an image and its last byte. Nobody then stores this image.
TEST_F(SharedCacheTest, never_gives_an_image_that_was_only_reserved) {
  const auto cache = created();
  const auto other = attached(*cache);
  std::string descriptor = cache->location();
  descriptor = descriptor.substr(descriptor.find(' ') + 1);
  CacheFile file(io::Descriptor(::dup(std::stoi(descriptor))), "test", form());
  ASSERT_TRUE(file.reserve(4));
  EXPECT_FALSE(file.reserve(4));
  EXPECT_EQ(decoded_in_a_pass(*other), kImages);
  EXPECT_EQ(decoded_in_a_pass(*cache), 1);
  EXPECT_EQ(cache->kept(), kImages - 1);
  EXPECT_EQ(run(with(*cache)), run(options()));
}

TEST_F(SharedCacheTest, ends_with_its_last_process) {
  std::string address;
  std::unique_ptr<SharedCache> other;
  {
    const auto cache = created();
    address = cache->location();
    take(*cache, 0, 5);
    other = attached(*cache);
  }
  EXPECT_EQ(other->kept(), 5) << "the memory outlives the process that created it";
  EXPECT_EQ(decoded_in_a_pass(*other), kImages - 5);
  other.reset();
  EXPECT_FALSE(SharedCache::attach(address, form()).ok());
}

TEST_F(SharedCacheTest, keeps_to_its_limit) {
  constexpr std::uint64_t kLimit = 1000;
  const auto cache = created(kLimit);
  EXPECT_EQ(run(with(*cache)), run(options()));
  const std::int64_t kept = cache->kept();
  EXPECT_GT(kept, 2);
  EXPECT_LT(kept, 10) << "images have 90 to 208 bytes, rounded up to 64";
  std::uint64_t bytes = 0;
  Image memory;
  for (std::uint32_t sample = 0; sample < kImages; ++sample) {
    if (!cache->has(sample, ImageUse::Training)) continue;
    bytes += cache->get(sample, ImageUse::Training, decoding(sample), memory).or_throw().image.layout().bytes();
  }
  EXPECT_LE(bytes, kLimit);
  const auto none = created(0);
  EXPECT_EQ(run(with(*none)), run(options()));
  EXPECT_EQ(none->kept(), 0);
}

TEST_F(SharedCacheTest, stores_small_images_after_one_that_does_not_fit) {
  const CacheFileForm wanted{.key = kKey, .samples = kImages, .segment_bytes = 1 << 16, .most_bytes = 1000};
  const auto cache = SharedCache::create(wanted).or_throw();
  const auto of = [](std::int64_t width_px) {
    return [width_px](Image& out) {
      out.reset({.width_px = width_px, .height_px = 1});
      std::ranges::fill(out.bytes(), std::byte{7});
      return Status(Done{});
    };
  };
  Image memory;
  const auto take = [&](std::uint32_t sample, std::int64_t width_px) {
    EXPECT_EQ(cache->get(sample, ImageUse::Training, of(width_px), memory).or_throw().image.width_px(), width_px);
    return cache->has(sample, ImageUse::Training);
  };
  EXPECT_FALSE(take(0, 70'000)) << "larger than a segment";
  EXPECT_FALSE(take(1, 2000)) << "larger than the memory";
  EXPECT_TRUE(take(2, 800));
  EXPECT_FALSE(take(3, 200));
  EXPECT_TRUE(take(4, 50));
  EXPECT_EQ(cache->kept(), 2);
}

TEST_F(SharedCacheTest, refuses_other_memory) {
  const auto cache = created();
  const auto error_of = [](std::string_view address, const CacheFileForm& wanted) {
    const auto result = SharedCache::attach(address, wanted);
    return result.ok() ? std::string("no error") : result.error();
  };
  EXPECT_EQ(error_of(cache->location(), form()), "no error");
  CacheFileForm other = form();
  other.key = kOtherKey;
  EXPECT_THAT(error_of(cache->location(), other), HasSubstr("expected a cache of the same images"));
  other = form();
  other.samples = kImages + 1;
  EXPECT_THAT(error_of(cache->location(), other), HasSubstr("expected a cache of the same images"));
  for (const std::string& address : {std::string(), std::string("1"), std::string("x y"), cache->location() + "1"}) {
    EXPECT_THAT(error_of(address, form()), HasSubstr("expected shared memory of another process of this machine"));
  }
  EXPECT_EQ(cache->kept(), 0);
}

TEST_F(SharedCacheTest, of_many_threads_stores_each_image_once) {
  const auto cache = created();
  const auto other = attached(*cache);  // as of another process
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        Image memory, plain;
        SharedCache& own = thread % 2 == 0 ? *cache : *other;
        for (std::uint32_t sample = 0; sample < kImages; ++sample) {
          const auto got = own.get(sample, ImageUse::Training, decoding(sample), memory);
          ASSERT_TRUE(got);
          ASSERT_TRUE(decoding(sample)(plain));
          EXPECT_TRUE(std::ranges::equal(got.value().image.bytes(), std::as_const(plain).bytes()));
        }
      });
    }
  }
  EXPECT_EQ(cache->kept(), kImages);
  EXPECT_EQ(decoded_in_a_pass(*other), 0);
}

}  // namespace
}  // namespace roentgen::data
