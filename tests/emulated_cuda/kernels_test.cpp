// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the kernels of engine/cuda on the emulated device against their formulas in double.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "engine/cuda/kernel_bits_testing.h"
#include "engine/cuda/kernel_checks_testing.h"
#include "tests/emulated_cuda/device.h"

namespace roentgen::emulated {
namespace {

using engine::cuda::NormShape;
using engine::cuda::PoolShape;
using engine::cuda::Worst;

constexpr DType kTypes[] = {DType::Bf16, DType::F16, DType::F32};
constexpr std::uint32_t kSeed = 11;

/// Two schedules of blocks and threads; results must not depend on the schedule.
constexpr DeviceOptions kOptions[] = {{}, {.order = Order::Random, .seed = 5}};

void expect_within_bounds(const Worst& worst) {
  EXPECT_LE(worst.share, 1.0) << "seed " << kSeed << ": " << worst.where;
}

/// Shapes with one row, with fewer rows than a block handles at once, with several blocks or tiles, and with channels
/// that do not fill the last tile. A device with few multiprocessors runs few blocks.
std::vector<NormShape> norm_shapes() {
  return {{.rows = 1, .channels = 8, .multiprocessors = 1},
          {.rows = 37, .channels = 64, .multiprocessors = 1},
          {.rows = 700, .channels = 72, .multiprocessors = 3},
          {.rows = 40, .channels = 1000, .multiprocessors = 1}};
}

TEST(EmulatedCuda, normalise_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (const engine::cuda::Normalise& work : engine::cuda::normalise_cases()) {
      expect_within_bounds(engine::cuda::check_normalise_values(device, work, kSeed));
    }
  }
}

TEST(EmulatedCuda, gradient_of_relu_and_bias_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (NormShape shape : norm_shapes()) {
      for (const DType type : kTypes) {
        shape.type = type;
        expect_within_bounds(engine::cuda::check_relu_bias(device, shape, kSeed));
      }
    }
  }
}

TEST(EmulatedCuda, every_kernel_matches_its_formula) {
  for (const DeviceOptions& options : kOptions) {
    for (const engine::cuda::KernelCheck& each : engine::cuda::kKernelChecks) {
      SCOPED_TRACE(each.name);
      EmulatedDevice device(options);
      expect_within_bounds(each.check(device));
    }
  }
}

/// Names of all launches in the sources of engine/cuda. Expects that each kernel has a name of its own.
std::set<std::string> kernels_in_sources() {
  const char* const root = std::getenv("ROENTGEN_SOURCE_DIR");
  const std::filesystem::path folder = std::filesystem::path(root == nullptr ? "." : root) / "src/engine/cuda";
  const std::regex launch(R"re(launch\([a-z_.*]+, "(launch of [^"]+)")re");
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cu" && entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> here;
    for (std::sregex_iterator at(text.begin(), text.end(), launch); at != std::sregex_iterator(); ++at) {
      here.insert((*at)[1]);
    }
    std::size_t kernels = 0;
    for (std::size_t at = 0; (at = text.find("\n__global__ void", at)) != std::string::npos; ++at) ++kernels;
    EXPECT_EQ(here.size(), kernels) << entry.path() << ": each kernel needs a launch with its own name";
    for (const std::string& name : here) EXPECT_TRUE(all.insert(name).second) << "two kernels have the name " << name;
  }
  return all;
}

std::set<std::string> without(std::set<std::string> all, const std::set<std::string>& others) {
  std::erase_if(all, [&](const std::string& each) { return others.contains(each); });
  return all;
}

TEST(EmulatedCuda, every_kernel_is_checked_and_hashed) {
  const std::set<std::string> kernels = kernels_in_sources();
  EXPECT_GT(kernels.size(), 30U);
  EmulatedDevice checked, hashed;
  for (const engine::cuda::KernelCheck& each : engine::cuda::kKernelChecks) static_cast<void>(each.check(checked));
  static_cast<void>(engine::cuda::kernel_bits(hashed));
  const std::set<std::string> none;
  EXPECT_EQ(without(kernels, checked.launched()), none) << "kernels without a check in kKernelChecks";
  EXPECT_EQ(without(kernels, hashed.launched()), none) << "kernels that kernel_bits() does not run";
  EXPECT_EQ(without(checked.launched(), kernels), none) << "launches that were not found in the sources";
}

TEST(EmulatedCuda, norm_forward_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (NormShape shape : norm_shapes()) {
      for (const DType type : kTypes) {
        shape.type = type;
        expect_within_bounds(engine::cuda::check_norm_forward(device, shape, kSeed));
      }
    }
  }
}

TEST(EmulatedCuda, norm_backward_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (NormShape shape : norm_shapes()) {
      for (const DType type : kTypes) {
        shape.type = type;
        expect_within_bounds(engine::cuda::check_norm_backward(device, shape, kSeed));
      }
    }
  }
}

TEST(EmulatedCuda, last_block_of_a_tile_sums_more_blocks_than_it_reads_at_once) {
  // There are 160 blocks; the last one reads 144 partial sums at once.
  EmulatedDevice device;
  const auto stream = device.make_stream();
  const NormShape shape{.rows = 7700, .channels = 64, .multiprocessors = 80};
  Worst worst;
  engine::cuda::norm_testing::check_statistics({device, *stream, shape, kSeed}, worst);
  expect_within_bounds(worst);
}

/// Lists of segments: a single one, those of a dense block, some that share a tile without filling it, and more than
/// one launch takes.
std::vector<std::vector<int>> segment_lists() {
  return {{8}, {64, 32, 32}, {16, 8, 40, 8, 24}, std::vector<int>(70, 8)};
}

TEST(EmulatedCuda, norm_of_segments_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (const std::vector<int>& channels : segment_lists()) {
      for (const DType type : kTypes) {
        for (const auto& [rows, multiprocessors] : {std::pair{1, 1}, std::pair{37, 1}, std::pair{300, 8}}) {
          if (rows > 100 && channels.size() > 10) continue;  // slow, and covers nothing new
          const NormShape shape{.type = type, .rows = rows, .multiprocessors = multiprocessors};
          expect_within_bounds(engine::cuda::check_norm_segments(device, shape, channels, kSeed));
        }
      }
    }
  }
}

TEST(EmulatedCuda, norm_pool_matches_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    for (const DType type : kTypes) {
      for (const auto& [height, width, channels] :
           {std::array{16, 12, 64}, std::array{7, 5, 8}, std::array{1, 1, 16}, std::array{2, 9, 72}}) {
        const PoolShape shape{.type = type, .images = 2, .height = height, .width = width, .channels = channels};
        expect_within_bounds(engine::cuda::check_norm_pool(device, shape, kSeed));
      }
    }
  }
}

TEST(EmulatedCuda, nan_wins_in_a_pooling_window) {
  EmulatedDevice device;
  const auto stream = device.make_stream();
  const PoolShape shape{.type = DType::F32, .images = 1, .height = 6, .width = 6, .channels = 8};
  std::vector<float> x(6 * 6 * 8, 1.0F);
  x[8 * (3 * 6 + 3)] = std::nanf("");  // row 3, column 3, channel 0, which lies in four windows
  const engine::cuda::DeviceArray<float> src(device, *stream, x), y(device, *stream, std::size_t{3 * 3 * 8});
  const engine::cuda::DeviceArray<float> scale(device, *stream, std::vector<float>(8, 1.0F));
  const engine::cuda::DeviceArray<float> shift(device, *stream, std::vector<float>(8, 0.0F));
  engine::cuda::norm_pool(*stream, shape, {.x = src.get(), .scale = scale.get(), .shift = shift.get(), .y = y.get()});
  const std::vector<float> got = y.read();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t row = i / 24, column = i / 8 % 3;
    EXPECT_EQ(std::isnan(got[i]), i % 8 == 0 && row > 0 && column > 0) << i;
  }
}

TEST(EmulatedCuda, updates_match_the_formula) {
  for (const DeviceOptions& options : kOptions) {
    EmulatedDevice device(options);
    const std::int64_t counts[] = {1, 61, engine::cuda::kPartElements, engine::cuda::kPartElements + 1, 7003, 5};
    expect_within_bounds(engine::cuda::check_updates(device, counts, kSeed));
  }
}

// Writes the hashes to FILE if ROENTGEN_WRITE_CUDA_BITS=FILE is set.
TEST(EmulatedCuda, every_order_gives_the_golden_bits) {
  const engine::cuda::KernelBits golden = engine::cuda::golden_bits();
  for (const Order order : {Order::Forward, Order::Backward, Order::Random}) {
    EmulatedDevice device({.order = order, .seed = 3});
    const engine::cuda::KernelBits bits = engine::cuda::kernel_bits(device);
    EXPECT_EQ(bits, golden);
    if (const char* const path = std::getenv("ROENTGEN_WRITE_CUDA_BITS")) {
      std::ofstream file(path);
      for (const auto& [name, hash] : bits) file << name << ',' << std::hex << hash << '\n';
    }
  }
}

}  // namespace
}  // namespace roentgen::emulated
