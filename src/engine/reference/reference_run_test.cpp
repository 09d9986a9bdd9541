// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests of the reference itself: forward against numbers computed by hand, backward against central differences.
#include "engine/reference/reference_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/random.h"
#include "engine/conformance/conformance.h"
#include "graph/builder.h"

namespace roentgen::engine::reference {
namespace {
using graph::NodeId;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

/// Returns a graph of one op that reads inputs "x0", "x1", ... and has the output "y".
graph::Graph graph_of(graph::Op op, const std::vector<Shape>& shapes) {
  graph::Builder builder("test");
  std::vector<NodeId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(builder.input("x" + std::to_string(inputs.size()), shape));
  builder.output("y", builder.add("op", std::move(op), inputs));
  return std::move(builder).build();
}

/// Returns the numbers 1, 2, 3, ...
std::vector<double> counted(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

/// Result of the op on x0 = 1, 2, 3, ... If the op has parameters, each of them is 1, 2, 3, ... as well.
std::vector<double> applied(graph::Op op, const Shape& shape, Form form = Form::Training) {
  const graph::Graph graph = graph_of(std::move(op), {shape});
  ReferenceRun run(graph, form);
  run.set("x0", counted(shape.elements()));
  for (const graph::Parameter& parameter : graph.parameters()) {
    run.set(parameter.name, counted(parameter.shape.elements()));
  }
  run.forward();
  return run.output("y").data;
}

auto near(const std::vector<double>& expected) { return Pointwise(testing::DoubleEq(), expected); }

std::vector<double> loss_of(graph::Op op, const std::vector<std::vector<double>>& inputs,
                            const std::vector<Shape>& shapes) {
  const graph::Graph graph = graph_of(std::move(op), shapes);
  ReferenceRun run(graph, Form::Training);
  for (std::size_t i = 0; i < inputs.size(); ++i) run.set("x" + std::to_string(i), inputs[i]);
  run.forward();
  return run.output("y").data;
}
}  // namespace

TEST(ReferenceConv2d, correlates_with_zero_padding_and_bias) {
  // Input 1 2 3 / 4 5 6 / 7 8 9, kernel 1 2 / 3 4, bias 1, one pixel of padding, stride 2. So each result is a window
  // at a corner of the padded image:
  //   (0,0): 4*1+1 = 5; (0,1): 3*2+4*3+1 = 19; (1,0): 2*4+4*7+1 = 37; (1,1): 5+2*6+3*8+4*9+1 = 78
  EXPECT_THAT(
      applied(graph::Conv2d{.out_channels = 1, .kernel = {2, 2}, .stride = {2, 2}, .pad = {1, 1}}, {1, 1, 3, 3}),
      ElementsAre(5.0, 19.0, 37.0, 78.0));
}

TEST(ReferenceConv2d, dilates) {
  // Kernel 1 2 3 reads columns 0, 2, 4 of the input 1..6, then columns 1, 3, 5.
  EXPECT_THAT(
      applied(graph::Conv2d{.out_channels = 1, .kernel = {1, 3}, .dilation = {1, 2}, .bias = false}, {1, 1, 1, 6}),
      ElementsAre(1 * 1 + 2 * 3 + 3 * 5, 1 * 2 + 2 * 4 + 3 * 6));
}

TEST(ReferenceConv2d, keeps_groups_apart) {
  // Groups have channels (1, 2) and (3, 4), and weights (1, 2) (3, 4) and (5, 6) (7, 8) per output.
  EXPECT_THAT(applied(graph::Conv2d{.out_channels = 4, .groups = 2, .bias = false}, {1, 4, 1, 1}),
              ElementsAre(1 + 4, 3 + 8, 15 + 24, 21 + 32));
}

TEST(ReferenceConv2d, sums_over_input_channels_per_image) {
  // Images are (1, 2) and (3, 4), weights (1, 2) and (3, 4), biases 1 and 2.
  EXPECT_THAT(applied(graph::Conv2d{.out_channels = 2}, {2, 2, 1, 1}), ElementsAre(6, 13, 12, 27));
}

TEST(ReferenceBatchNorm, normalises_over_images_and_pixels) {
  // One channel with 1 2 3 4: mean 2.5, variance 1.25; scale and shift are 1. Epsilon 0.75 makes the deviation sqrt(2).
  const double r = std::sqrt(2.0);
  EXPECT_THAT(applied(graph::BatchNorm{.epsilon = 0.75}, {2, 1, 1, 2}),
              near({1.0 - 1.5 / r, 1.0 - 0.5 / r, 1.0 + 0.5 / r, 1.0 + 1.5 / r}));
}

TEST(ReferenceBatchNorm, infers_from_running_statistics) {
  // Running mean and variance are 1, epsilon is 3, so the result is (x - 1) / 2 + 1.
  EXPECT_THAT(applied(graph::BatchNorm{.epsilon = 3.0}, {1, 1, 1, 3}, Form::Inference), ElementsAre(1.0, 1.5, 2.0));
}

TEST(ReferenceBatchNorm, moves_running_statistics_to_the_unbiased_variance) {
  const graph::Graph graph = graph_of(graph::BatchNorm{.momentum = 0.25}, {{1, 1, 1, 4}});
  ReferenceRun run(graph, Form::Training);
  run.set("x0", counted(4));
  run.set("op.running_mean", std::vector<double>{10.0});
  run.set("op.running_var", std::vector<double>{1.0});
  run.forward();
  EXPECT_THAT(run.state(2).data, near({10.0 + 0.25 * (2.5 - 10.0)}));
  EXPECT_THAT(run.state(3).data, near({1.0 + 0.25 * (5.0 / 3.0 - 1.0)}));
  EXPECT_THAT(run.parameter(2).data, ElementsAre(10.0));
}

TEST(ReferenceBatchNorm, adds_the_residual_before_the_relu) {
  const graph::Graph graph = graph_of(graph::BatchNorm{.epsilon = 3.0, .relu = true}, {{1, 1, 1, 2}, {1, 1, 1, 2}});
  ReferenceRun run(graph, Form::Inference);
  run.set("x0", std::vector<double>{2.0, 4.0});
  run.set("x1", std::vector<double>{-3.0, 1.0});
  run.set("op.weight", std::vector<double>{1.0});
  run.set("op.running_var", std::vector<double>{1.0});
  run.forward();
  EXPECT_THAT(run.output("y").data, ElementsAre(0.0, 3.0));
}

TEST(ReferenceMaxPool, ignores_padding) {
  const graph::Graph graph =
      graph_of(graph::MaxPool{.kernel = {1, 3}, .stride = {1, 2}, .pad = {0, 1}}, {{1, 1, 1, 4}});
  ReferenceRun run(graph, Form::Training);
  run.set("x0", std::vector<double>{-4.0, -2.0, -3.0, -1.0});
  run.forward();
  EXPECT_THAT(run.output("y").data, ElementsAre(-2.0, -1.0));
}

TEST(ReferenceMaxPool, rounds_up_with_ceil) {
  EXPECT_THAT(applied(graph::MaxPool{.kernel = {1, 2}, .stride = {1, 2}, .is_ceil = true}, {1, 1, 1, 3}),
              ElementsAre(2.0, 3.0));
}

TEST(ReferenceMaxPool, gives_the_gradient_to_the_first_of_equals) {
  const graph::Graph graph = graph_of(graph::MaxPool{.kernel = {1, 3}, .stride = {1, 3}}, {{1, 1, 1, 3}});
  ReferenceRun run(graph, Form::Training);
  run.set("x0", std::vector<double>{1.0, 5.0, 5.0});
  run.forward();
  run.backward("y");
  EXPECT_THAT(run.value_gradient(0).data, ElementsAre(0.0, 1.0, 0.0));
}

TEST(ReferenceAvgPool, counts_padding_or_not) {
  const graph::AvgPool pool{.kernel = {1, 2}, .stride = {1, 2}, .pad = {0, 1}};
  EXPECT_THAT(applied(pool, {1, 1, 1, 3}), ElementsAre(0.5, 2.5));
  graph::AvgPool uncounted = pool;
  uncounted.count_pad = false;
  EXPECT_THAT(applied(uncounted, {1, 1, 1, 3}), ElementsAre(1.0, 2.5));
}

TEST(ReferenceGlobalAvgPool, averages_each_channel) {
  EXPECT_THAT(applied(graph::GlobalAvgPool{}, {1, 2, 1, 2}), ElementsAre(1.5, 3.5));
}

TEST(ReferenceLinear, multiplies_rows_and_adds_the_bias) {
  // Rows are (1, 2) and (3, 4), weights (1, 2) and (3, 4), biases 1 and 2.
  EXPECT_THAT(applied(graph::Linear{.out_features = 2}, {2, 2}), ElementsAre(6, 13, 12, 27));
}

TEST(ReferenceElementwise, follows_its_formulas) {
  EXPECT_THAT(loss_of(graph::Relu{}, {{-1.0, 2.0}}, {{2}}), ElementsAre(0.0, 2.0));
  EXPECT_THAT(loss_of(graph::Sigmoid{}, {{0.0, 2.0}}, {{2}}), near({0.5, 1.0 / (1.0 + std::exp(-2.0))}));
  EXPECT_THAT(loss_of(graph::Silu{}, {{0.0, 2.0}}, {{2}}), near({0.0, 2.0 / (1.0 + std::exp(-2.0))}));
  EXPECT_THAT(loss_of(graph::Add{}, {{1.0, 2.0}, {3.0, 5.0}}, {{2}, {2}}), ElementsAre(4.0, 7.0));
  EXPECT_THAT(applied(graph::Flatten{}, {1, 2, 1, 2}), ElementsAre(1.0, 2.0, 3.0, 4.0));
}

TEST(ReferenceConcat, lays_channels_one_behind_the_other_per_image) {
  EXPECT_THAT(loss_of(graph::Concat{}, {{1.0, 2.0}, {3.0, 4.0, 5.0, 6.0}}, {{2, 1, 1, 1}, {2, 2, 1, 1}}),
              ElementsAre(1.0, 3.0, 4.0, 2.0, 5.0, 6.0));
}

TEST(ReferenceDropout, scales_what_the_mask_keeps) {
  const graph::Graph graph = graph_of(graph::Dropout{.probability = 0.75}, {{2}});
  for (const Form form : {Form::Training, Form::Inference}) {
    ReferenceRun run(graph, form);
    run.set("x0", counted(2));
    run.set_mask("op", {0.0, 1.0});
    run.forward();
    const bool is_training = form == Form::Training;
    EXPECT_THAT(run.output("y").data, ElementsAre(is_training ? 0.0 : 1.0, is_training ? 8.0 : 2.0));
  }
}

TEST(ReferenceSigmoidCrossEntropy, follows_its_formula) {
  // Both known labels have logit 0, and softplus(0) = ln 2. The third label is unknown.
  const std::vector<Shape> shapes(3, Shape{1, 3});
  const std::vector<std::vector<double>> inputs{{0.0, 0.0, 9.0}, {1.0, 0.0, 1.0}, {1.0, 1.0, 0.0}};
  EXPECT_THAT(loss_of(graph::SigmoidCrossEntropy{}, inputs, shapes), near({std::log(2.0)}));
  EXPECT_THAT(loss_of(graph::SigmoidCrossEntropy{.reduction = 1}, inputs, shapes), near({2.0 * std::log(2.0)}));
  EXPECT_THAT(loss_of(graph::SigmoidCrossEntropy{.reduction = 2, .positive_weights = {3.0, 5.0, 7.0}}, inputs, shapes),
              near({4.0 * std::log(2.0)}));
}

TEST(ReferenceSoftmaxCrossEntropy, follows_its_formula) {
  // p = (1/4, 3/4); class 1; smoothing 0.2 makes q = (0.1, 0.9). The second image is unknown.
  const std::vector<Shape> shapes{{2, 2}, {2, 1}, {2, 1}};
  const std::vector<std::vector<double>> inputs{{0.0, std::log(3.0), 5.0, 6.0}, {1.0, 0.0}, {1.0, 0.0}};
  EXPECT_THAT(loss_of(graph::SoftmaxCrossEntropy{}, inputs, shapes), near({-std::log(0.75)}));
  EXPECT_THAT(loss_of(graph::SoftmaxCrossEntropy{.label_smoothing = 0.2}, inputs, shapes),
              Pointwise(DoubleNear(1e-15), {-0.1 * std::log(0.25) - 0.9 * std::log(0.75)}));
}

TEST(ReferenceRun, refuses_unknown_names_and_wrong_sizes) {
  const graph::Graph graph = graph_of(graph::Relu{}, {{2}});
  ReferenceRun run(graph, Form::Training);
  EXPECT_THROW(run.set("x9", counted(2)), ConfigError);
  EXPECT_THROW(run.set("op", counted(2)), ConfigError);
  EXPECT_THROW(run.set("x0", counted(3)), ShapeError);
}

namespace {
/// Step along a direction of unit components. Truncation and rounding of a central difference are then both about 1e-10
/// of the loss.
constexpr double kStep = 1e-6;
/// Tolerance relative to the gradient's norm, which is the typical size of a derivative along a random direction.
constexpr double kTolerance = 1e-6;
/// Tolerance for rounding, relative to the loss. A difference of two losses in double has an error of a few 2^-53 /
/// kStep.
constexpr double kRounding = 1e-9;
/// Smallest distance from a kink. A ReLU or maximum closer to its kink than a few steps would jump during the
/// difference.
constexpr double kMargin = 2e-5;

double loss_at(ReferenceRun& run, std::string_view name, const std::vector<double>& values) {
  run.set(name, values);
  run.forward();
  return run.output("loss")[0];
}

/// Compares the derivative along one random direction with the gradient, for one parameter or input.
void expect_slope(ReferenceRun& run, std::string_view name, const std::vector<double>& at, const Array& gradient) {
  Random random(11, RandomStage::Test);
  std::vector<double> above = at;
  std::vector<double> below = at;
  double expected = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double direction = random.normal();
    above[i] += kStep * direction;
    below[i] -= kStep * direction;
    expected += gradient.data[i] * direction;
    squares += gradient.data[i] * gradient.data[i];
  }
  const double slope = (loss_at(run, name, above) - loss_at(run, name, below)) / (2.0 * kStep);
  run.set(name, at);
  EXPECT_NEAR(slope, expected, kTolerance * std::sqrt(squares) + kRounding * std::fabs(run.output("loss")[0])) << name;
}

/// Values of the case that are away from all kinks.
std::map<std::string, std::vector<float>> smooth_values(const conformance::Case& tested) {
  for (std::uint64_t seed = 100; seed < 200; ++seed) {
    auto values = conformance::draw_values(tested, seed);
    if (conformance::run_reference(tested, Form::Training, values).kink_margin() >= kMargin) return values;
  }
  ADD_FAILURE() << "no values away from kinks in 100 draws";
  return conformance::draw_values(tested, 100);
}
}  // namespace

TEST(ReferenceGradients, match_central_differences_in_every_conformance_case) {
  for (const conformance::Case& tested : conformance::all_cases()) {
    if (tested.name == "max_pool.ties") continue;  // equal maxima separate as soon as any value changes
    SCOPED_TRACE(tested.name);
    ReferenceRun run = conformance::run_reference(tested, Form::Training, smooth_values(tested));
    run.backward("loss");
    const ReferenceRun at_values = run;
    for (std::size_t i = 0; i < tested.graph.parameters().size(); ++i) {
      const graph::Parameter& parameter = tested.graph.parameters()[i];
      const auto id = static_cast<std::int32_t>(i);
      if (!graph::is_trained(parameter.role)) continue;
      expect_slope(run, parameter.name, at_values.parameter(id).data, at_values.parameter_gradient(id));
    }
    const NodeId image = tested.graph.find("image");
    expect_slope(run, "image", at_values.value(image).data, at_values.value_gradient(image));
  }
}

}  // namespace roentgen::engine::reference
