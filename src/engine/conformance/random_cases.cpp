// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Random networks, which test combinations of ops that no other conformance case has.
#include <algorithm>

#include "core/random.h"
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
using graph::Extent;
using graph::NodeId;

/// Builds a network node by node. Each node reads random values, so that values have from zero to many readers.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed)
      : random_(seed, RandomStage::Test, 77), builder_("random.seed_" + std::to_string(seed)) {}

  Case build() {
    const std::int64_t channels = random_.chance(0.5) ? 1 : 3;
    const std::int64_t side = 6 + pick(7);
    values_.push_back(builder_.image({2 + pick(2), channels, side, side + pick(3)}));
    is_read_.push_back(false);
    const std::int64_t count = 4 + pick(14);
    for (std::int64_t i = 0; i < count; ++i) grow();
    return std::move(builder_).finish(join());
  }

 private:
  std::int64_t pick(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  /// Picks a value at random, preferring recent ones.
  std::size_t pick_value() {
    const std::size_t back = static_cast<std::size_t>(std::min(pick(std::ssize(values_)), pick(std::ssize(values_))));
    return values_.size() - 1 - back;
  }
  /// Values with the same shape as `value`; if `is_channel_free`, their number of channels may differ.
  std::vector<std::size_t> matching(std::size_t value, bool is_channel_free) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      Shape shape = builder_.shape(values_[i]);
      if (is_channel_free) shape[1] = builder_.shape(values_[value])[1];
      if (shape == builder_.shape(values_[value])) found.push_back(i);
    }
    return found;
  }
  void add(graph::Op op, const std::vector<std::size_t>& sources) {
    std::vector<NodeId> inputs;
    for (const std::size_t source : sources) {
      inputs.push_back(values_[source]);
      is_read_[source] = true;
    }
    values_.push_back(builder_.add("n" + std::to_string(values_.size()), std::move(op), inputs));
    is_read_.push_back(false);
  }

  graph::Conv2d any_conv(const Shape& src) {
    constexpr std::int64_t kChannels[] = {3, 8, 16, 16, 20, 24, 32};
    graph::Conv2d conv{.out_channels = kChannels[pick(7)], .bias = random_.chance(0.3)};
    if (random_.chance(0.6)) {
      conv.kernel = {3, 3};
      conv.pad = {1, 1};
    }
    if (random_.chance(0.2) && src[2] > 4) conv.stride = {2, 2};
    if (random_.chance(0.15)) {
      conv.groups = random_.chance(0.5) && src[1] % 4 == 0 ? src[1] / 4 : src[1];
      conv.out_channels = src[1];
    }
    return conv;
  }
  /// Batch norm with a large epsilon. Channels in which a ReLU made all values zero would otherwise amplify rounding
  /// errors.
  graph::BatchNorm any_norm() { return {.epsilon = 0.1, .momentum = 0.1, .relu = random_.chance(0.3)}; }

  void grow() {
    const std::size_t src = pick_value();
    const Shape shape = builder_.shape(values_[src]);
    const bool is_poolable = shape[2] >= 4 && shape[3] >= 4;
    switch (pick(is_poolable ? 12 : 10)) {
      case 0:
      case 1:
      case 2:
        return add(any_conv(shape), {src});
      case 3:
      case 4:
        return add(any_norm(), {src});
      case 5:
        if (random_.chance(0.2)) return add(graph::Silu{}, {src});
        if (random_.chance(0.1)) return add(graph::Sigmoid{}, {src});
        return add(graph::Relu{}, {src});
      case 6: {
        const auto others = matching(src, false);
        return add(graph::Add{}, {src, others[static_cast<std::size_t>(pick(std::ssize(others)))]});
      }
      case 7: {
        const auto others = matching(src, false);
        return add(any_norm(), {src, others[static_cast<std::size_t>(pick(std::ssize(others)))]});
      }
      case 8:
      case 9: {
        const auto others = matching(src, true);
        std::vector<std::size_t> pieces;
        const std::int64_t count = 1 + pick(4);
        for (std::int64_t i = 0; i < count; ++i) {
          pieces.push_back(others[static_cast<std::size_t>(pick(std::ssize(others)))]);
        }
        return add(graph::Concat{}, pieces);
      }
      case 10:
        return add(graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {src});
      default:
        return add(graph::AvgPool{}, {src});
    }
  }
  /// Reduces every value without readers to a few features, and adds them.
  NodeId join() {
    NodeId sum = -1;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_read_[i]) continue;
      const std::string name = "end" + std::to_string(i);
      NodeId end = values_[i];
      if (random_.chance(0.5)) end = builder_.add(name + ".pool", graph::GlobalAvgPool{}, {end});
      end = builder_.add(name + ".rows", graph::Flatten{}, {end});
      end = builder_.add(name + ".fc", graph::Linear{.out_features = 8}, {end});
      sum = sum < 0 ? end : builder_.add(name + ".sum", graph::Add{}, {sum, end});
    }
    return sum;
  }

  Random random_;
  CaseBuilder builder_;
  std::vector<NodeId> values_;
  std::vector<bool> is_read_;
};
}  // namespace

Case random_case(std::uint64_t seed) { return RandomNetwork(seed).build(); }

}  // namespace roentgen::engine::conformance
