// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {
namespace {
// Smallest number of floats for which it is worth waking a thread.
constexpr std::int64_t kGrain = 8192;
constexpr std::size_t kMostTerms = 64;

template <typename T>
class Sum final : public Kernel {
 public:
  Sum(std::vector<TensorId> terms, TensorId sum, std::int64_t count)
      : terms_(std::move(terms)), sum_(sum), count_(count), sources_(terms_.size()) {}
  void bind(const Addresses& addresses) override {
    for (std::size_t i = 0; i < terms_.size(); ++i) sources_[i] = addresses.at<T>(terms_[i]);
    target_ = addresses.at<T>(sum_);
  }
  void run() override {
    parallel_ranges(omp_get_max_threads(), count_, kGrain, [this](std::int64_t begin, std::int64_t end) {
      std::array<const T*, kMostTerms> here{};
      const std::size_t terms = std::min(sources_.size(), kMostTerms);
      for (std::size_t i = 0; i < terms; ++i) here[i] = sources_[i] + begin;
      simd::sum_arrays(std::span<const T* const>(here.data(), terms), target_ + begin, end - begin);
      for (std::size_t i = terms; i < sources_.size(); ++i) {
        const std::array<const T*, 2> two{target_ + begin, sources_[i] + begin};
        simd::sum_arrays(std::span<const T* const>(two), target_ + begin, end - begin);
      }
    });
  }

 private:
  std::vector<TensorId> terms_;
  TensorId sum_;
  std::int64_t count_;
  std::vector<const T*> sources_;
  T* target_ = nullptr;
};

// Calls body(begin, end) for each thread's share of `count` elements.
template <typename Body>
void for_shares(std::int64_t count, const Body& body) {
  parallel_ranges(omp_get_max_threads(), count, kGrain, body);
}

template <typename T>
std::unique_ptr<Kernel> flat(FlatLoop<T> loop, TensorId a, TensorId b, const Located& dst) {
  const std::int64_t count = stored_elements(dst.shape, dst.layout);
  return make_kernel([=, to = dst.tensor](const Addresses& at) {
    return [=, first = at.at<T>(a), second = b >= 0 ? at.at<T>(b) : nullptr, target = at.at<T>(to)] {
      for_shares(count, [&](std::int64_t begin, std::int64_t end) {
        loop(first + begin, second == nullptr ? nullptr : second + begin, target + begin, end - begin);
      });
    };
  });
}

// Returns the kernel that converts `from` to the element type of `to`.
template <typename From, typename To>
std::unique_ptr<Kernel> convert(TensorId from, TensorId to, std::int64_t count) {
  return make_kernel([=](const Addresses& at) {
    return [=, source = at.at<From>(from), target = at.at<To>(to)] {
      for_shares(count, [&](std::int64_t begin, std::int64_t end) {
        simd::convert(source + begin, target + begin, end - begin);
      });
    };
  });
}

template <typename Pixel>
std::unique_ptr<Kernel> normalise(const Located& from, const Located& to, std::vector<PixelScale> scales) {
  const std::int64_t area = pixels(to.shape), planes = to.shape[0] * to.shape[1];
  return make_kernel([=, scales = std::move(scales)](const Addresses& at) {
    return [=, scales = std::span(scales), source = at.at<Pixel>(from.tensor), target = at.f32(to.tensor)] {
      parallel_ranges(omp_get_max_threads(), planes, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const PixelScale& channel = scales[static_cast<std::size_t>(plane) % scales.size()];
          const auto scale = static_cast<float>(channel.scale), shift = static_cast<float>(channel.shift);
          const Pixel* const first = source + plane * area;
          std::transform(first, first + area, target + plane * area,
                         [=](Pixel pixel) { return static_cast<float>(pixel) * scale + shift; });
        }
      });
    };
  });
}
}  // namespace

std::unique_ptr<Kernel> copy_kernel(TensorId from, TensorId to, std::int64_t count) {
  return make_kernel([=](const Addresses& at) {
    return [=, source = at.f32(from), target = at.f32(to)] { std::copy_n(source, count, target); };
  });
}
std::unique_ptr<Kernel> after_copy_kernel(TensorId from, TensorId to, std::int64_t count,
                                          std::unique_ptr<Kernel> next) {
  return make_kernel([=, next = std::move(next)](const Addresses& at) {
    next->bind(at);
    return [count, source = at.f32(from), target = at.f32(to), then = next.get()] {
      if (source != target) {
        for_shares(count, [&](std::int64_t begin, std::int64_t end) {
          std::copy(source + begin, source + end, target + begin);
        });
      }
      then->run();
    };
  });
}
std::unique_ptr<Kernel> convert_kernel(const Located& from, const Located& to) {
  const std::int64_t count = stored_elements(to.shape, to.layout);
  return to.layout.dtype == DType::Bf16 ? convert<float, Bf16>(from.tensor, to.tensor, count)
                                        : convert<Bf16, float>(from.tensor, to.tensor, count);
}
std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum) {
  const std::int64_t count = stored_elements(sum.shape, sum.layout);
  if (sum.layout.dtype == DType::Bf16) return std::make_unique<Sum<Bf16>>(std::move(terms), sum.tensor, count);
  return std::make_unique<Sum<float>>(std::move(terms), sum.tensor, count);
}
std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to, std::vector<PixelScale> scales) {
  return from.layout.dtype == DType::U8 ? normalise<std::uint8_t>(from, to, std::move(scales))
                                        : normalise<std::uint16_t>(from, to, std::move(scales));
}
std::unique_ptr<Kernel> flat_kernel(FlatLoop<float> loop, TensorId a, TensorId b, const Located& dst) {
  return flat(loop, a, b, dst);
}
std::unique_ptr<Kernel> flat_kernel(FlatLoop<Bf16> loop, TensorId a, TensorId b, const Located& dst) {
  return flat(loop, a, b, dst);
}

}  // namespace roentgen::engine::cpu
