// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "core/error.h"
#include "data/stage/sample_reader.h"
#include "data/stage/storage.h"

namespace roentgen::doctor {
namespace {

using Clock = std::chrono::steady_clock;

/// Counts of the readers of one point.
struct Counts {
  std::atomic<std::int64_t> images = 0;
  std::atomic<std::int64_t> opens = 0;
  std::atomic<std::uint64_t> bytes = 0;
};

/// Number of the next image. Consecutive numbers lie far apart in the data set, so that a short measurement sees all
/// parts of it.
class Draw {
 public:
  explicit Draw(std::size_t images) : images_(images) {}
  [[nodiscard]] std::size_t next() {
    constexpr std::size_t kStride = 7919;  // a prime: every image is drawn once unless their number is a multiple
    return next_++ * kStride % images_;
  }

 private:
  std::size_t images_;
  std::atomic<std::size_t> next_ = 0;
};

/// Reads images until `end`.
void read_until(Clock::time_point end, const data::Dataset& dataset, const StoreTest& test, Draw& draw,
                Counts& counts) {
  data::SampleReader reader(data::FileReader::PageCache::Drop);
  while (Clock::now() < end) {
    const data::Sample& sample = dataset.samples[draw.next()];
    const auto bytes = reader.read(sample).or_throw<DataError>();
    if (reader.has_opened()) {
      if (test.storage != nullptr) test.storage->open();
      ++counts.opens;
    }
    if (test.storage != nullptr) test.storage->read(bytes.size());
    ++counts.images;
    counts.bytes += bytes.size();
  }
}

StorePoint measure_point(const data::Dataset& dataset, const StoreTest& test, int readers, Draw& draw, Counts& all) {
  Counts counts;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(readers));
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(test.point_s));
  {
    std::vector<std::jthread> threads;
    for (std::exception_ptr& failure : failures) {
      threads.emplace_back([&] {
        try {
          read_until(end, dataset, test, draw, counts);
        } catch (...) {
          failure = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  all.images += counts.images;
  all.opens += counts.opens;
  all.bytes += counts.bytes;
  return {.readers = readers,
          .images_per_s = static_cast<double>(counts.images) / seconds,
          .opens_per_s = static_cast<double>(counts.opens) / seconds,
          .bytes_per_s = static_cast<double>(counts.bytes) / seconds};
}

}  // namespace

const StorePoint& StoreSpeed::best() const { return *std::ranges::max_element(points, {}, &StorePoint::images_per_s); }

StoreSpeed measure_store(const data::Dataset& dataset, const StoreTest& test) {
  if (dataset.samples.empty()) {
    throw ConfigError(error_text("doctor.io", "DIR", "images", "none", "a folder with images or record files"));
  }
  RG_ASSERT(test.most_readers >= 1);
  StoreSpeed speed;
  Draw draw(dataset.samples.size());
  Counts all;
  for (int readers = 1;; readers = std::min(2 * readers, test.most_readers)) {
    if (test.on_point) test.on_point(readers);
    speed.points.push_back(measure_point(dataset, test, readers, draw, all));
    if (readers == test.most_readers) break;
  }
  speed.image_bytes = static_cast<double>(all.bytes) / static_cast<double>(all.images);
  speed.opens_per_image = static_cast<double>(all.opens) / static_cast<double>(all.images);
  return speed;
}

std::vector<std::string> store_remedies(const InputSpeed& speed, double needed_per_s, std::string_view file_system,
                                        bool are_files_of_one_image) {
  std::vector<std::string> remedies;
  if (speed.storage_per_s < needed_per_s) {
    remedies.emplace_back("roentgen copy-local DIR FOLDER, a folder on a local disk");
    if (are_files_of_one_image)
      remedies.emplace_back("roentgen convert DIR RECORDS --to tfrecord: fewer files to open");
    if (file_system == "lustre") {
      // Small files fit on one storage target, where further stripes only add requests. Large ones need all targets.
      remedies.emplace_back(are_files_of_one_image
                                ? "lfs setstripe -c 1 DIR, before the files are copied there"
                                : "lfs setstripe -c -1 -S 4M DIR, before the files are copied there");
    }
  }
  if (speed.decode_per_s < needed_per_s) {
    remedies.emplace_back("--set train.cache=disk: images are decoded once");
    remedies.emplace_back("roentgen convert DIR RECORDS --to tfrecord --encode raw: images need no decoding");
  }
  return remedies;
}

Value to_value(const std::vector<StorePoint>& points) {
  Value array = Value::array();
  for (const StorePoint& point : points) {
    array.push_back(Value::Table{{"readers", point.readers},
                                 {"images_per_s", point.images_per_s},
                                 {"opens_per_s", point.opens_per_s},
                                 {"mb_per_s", point.bytes_per_s * 1e-6}});
  }
  return array;
}

}  // namespace roentgen::doctor
