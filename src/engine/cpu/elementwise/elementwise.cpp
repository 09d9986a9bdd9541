// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/elementwise/elementwise.h"

#include <algorithm>
#include <array>

#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {
namespace {
// Floats a thread must have at least to be worth waking.
constexpr std::int64_t kGrain = 8192;
constexpr std::size_t kMostTerms = 64;

class Copy final : public Kernel {
 public:
  Copy(TensorId from, TensorId to, std::int64_t count) : from_(from), to_(to), count_(count) {}
  void bind(const Addresses& addresses) override {
    source_ = addresses.f32(from_);
    target_ = addresses.f32(to_);
  }
  void run() override { std::copy_n(source_, count_, target_); }

 private:
  TensorId from_;
  TensorId to_;
  std::int64_t count_;
  const float* source_ = nullptr;
  float* target_ = nullptr;
};

class AfterCopy final : public Kernel {
 public:
  AfterCopy(TensorId from, TensorId to, std::int64_t count, std::unique_ptr<Kernel> next)
      : from_(from), to_(to), count_(count), next_(std::move(next)) {}
  void bind(const Addresses& addresses) override {
    source_ = addresses.f32(from_);
    target_ = addresses.f32(to_);
    next_->bind(addresses);
  }
  void run() override {
    if (source_ != target_) {
      parallel_ranges(omp_get_max_threads(), count_, kGrain, [this](std::int64_t begin, std::int64_t end) {
        std::copy(source_ + begin, source_ + end, target_ + begin);
      });
    }
    next_->run();
  }

 private:
  TensorId from_;
  TensorId to_;
  std::int64_t count_;
  std::unique_ptr<Kernel> next_;
  const float* source_ = nullptr;
  float* target_ = nullptr;
};

class Convert final : public Kernel {
 public:
  Convert(const Located& from, const Located& to) : from_(from), to_(to) {}
  void bind(const Addresses& addresses) override {
    if (to_.layout.dtype == DType::Bf16) {
      wide_ = addresses.f32(from_.tensor);
      narrow_ = addresses.at<Bf16>(to_.tensor);
    } else {
      narrow_ = addresses.at<Bf16>(from_.tensor);
      wide_ = addresses.f32(to_.tensor);
    }
  }
  void run() override {
    const std::int64_t count = stored_elements(to_.shape, to_.layout);
    parallel_ranges(omp_get_max_threads(), count, kGrain, [this](std::int64_t begin, std::int64_t end) {
      if (to_.layout.dtype == DType::Bf16) {
        simd::convert(wide_ + begin, narrow_ + begin, end - begin);
      } else {
        simd::convert(narrow_ + begin, wide_ + begin, end - begin);
      }
    });
  }

 private:
  Located from_;
  Located to_;
  float* wide_ = nullptr;
  Bf16* narrow_ = nullptr;
};

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

template <typename T>
class Flat final : public Kernel {
 public:
  Flat(FlatLoop<T> loop, TensorId a, TensorId b, TensorId dst, std::int64_t count)
      : loop_(loop), a_(a), b_(b), dst_(dst), count_(count) {}
  void bind(const Addresses& addresses) override {
    first_ = addresses.at<T>(a_);
    second_ = b_ >= 0 ? addresses.at<T>(b_) : nullptr;
    target_ = addresses.at<T>(dst_);
  }
  void run() override {
    parallel_ranges(omp_get_max_threads(), count_, kGrain, [this](std::int64_t begin, std::int64_t end) {
      loop_(first_ + begin, second_ == nullptr ? nullptr : second_ + begin, target_ + begin, end - begin);
    });
  }

 private:
  FlatLoop<T> loop_;
  TensorId a_;
  TensorId b_;
  TensorId dst_;
  std::int64_t count_;
  const T* first_ = nullptr;
  const T* second_ = nullptr;
  T* target_ = nullptr;
};
}  // namespace

std::unique_ptr<Kernel> copy_kernel(TensorId from, TensorId to, std::int64_t count) {
  return std::make_unique<Copy>(from, to, count);
}
std::unique_ptr<Kernel> after_copy_kernel(TensorId from, TensorId to, std::int64_t count,
                                          std::unique_ptr<Kernel> next) {
  return std::make_unique<AfterCopy>(from, to, count, std::move(next));
}
std::unique_ptr<Kernel> convert_kernel(const Located& from, const Located& to) {
  return std::make_unique<Convert>(from, to);
}
std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum) {
  const std::int64_t count = stored_elements(sum.shape, sum.layout);
  if (sum.layout.dtype == DType::Bf16) return std::make_unique<Sum<Bf16>>(std::move(terms), sum.tensor, count);
  return std::make_unique<Sum<float>>(std::move(terms), sum.tensor, count);
}
std::unique_ptr<Kernel> flat_kernel(FlatLoop<float> loop, TensorId a, TensorId b, TensorId dst, std::int64_t count) {
  return std::make_unique<Flat<float>>(loop, a, b, dst, count);
}
std::unique_ptr<Kernel> flat_kernel(FlatLoop<Bf16> loop, TensorId a, TensorId b, TensorId dst, std::int64_t count) {
  return std::make_unique<Flat<Bf16>>(loop, a, b, dst, count);
}

}  // namespace roentgen::engine::cpu
