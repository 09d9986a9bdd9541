// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/inputs.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "graph/builder.h"

namespace roentgen::engine {
namespace {

// Graph with inputs "image" (2, 3, 4, 5) and "labels" (2, 7).
graph::Graph two_inputs() {
  graph::Builder b("two_inputs");
  const graph::NodeId flat = b.add("flat", graph::Flatten{}, {b.input("image", {2, 3, 4, 5})});
  const graph::NodeId logits = b.add("logits", graph::Linear{.out_features = 7}, {flat});
  b.output("sum", b.add("sum", graph::Add{}, {logits, b.input("labels", {2, 7})}));
  return std::move(b).build();
}

const InputNorm kNorm{.dtype = DType::U8, .mean = {0.1, 0.2, 0.3}, .stddev = {0.5, 0.25, 0.125}};

TEST(InputSpecs, are_values_unless_a_norm_names_the_input) {
  const std::vector<InputSpec> values = input_specs(two_inputs(), std::nullopt);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].name, "image");
  EXPECT_EQ(values[0].dtype, DType::F32);
  EXPECT_EQ(values[0].bytes, 2U * 3 * 4 * 5 * 4);
  EXPECT_EQ(values[1].bytes, 2U * 7 * 4);
  const std::vector<InputSpec> bytes = input_specs(two_inputs(), kNorm);
  EXPECT_EQ(bytes[0].dtype, DType::U8);
  EXPECT_EQ(bytes[0].bytes, 2U * 3 * 4 * 5);
  EXPECT_EQ(bytes[1].dtype, DType::F32);
  InputNorm wide = kNorm;
  wide.dtype = DType::U16;
  EXPECT_EQ(input_specs(two_inputs(), wide)[0].bytes, 2U * 3 * 4 * 5 * 2);
}

TEST(InputNorm, scales_pixels_to_what_mean_and_deviation_say) {
  for (const auto& [dtype, white] : {std::pair(DType::U8, 255.0), {DType::U16, 65535.0}}) {
    InputNorm norm = kNorm;
    norm.dtype = dtype;
    const std::vector<PixelScale> scales = pixel_scales(norm);
    ASSERT_EQ(scales.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c) {
      for (const double pixel : {0.0, 1.0, 100.0, white}) {
        const double wanted = (pixel / white - norm.mean[c]) / norm.stddev[c];
        EXPECT_NEAR(pixel * scales[c].scale + scales[c].shift, wanted, 1e-14);
      }
    }
  }
}

template <typename Change>
void expect_refused(const Change& change, std::string_view field) {
  InputNorm norm = kNorm;
  change(norm);
  try {
    static_cast<void>(input_specs(two_inputs(), norm));
    ADD_FAILURE() << field;
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view(error.what()).find(field), std::string_view::npos) << error.what();
  }
}

TEST(InputNorm, is_refused_by_the_name_of_its_field) {
  expect_refused([](InputNorm& n) { n.input = "picture"; }, "input_norm.input");
  expect_refused([](InputNorm& n) { n.input = "labels"; }, "input_norm.input");
  expect_refused([](InputNorm& n) { n.input = "flat"; }, "input_norm.input");
  expect_refused([](InputNorm& n) { n.dtype = DType::F32; }, "input_norm.dtype");
  expect_refused([](InputNorm& n) { n.mean.pop_back(); }, "input_norm.mean");
  expect_refused([](InputNorm& n) { n.stddev.push_back(1.0); }, "input_norm.stddev");
  expect_refused([](InputNorm& n) { n.stddev[1] = 0.0; }, "input_norm.stddev");
  expect_refused([](InputNorm& n) { n.mean[2] = std::numeric_limits<double>::infinity(); }, "input_norm.mean");
}

}  // namespace
}  // namespace roentgen::engine
