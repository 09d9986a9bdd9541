// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares whole networks on the CPU engine with PyTorch in float64, on small images. The tolerance is based on the
// error of PyTorch's own float32 (docs/design/architecture.md, "Numerics").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/cpu/simd/tiles.h"
#include "tests/parity/network.h"
#include "tests/parity/yardstick.h"

namespace roentgen::parity {
namespace {
TEST(Parity, resnet50_trains_as_torch_does) { expect_training_parity("resnet50_64px"); }
TEST(Parity, resnet50_infers_as_torch_does) { expect_inference_parity("resnet50_64px"); }
TEST(Parity, densenet121_trains_as_torch_does) { expect_training_parity("densenet121_64px"); }
TEST(Parity, densenet121_infers_as_torch_does) { expect_inference_parity("densenet121_64px"); }
TEST(Parity, vgg16_trains_as_torch_does) { expect_training_parity("vgg16_64px"); }
TEST(Parity, vgg16_infers_as_torch_does) { expect_inference_parity("vgg16_64px"); }
TEST(Parity, vgg16_with_batch_norms_trains_as_torch_does) { expect_training_parity("vgg16_bn_64px"); }
TEST(Parity, vgg16_with_batch_norms_infers_as_torch_does) { expect_inference_parity("vgg16_bn_64px"); }
TEST(Parity, vgg19_trains_as_torch_does) { expect_training_parity("vgg19_64px"); }
TEST(Parity, vgg19_infers_as_torch_does) { expect_inference_parity("vgg19_64px"); }
TEST(Parity, vgg19_with_batch_norms_trains_as_torch_does) { expect_training_parity("vgg19_bn_64px"); }
TEST(Parity, vgg19_with_batch_norms_infers_as_torch_does) { expect_inference_parity("vgg19_bn_64px"); }
TEST(Parity, googlenet_trains_as_torch_does) { expect_training_parity("googlenet_64px"); }
TEST(Parity, googlenet_infers_as_torch_does) { expect_inference_parity("googlenet_64px"); }
// Compares with the network of timm.
TEST(Parity, inception_v4_trains_as_torch_does) {
  expect_training_parity("inception_v4_128px", Convolutions::Direct, Bounds::Yardstick);
}
TEST(Parity, inception_v4_infers_as_torch_does) { expect_inference_parity("inception_v4_128px"); }
TEST(Parity, smooth_network_infers_as_torch_does) { expect_inference_parity("smooth"); }

// No ReLU can flip in this network, so every gradient is compared by itself.
TEST(Parity, every_gradient_of_a_smooth_network_is_as_near_as_torchs) {
  const Golden golden = read_golden("smooth");
  const Comparison ours = compare_training(golden, Convolutions::Direct);
  for (const auto& [name, error] : ours.gradients) {
    EXPECT_LE(error, kYardstickFactor * golden.torch.gradients.at(name)) << name;
  }
}

// Uses three products per gradient on machines with bf16 products. Gradients lose a digit, which the noise of ReLUs
// hides in other networks.
TEST(Parity, gradients_of_a_smooth_network_by_half_the_split_products_lose_a_digit) {
  const std::vector<double> errors = values_of(compare_training(read_golden("smooth"), Convolutions::Split2).gradients);
  const double largest = *std::max_element(errors.begin(), errors.end());
  fmt::print("smooth by half the split products: gradient median {:.2e} max {:.2e}\n", median(errors), largest);
  EXPECT_LE(largest, 2e-5);  // twice the measured error
}

// The network has no ReLU, whose sign rounding could flip, so that gradients show only their rounding.
TEST(Parity, smooth_network_in_bf16_trains_as_torch_does_in_it) {
  expect_bf16_training_parity("smooth", {.gradient_median = 1.3e-2, .gradient_max = 1.61e-2, .logits = 2.0e-3});
}
TEST(Parity, vgg16_bn_in_bf16_trains_as_torch_does_in_it) {
  expect_bf16_training_parity("vgg16_bn_64px", {.gradient_median = 0.40, .logits = 1.1e-2});
}
TEST(Parity, densenet121_in_bf16_trains_as_torch_does_in_it) {
  expect_bf16_training_parity("densenet121_64px", {.gradient_median = 0.55, .logits = 3.6e-2});
}

// A gradient with an error of 1% on one parameter must exceed the smooth network's tolerance.
TEST(Parity, a_scaled_gradient_is_outside_the_yardstick) {
  const Golden golden = read_golden("smooth");
  const auto executable = compile(graph_of(golden), engine::Form::Training);
  feed(*executable, 0);
  executable->forward();
  executable->backward({});
  const std::string name = executable->graph().parameter(0).name;
  std::vector<float> gradient = executable->store_gradient(0);
  for (float& g : gradient) g *= 1.01F;
  const double error = relative_error(name, gradient, golden.training[0].gradients.at(name));
  EXPECT_GT(error, 100.0 * golden.torch.gradients.at(name));
}

struct Descent {
  /// Distance of our loss from float64's at each step.
  std::vector<double> ours;
  /// The largest distance of PyTorch's two float32 runs up to each step.
  std::vector<double> torch;
};

// Plain gradient descent as in the golden file, with its batches in turn. Every gradient is multiplied by `scale`.
Descent descend(Convolutions convolutions, double scale = 1.0) {
  const Value golden = read_tree("resnet18_descent");
  const Shape image = shape_of(golden.at("shape"));
  const auto executable =
      compile(model_graph("resnet18", image, golden.at("labels").as_integer()), engine::Form::Training, convolutions);
  const auto rate = static_cast<float>(scale * golden.at("learning_rate").as_double());
  const std::vector<double> expected = numbers(golden.at("float64"));
  const std::vector<double> nchw = numbers(golden.at("float32").at("nchw"));
  const std::vector<double> nhwc = numbers(golden.at("float32").at("nhwc"));
  Descent descent;
  double torch_distance = 0.0;
  for (std::size_t step = 0; step < expected.size(); ++step) {
    feed(*executable, static_cast<std::int64_t>(step) % golden.at("batches").as_integer());
    executable->set_step(static_cast<std::int64_t>(step));
    executable->forward();
    executable->backward({});
    std::vector<float> values = executable->parameters().values();
    const std::vector<float> gradients = executable->gradients().values();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradients[i];
    executable->parameters().upload(0, values);
    torch_distance =
        std::max({torch_distance, std::abs(nchw[step] - expected[step]), std::abs(nhwc[step] - expected[step])});
    descent.torch.push_back(torch_distance);
    descent.ours.push_back(std::abs(loss_of(*executable) - expected[step]));
  }
  fmt::print("30 steps{}: at most {:.1e} from float64's loss (torch {:.1e})\n", name_of(convolutions),
             *std::max_element(descent.ours.begin(), descent.ours.end()), torch_distance);
  return descent;
}

// Bound on our distance from the float64 loss at each step. It is a multiple of the largest distance so far of
// PyTorch's two float32 runs, plus 1e-4, because training amplifies differences.
double bound_of(const Descent& descent, std::size_t step, double factor) { return factor * descent.torch[step] + 1e-4; }

void expect_descent_within(Convolutions convolutions, double factor) {
  const Descent descent = descend(convolutions);
  ASSERT_EQ(descent.ours.size(), 30U);
  for (std::size_t step = 0; step < descent.ours.size(); ++step) {
    EXPECT_LE(descent.ours[step], bound_of(descent, step, factor)) << "step " << step;
  }
}

// Factor for direct kernels: they round like PyTorch, whose two layouts differ by a factor of 2 to 3.
constexpr double kDirectFactor = 3.0;
// Factor for fast kernels. Winograd's transforms for 4x4 tiles multiply the rounding of a convolution by about 10,
// because their entries reach 8. A number split in two keeps 16 of 24 bits, but errors of products cancel in sums.
// Winograd had a ratio of 1.5 at the end.
constexpr double kFastFactor = 10.0;

TEST(Parity, thirty_steps_of_gradient_descent_follow_torchs_loss) {
  expect_descent_within(Convolutions::Direct, kDirectFactor);
}
TEST(Parity, thirty_steps_by_winograd_follow_torchs_loss) {
  expect_descent_within(Convolutions::Winograd, kFastFactor);
}
TEST(Parity, thirty_steps_by_half_the_split_products_follow_torchs_loss) {
  if (!engine::cpu::simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  expect_descent_within(Convolutions::Split2, kFastFactor);
}
// The rule chooses among all these kernels, so the bound is that of the least accurate.
TEST(Parity, thirty_steps_by_the_rules_kernels_follow_torchs_loss) {
  expect_descent_within(Convolutions::Auto, kFastFactor);
}
// Gradients that are wrong by 1% exceed the bounds on the loss of 30 steps.
TEST(Parity, thirty_steps_of_gradients_1_percent_off_leave_every_bound) {
  const Descent descent = descend(Convolutions::Direct, 1.01);
  EXPECT_GT(descent.ours.back(), bound_of(descent, 29, kFastFactor));
}
}  // namespace
}  // namespace roentgen::parity
