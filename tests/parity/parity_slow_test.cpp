// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs tests of parity_test.cpp at a size used in training: batch 16, 224 x 224 px.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/parity/golden.h"
#include "tests/parity/yardstick.h"

namespace roentgen::parity {
namespace {
TEST(ParityAt224, resnet50_trains_as_torch_does) { expect_training_parity("resnet50_224px"); }
TEST(ParityAt224, resnet50_infers_as_torch_does) { expect_inference_parity("resnet50_224px"); }
TEST(ParityAt224, densenet121_trains_as_torch_does) { expect_training_parity("densenet121_224px"); }
TEST(ParityAt224, densenet121_infers_as_torch_does) { expect_inference_parity("densenet121_224px"); }

// The auxiliary classifier of Inception-v3 needs at least 299 px.
TEST(ParityAt304, inception_v3_trains_as_torch_does) { expect_training_parity("inception_v3_304px"); }
TEST(ParityAt304, inception_v3_infers_as_torch_does) { expect_inference_parity("inception_v3_304px"); }

// In training, `algorithms = "auto"` measures which convolutions use Winograd kernels; here all supported layers do.
TEST(ParityAt224, resnet50_by_winograd_trains_as_torch_does) {
  expect_training_parity("resnet50_224px", Convolutions::Winograd);
}
TEST(ParityAt224, densenet121_by_winograd_trains_as_torch_does) {
  expect_training_parity("densenet121_224px", Convolutions::Winograd);
}
// Uses products of bf16 numbers on machines with Intel AMX or AVX-512 BF16, and direct kernels on others.
TEST(ParityAt224, resnet50_by_split_products_trains_as_torch_does) {
  expect_training_parity("resnet50_224px", Convolutions::Split);
}
TEST(ParityAt224, densenet121_by_split_products_trains_as_torch_does) {
  expect_training_parity("densenet121_224px", Convolutions::Split);
}
// Six products in forward and three in backward; gradients have no larger errors.
TEST(ParityAt224, resnet50_by_half_the_split_products_trains_as_torch_does) {
  expect_training_parity("resnet50_224px", Convolutions::Split2);
}
TEST(ParityAt224, densenet121_by_half_the_split_products_trains_as_torch_does) {
  expect_training_parity("densenet121_224px", Convolutions::Split2);
}
// Effect of three products on the gradients alone, without the rounding of forward: at most 5e-5 was measured.
TEST(ParityAt224, half_the_split_products_move_gradients_little) {
  for (const char* name : {"resnet50_224px", "densenet121_224px"}) {
    const std::vector<double> distances =
        values_of(gradient_distances(read_golden(name), Convolutions::Split, Convolutions::Split2));
    const double largest = *std::max_element(distances.begin(), distances.end());
    fmt::print("{}: median {:.2e} max {:.2e}\n", name, median(distances), largest);
    EXPECT_LE(largest, 1e-4);
  }
}
// Compares values in bf16 with PyTorch's autocast to bf16.
TEST(ParityAt224, resnet50_in_bf16_trains_as_torch_does_in_it) {
  expect_bf16_training_parity("resnet50_224px", {.logits = 1.3e-1});
}
TEST(ParityAt224, densenet121_in_bf16_trains_as_torch_does_in_it) {
  expect_bf16_training_parity("densenet121_224px", {.gradient_median = 0.59, .logits = 1.2e-2});
}
}  // namespace
}  // namespace roentgen::parity
