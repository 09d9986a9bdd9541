// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests properties of graph text over random graphs and random damage to the text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/random.h"
#include "graph/builder.h"
#include "graph/text.h"

namespace roentgen::graph {
namespace {
/// Makes random graphs of a few hundred bytes of text that can contain every op and attribute.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed)
      : random_(seed, RandomStage::Test), builder_("random " + std::to_string(seed)) {}

  Graph build() {
    images_.push_back(builder_.input("image", {1 + pick(3), 1 + pick(8), 4 + pick(9), 4 + pick(9)}));
    const std::int64_t count = 1 + pick(12);
    for (std::int64_t i = 0; i < count; ++i) {
      const NodeId src = images_[static_cast<std::size_t>(pick(std::ssize(images_)))];
      images_.push_back(builder_.add("layer." + std::to_string(i), image_op(builder_.shape(src)), {src}));
    }
    join();
    head();
    return std::move(builder_).build();
  }

 private:
  std::int64_t pick(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  bool flip() { return random_.chance(0.5); }
  Extent extent(std::int64_t low, std::int64_t count) { return {low + pick(count), low + pick(count)}; }
  Init init() { return Init{static_cast<Init::Kind>(pick(5)), 0.0, 0}; }

  Op image_op(const Shape& src) {
    const bool fits_pool = src[2] > 1 && src[3] > 1;
    switch (pick(fits_pool ? 8 : 6)) {
      case 0:
      case 1: {
        const std::int64_t groups = flip() ? 1 : src[1];
        const Extent kernel = extent(1, 3);
        return Conv2d{.out_channels = groups * (1 + pick(3)),
                      .kernel = kernel,
                      .stride = extent(1, 2),
                      .pad = {kernel.height - 1, kernel.width - 1},
                      .dilation = {1, 1},
                      .groups = groups,
                      .bias = flip(),
                      .weight_init = init()};
      }
      case 2:
        return BatchNorm{.epsilon = random_.uniform(1e-9, 1.0), .momentum = random_.uniform(), .relu = flip()};
      case 3:
        return Relu{};
      case 4:
        return flip() ? Op(Silu{}) : Op(Sigmoid{});
      case 6:
        return MaxPool{.kernel = {2, 2}, .stride = extent(1, 1), .pad = extent(0, 2), .is_ceil = flip()};
      case 7:
        return AvgPool{.kernel = {2, 2}, .stride = extent(1, 1), .pad = {1, 1}, .count_pad = flip()};
      default:
        return Dropout{.probability = random_.uniform()};
    }
  }
  /// Adds a random op with several inputs: concat, add, or batch norm with residual.
  void join() {
    const NodeId last = images_.back();
    images_.push_back(builder_.add("concat", Concat{.is_virtual = flip()}, {last, last, last}));
    images_.push_back(builder_.add("add", Add{}, {last, last}));
    images_.push_back(builder_.add("residual", BatchNorm{.relu = flip()}, {images_.back(), last}));
  }
  void head() {
    const NodeId pool = flip() ? builder_.add("pool", GlobalAvgPool{}, {images_.back()}) : images_.back();
    const NodeId flat = builder_.add("flat", Flatten{}, {pool});
    const std::int64_t K = 1 + pick(4);
    const NodeId fc = builder_.add("fc", Linear{.out_features = K, .bias = flip(), .weight_init = init()}, {flat});
    builder_.output("logits", fc);
    const std::int64_t N = builder_.shape(fc)[0];
    if (flip()) {
      SigmoidCrossEntropy loss{.reduction = static_cast<int>(pick(3)), .is_partial = pick(2) == 1};
      for (std::int64_t i = 0; flip() && i < 1; ++i) {
        for (std::int64_t k = 0; k < K; ++k) loss.positive_weights.push_back(random_.uniform(0.0, 1e6));
      }
      builder_.output("loss",
                      builder_.add("loss", loss, {fc, builder_.input("t", {N, K}), builder_.input("m", {N, K})}));
    } else {
      const SoftmaxCrossEntropy loss{
          .reduction = static_cast<int>(pick(3)), .is_partial = pick(2) == 1, .label_smoothing = random_.uniform()};
      builder_.output("loss",
                      builder_.add("loss", loss, {fc, builder_.input("t", {N, 1}), builder_.input("m", {N, 1})}));
    }
  }

  Random random_;
  Builder builder_;
  std::vector<NodeId> images_;
};
}  // namespace

RC_GTEST_PROP(GraphText, parses_back_what_it_prints, (std::uint64_t seed)) {
  const Graph graph = RandomGraph(seed).build();
  const std::string text = print_graph(graph);
  const auto back = parse_graph(text, "printed");
  RC_ASSERT(back.ok());
  RC_ASSERT(back.value() == graph);
  RC_ASSERT(print_graph(back.value()) == text);
}

RC_GTEST_PROP(GraphText, any_batch_gives_the_same_graph_for_the_same_batch, (std::uint64_t seed)) {
  const Graph graph = RandomGraph(seed).build();
  const auto back = parse_graph(print_graph_any_batch(graph), "printed", {.batch = graph.node(0).shape[0]});
  RC_ASSERT(back.ok());
  RC_ASSERT(back.value() == graph);
}

RC_GTEST_PROP(GraphText, damaged_text_is_parsed_or_refused_in_one_line, (std::uint64_t seed)) {
  std::string text = print_graph(RandomGraph(seed).build());
  Random random(seed, RandomStage::Test, 1);
  for (int edit = 0; edit < 3; ++edit) {
    const std::size_t at = random.below(text.size());
    if (random.chance(0.3)) {
      text.resize(at + 1);
    } else if (random.chance(0.5)) {
      text[at] = static_cast<char>(random.below(256));
    } else {
      text.insert(at, "9");
    }
  }
  const auto result = parse_graph(text, "damaged");
  if (!result.ok()) {
    RC_ASSERT(result.error().starts_with("[graph.text] damaged line "));
    RC_ASSERT(result.error().find('\n') == std::string::npos);
  }
}

}  // namespace roentgen::graph
