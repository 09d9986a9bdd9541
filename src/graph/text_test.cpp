// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kTiny =
    "graph \"tiny\"\n"
    "input image (N, C, S, S)            # N batch, C channels, S image side, K labels; or plain numbers\n"
    "conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)\n"
    "norm1 = batch_norm(conv1)\n"
    "\n"
    "relu1 = relu(norm1)\n"
    "pool = global_avg_pool(relu1)\n"
    "flat = flatten(pool)\n"
    "fc = linear(flat, out=K)\n"
    "output logits = fc\n";
constexpr Symbols kSymbols{.batch = 4, .channels = 1, .image_px = 32, .labels = 14};

Graph parsed(std::string_view text, const Symbols& symbols = kSymbols) {
  return parse_graph(text, "model.txt", symbols).or_throw();
}

/// Returns the error for a text with `line` as last line. The lines before define an image (1, 3, 8, 8), a row (1, 4)
/// and three more values.
std::string refusal_of(const std::string& line) {
  const auto result = parse_graph(
      "graph \"bad\"\n"
      "input image (1, 3, 8, 8)\n"
      "input row (1, 4)\n"
      "\n"
      "# a comment\n"
      "r = relu(image)\n" +
          line,
      "model.txt");
  return result.ok() ? "no error" : result.error();
}

void expect_round_trip(const Graph& graph) {
  const std::string text = print_graph(graph);
  const auto back = parse_graph(text, "printed");
  ASSERT_TRUE(back.ok()) << back.error() << "\n" << text;
  EXPECT_EQ(back.value(), graph) << text;
  EXPECT_EQ(print_graph(back.value()), text);
}
}  // namespace

TEST(GraphText, parses_the_example_of_the_header) {
  const Graph graph = parsed(kTiny);
  EXPECT_EQ(graph.name(), "tiny");
  ASSERT_EQ(graph.nodes().size(), 7U);
  EXPECT_EQ(graph.node(0).shape, (Shape{4, 1, 32, 32}));
  EXPECT_EQ(graph.node(1).shape, (Shape{4, 16, 16, 16}));
  EXPECT_EQ(graph.node(graph.output("logits")).shape, (Shape{4, 14}));
  EXPECT_EQ(graph.trained_elements(), 16 * 9 + 32 + 16 * 14 + 14);
}

TEST(GraphText, prints_what_it_parsed_with_numbers) {
  EXPECT_EQ(print_graph(parsed(kTiny)),
            "graph \"tiny\"\n"
            "input image (4, 1, 32, 32)\n"
            "conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)\n"
            "norm1 = batch_norm(conv1)\n"
            "relu1 = relu(norm1)\n"
            "pool = global_avg_pool(relu1)\n"
            "flat = flatten(pool)\n"
            "fc = linear(flat, out=14)\n"
            "output logits = fc\n");
}

TEST(GraphText, prints_any_batch_for_another_batch) {
  const std::string text = print_graph_any_batch(parsed(kTiny));
  EXPECT_THAT(text, HasSubstr("input image (N, 1, 32, 32)\n"));
  const Graph graph = parsed(text, {.batch = 9});
  EXPECT_EQ(graph.node(graph.output("logits")).shape, (Shape{9, 14}));
}

TEST(GraphText, allows_letters_for_integer_attributes) {
  const Graph graph = parsed("graph \"g\"\ninput x (N, C, S, S)\ny = conv2d(x, out=K, groups=C)\n");
  EXPECT_EQ(std::get<Conv2d>(graph.node(1).op).out_channels, 14);
  EXPECT_EQ(std::get<Conv2d>(graph.node(1).op).groups, 1);
}

TEST(GraphText, does_not_mind_spaces_and_line_ends) {
  const Graph graph =
      parsed("  graph   \"g\"  \r\n\r\ninput x(1,2 , 3,3)\r\n\ty=conv2d( x ,out = 4 , kernel = 3x3 )#c\r\noutput z=y");
  EXPECT_EQ(graph.node(1).shape, (Shape{1, 4, 1, 1}));
  EXPECT_EQ(graph.output("z"), 1);
}

TEST(GraphText, lets_keywords_be_names) {
  const Graph graph =
      parsed("graph \"g\"\ninput input (1, 2)\noutput = relu(input)\ngraph = relu(output)\noutput N = graph\n");
  EXPECT_EQ(graph.output("N"), 2);
}

TEST(GraphText, keeps_any_name_of_the_graph) {
  for (const char* name : {"", "a \"quoted\" \\ name # no comment", "two\nlines", "\\n", "  spaces  "}) {
    Builder builder(name);
    builder.input("x", {1});
    expect_round_trip(std::move(builder).build());
  }
}

TEST(GraphText, keeps_every_attribute_of_every_op) {
  Builder builder("all");
  const NodeId image = builder.input("image", {2, 8, 16, 16});
  const NodeId conv = builder.add("conv",
                                  Conv2d{.out_channels = 12,
                                         .kernel = {3, 5},
                                         .stride = {2, 1},
                                         .pad = {1, 2},
                                         .dilation = {2, 1},
                                         .groups = 4,
                                         .bias = false,
                                         .weight_init = {Init::Kind::Normal, 0.1}},
                                  {image});
  const NodeId norm = builder.add("norm", BatchNorm{.epsilon = 1e-3, .momentum = 0.3, .relu = true}, {conv, conv});
  const NodeId max =
      builder.add("max", MaxPool{.kernel = {3, 3}, .stride = {2, 1}, .pad = {1, 0}, .is_ceil = true}, {norm});
  const NodeId avg =
      builder.add("avg", AvgPool{.kernel = {1, 2}, .stride = {1, 1}, .pad = {0, 1}, .count_pad = false}, {max});
  const NodeId both = builder.add("both", Concat{.is_virtual = true}, {avg, avg});
  const NodeId drop = builder.add("drop", Dropout{.probability = 1.0 / 3.0}, {both});
  const NodeId flat = builder.add("flat", Flatten{}, {drop});
  const NodeId fc = builder.add("fc",
                                Linear{.out_features = 3,
                                       .bias = true,
                                       .weight_init = {Init::Kind::NormalFanIn},
                                       .bias_init = {Init::Kind::Constant, -2.5}},
                                {flat});
  const NodeId t = builder.input("t", {2, 3});
  const NodeId m = builder.input("m", {2, 3});
  builder.output(
      "loss", builder.add("bce", SigmoidCrossEntropy{.reduction = 2, .positive_weights = {1, 2.5, 1e-3}}, {fc, t, m}));
  const NodeId index = builder.input("index", {2, 1});
  builder.add("ce", SoftmaxCrossEntropy{.reduction = 1, .label_smoothing = 0.1}, {fc, index, index});
  expect_round_trip(std::move(builder).build());
}

TEST(GraphText, keeps_every_kind_of_init) {
  for (const Init& init :
       {Init{Init::Kind::Constant, 1e-30}, Init{Init::Kind::Normal, 0.01}, Init{Init::Kind::NormalFanOut},
        Init{Init::Kind::NormalFanIn}, Init{Init::Kind::UniformFanIn}, Init{Init::Kind::UniformFanIn, 0.0, 27}}) {
    expect_round_trip(graph_of(Conv2d{.out_channels = 3, .weight_init = init}, {{1, 2, 3, 4}}));
  }
}

TEST(GraphText, error_names_file_and_line) {
  EXPECT_EQ(
      refusal_of("c = conv2d(image, out=4, kernel=9x9)"),
      "[graph.text] model.txt line 7: conv2d c: expected a window that fits into the padded input, got kernel 9x9 "
      "on (1, 3, 8, 8); try a smaller kernel, more padding or larger images");
}

TEST(GraphText, refuses_an_unknown_op) {
  EXPECT_THAT(refusal_of("c = convolution(image)"),
              StartsWith("[graph.text] model.txt line 7: expected one of the ops conv2d, batch_norm"));
}

TEST(GraphText, refuses_an_unknown_value) {
  EXPECT_THAT(refusal_of("c = relu(imag)"),
              HasSubstr("line 7: expected the name of a value on a line above, got 'imag'"));
  EXPECT_THAT(refusal_of("output y = nothing"),
              HasSubstr("line 7: expected the name of a value on a line above, got 'nothing'"));
}

TEST(GraphText, refuses_an_unknown_attribute) {
  EXPECT_THAT(
      refusal_of("c = conv2d(image, out=4, strides=2x2)"),
      HasSubstr(
          "one of the attributes out, kernel, stride, pad, dilation, groups, bias, init, bias_init, got 'strides'"));
  EXPECT_THAT(refusal_of("c = silu(image, out=4)"), HasSubstr("expected no attributes, got 'out'"));
}

TEST(GraphText, refuses_an_attribute_given_twice) {
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, out=4)"), HasSubstr("each attribute once"));
}

TEST(GraphText, refuses_values_behind_attributes) {
  EXPECT_THAT(refusal_of("c = concat(image, virtual=yes, image)"), HasSubstr("inputs before attributes, got 'image'"));
}

TEST(GraphText, refuses_attribute_values_of_the_wrong_kind) {
  EXPECT_THAT(refusal_of("c = conv2d(image, out=four)"), HasSubstr("an integer, N, C, S or K for out, got 'four'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4.5)"), HasSubstr("for out, got '4.5'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=)"), HasSubstr("for out, got the end of the line"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, kernel=3)"), HasSubstr("HEIGHTxWIDTH for kernel, got '3'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, kernel=3x3x3)"), HasSubstr("HEIGHTxWIDTH for kernel"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, bias=0)"), HasSubstr("yes or no for bias, got '0'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, init=xavier)"), HasSubstr("uniform_fan_in for init, got 'xavier'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, init=normal)"), HasSubstr("for init, got 'normal'"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=4, init=normal:x)"), HasSubstr("a number for init, got 'x'"));
  EXPECT_THAT(refusal_of("c = batch_norm(image, epsilon=inf)"), HasSubstr("a number for epsilon, got 'inf'"));
  EXPECT_THAT(refusal_of("c = dropout(image, p=nan)"), HasSubstr("a number for p, got 'nan'"));
  EXPECT_THAT(refusal_of("c = sigmoid_cross_entropy(row, row, row, reduction=mean)"),
              HasSubstr("one of mean_known, mean_batch, sum for reduction, got 'mean'"));
  EXPECT_THAT(refusal_of("c = sigmoid_cross_entropy(row, row, row, positive_weights=[1, 2)"), HasSubstr("line 7"));
  EXPECT_THAT(refusal_of("c = sigmoid_cross_entropy(row, row, row, positive_weights=1)"),
              HasSubstr("[NUMBER, ...] for positive_weights, got '1'"));
  EXPECT_THAT(refusal_of("c = sigmoid_cross_entropy(row, row, row, positive_weights=[1, 2, 3, ])"),
              HasSubstr("a number after ','"));
}

TEST(GraphText, refuses_broken_statements) {
  EXPECT_THAT(refusal_of("c relu(image)"), HasSubstr("input, output or NAME = OP(...)"));
  EXPECT_THAT(refusal_of("c = relu(image"), HasSubstr("line 7: expected ',', got the end of the line"));
  EXPECT_THAT(refusal_of("c = relu(image) x"), HasSubstr("the end of the line, got 'x'"));
  EXPECT_THAT(refusal_of("c = relu image"), HasSubstr("expected '(', got 'image'"));
  EXPECT_THAT(refusal_of("= relu(image)"), HasSubstr("a statement"));
  EXPECT_THAT(refusal_of("c = relu(,)"), HasSubstr("an input or an attribute"));
  EXPECT_THAT(refusal_of("input y"), HasSubstr("expected '(', got the end of the line"));
  EXPECT_THAT(refusal_of("input y ()"), HasSubstr("for a dimension"));
  EXPECT_THAT(refusal_of("output y"), HasSubstr("expected '=', got the end of the line"));
  EXPECT_THAT(refusal_of("graph \"again\""), HasSubstr("input, output or NAME = OP(...)"));
}

TEST(GraphText, refuses_names_used_twice) {
  EXPECT_THAT(refusal_of("image = relu(image)"), HasSubstr("line 7: builder image: expected an unused name"));
  EXPECT_THAT(refusal_of("input r (1, 2)"), HasSubstr("line 7: builder r: expected an unused name"));
}

TEST(GraphText, refuses_a_text_that_does_not_start_with_graph) {
  EXPECT_THAT(parse_graph("input x (1)\n", "m").error(), HasSubstr("m line 1: expected graph \"NAME\" as the first"));
  EXPECT_THAT(parse_graph("", "m").error(), HasSubstr("m line 1: expected graph \"NAME\", got no statement"));
  EXPECT_THAT(parse_graph("graph tiny\n", "m").error(), HasSubstr("a name in double quotes, got 'tiny'"));
  EXPECT_THAT(parse_graph("graph \"tiny\n", "m").error(), HasSubstr("expected '\"'"));
}

TEST(GraphText, refuses_a_letter_without_value) {
  EXPECT_THAT(parse_graph("graph \"g\"\ninput x (N, 3)\n", "m", {.channels = 3}).error(),
              HasSubstr("m line 2: expected a value for N, got none"));
  EXPECT_THAT(parse_graph(kTiny, "m", {.batch = 1, .channels = 1, .image_px = 32}).error(),
              HasSubstr("m line 9: expected a value for K"));
}

TEST(GraphText, refuses_absurd_sizes) {
  EXPECT_THAT(refusal_of("input y (99999999999999999999)"), HasSubstr("an integer"));
  EXPECT_THAT(refusal_of("input y (9999999999)"), HasSubstr("at most 2^31"));
  EXPECT_THAT(refusal_of("input y (0, 3)"), HasSubstr("dimensions of at least 1"));
  EXPECT_THAT(refusal_of("input y (-1, 3)"), HasSubstr("dimensions of at least 1"));
  EXPECT_THAT(refusal_of("input y (2000000000, 2000000000, 2000000000)"), HasSubstr("at most 2^40 elements"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=2000000000, kernel=2000000000x2000000000, pad=2000000000x2000000000)"),
              HasSubstr("product stays below 2^62"));
  EXPECT_THAT(refusal_of("c = conv2d(image, out=8, stride=-2147483648x1)"), HasSubstr("line 7"));
  EXPECT_THAT(refusal_of("c = linear(row, out=-2147483648)"), HasSubstr("at least one output"));
}

TEST(GraphText, shows_foreign_bytes_as_question_marks) {
  EXPECT_THAT(refusal_of(std::string("c = relu(\x01\0\x7f)", 13)), HasSubstr("got '?\?\?)'"));
}

}  // namespace roentgen::graph
