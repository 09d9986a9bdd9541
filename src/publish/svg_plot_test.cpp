// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that points have the right positions on the axes, and that no text exceeds its area.
#include "publish/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace roentgen::publish {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(SvgPlot, a_known_curve_has_known_coordinates) {
  // With margins of 52 (left), 14 (right), 26 (top) and 40 (bottom), each axis is 100 pixels long.
  const Plot plot{.title = "P",
                  .series = {{.points = {{0.0, 0.0}, {0.0, 1.0}, {0.5, NAN}, {1.0, 1.0}}}},
                  .has_diagonal = true,
                  .width_px = 166.0,
                  .height_px = 166.0};
  const std::string svg = svg_lines(plot);
  EXPECT_THAT(svg, HasSubstr("d=\"M52.0,126.0L52.0,26.0L152.0,26.0\""));
  EXPECT_THAT(svg, HasSubstr("d=\"M52.0,126.0L152.0,26.0\" stroke=\"#999\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgPlot, near_points_are_left_out_but_not_the_last) {
  const Plot plot{
      .series = {{.points = {{0.0, 0.0}, {0.001, 0.001}, {0.002, 0.002}}}}, .width_px = 166.0, .height_px = 166.0};
  EXPECT_THAT(svg_lines(plot), HasSubstr("d=\"M52.0,126.0L52.2,125.8\""));
}

TEST(SvgPlot, text_is_escaped_everywhere) {
  EXPECT_EQ(escaped("<a href=\"x\">&'\x01"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xEF\xBF\xBD");
  const std::string evil = "<script>";
  const Plot plot{.title = evil,
                  .x = {.title = evil},
                  .y = {.title = evil},
                  .series = {{.name = evil, .points = {{0, 0}}}, {.name = evil, .points = {{1, 1}}}}};
  EXPECT_THAT(svg_lines(plot), Not(HasSubstr(evil)));
  EXPECT_THAT(svg_forest(evil, {{.name = evil, .rows = {{.label = evil, .value = 0.5}}}}), Not(HasSubstr(evil)));
}

TEST(SvgPlot, ticks_are_round_and_inside) {
  EXPECT_THAT(ticks(0.0, 1.0),
              ElementsAre(0.0, testing::DoubleEq(0.2), testing::DoubleEq(0.4), testing::DoubleNear(0.6, 1e-12),
                          testing::DoubleEq(0.8), testing::DoubleEq(1.0)));
  EXPECT_THAT(ticks(-3.0, 1044.0), ElementsAre(0.0, 500.0, 1000.0));
}

TEST(SvgPlot, an_axis_holds_all_finite_points) {
  const std::vector<Series> series = {{.points = {{0.0, 2.0}, {4.0, NAN}, {2.0, 4.0}}}};
  const Axis x = axis_over("x", series, Direction::X), y = axis_over("y", series, Direction::Y);
  EXPECT_EQ(x.low, 0.0);
  EXPECT_EQ(x.high, 2.0);
  EXPECT_LT(y.low, 2.0);
  EXPECT_GT(y.high, 4.0);
  const Axis one = axis_over("one", {{.points = {{1.0, 0.0}}}}, Direction::Y);
  EXPECT_LT(one.low, one.high);
}

TEST(SvgPlot, a_forest_row_shows_what_is_known) {
  const std::vector<ForestSeries> one = {
      {.rows = {{.label = "Mass", .value = 0.75, .low = 0.5, .high = 1.0}, {.label = "Hernia"}}}};
  const std::string svg = svg_forest("AUROC", one);
  // Labels take 170 pixels and values 380, so 0.5 lies at 170 + 190 and 1 at 550.
  EXPECT_THAT(svg, HasSubstr("cx=\"360.0\""));
  EXPECT_THAT(svg, HasSubstr("M170.0,34.0L550.0,34.0"));
  EXPECT_THAT(svg, HasSubstr("d=\"M170.0,24.0L170.0,64.0\" stroke=\"#999\""));
  EXPECT_THAT(svg, HasSubstr("0.750 (0.500 to 1.000)"));
  EXPECT_THAT(svg, HasSubstr("undefined"));
  const std::string narrow = svg_forest("AUROC", one, ForestForm::Narrow);
  EXPECT_THAT(narrow, HasSubstr("viewBox=\"0 0 360 90\""));
  EXPECT_THAT(narrow, Not(HasSubstr("0.750")));
}

TEST(SvgPlot, forests_of_two_models_stand_below_each_other_in_a_row) {
  const std::string svg = svg_forest("AUROC", {{.name = "A: base", .rows = {{.label = "Mass", .value = 0.75}}},
                                               {.name = "B: wide", .rows = {{.label = "Mass", .value = 0.5}}}});
  // The row begins at y = 24 px and is 34 px high; its two dots are 14 px apart.
  EXPECT_THAT(svg, HasSubstr("cx=\"360.0\" cy=\"34.0\" r=\"4\" fill=\"#1f5fa8\""));
  EXPECT_THAT(svg, HasSubstr("cx=\"170.0\" cy=\"48.0\" r=\"4\" fill=\"#c2571a\""));
  EXPECT_THAT(svg, HasSubstr("A: base"));
  EXPECT_THAT(svg, HasSubstr("B: wide"));
}

TEST(SvgPlot, series_have_their_colour_and_dashes) {
  const std::string svg =
      svg_lines({.series = {{.name = "a", .points = {{0, 0}, {1, 1}}, .is_dashed = true, .colour = 1},
                            {.name = "b", .points = {{0, 1}, {1, 0}}}}});
  EXPECT_THAT(svg, HasSubstr("stroke=\"#c2571a\" stroke-width=\"1.6\" stroke-dasharray=\"5 3\""));
  EXPECT_THAT(svg, HasSubstr("style=\"fill:#c2571a\">a<"));
}

TEST(SvgPlot, a_logarithmic_axis_shows_the_numbers) {
  EXPECT_THAT(log10_ticks(-0.9, 2.1), ElementsAre(0.0, 1.0, 2.0));
  EXPECT_THAT(log10_ticks(0.2, 1.0), ElementsAre(testing::DoubleEq(std::log10(2.0)), testing::DoubleEq(std::log10(5.0)),
                                                 testing::DoubleEq(1.0)));
  const std::string svg = svg_lines({.x = {.low = -1.0, .high = 3.0, .is_log10 = true}, .series = {{}}});
  EXPECT_THAT(svg, AllOf(HasSubstr(">0.1<"), HasSubstr(">1000<"), Not(HasSubstr(">-1<"))));
}

TEST(SvgPlot, an_axis_has_the_ticks_asked_for) {
  const std::string svg = svg_lines({.x = {.low = 1.0, .high = 16.0, .ticks = {1.0, 4.0, 16.0}}, .series = {{}}});
  EXPECT_THAT(svg, AllOf(HasSubstr(">16<"), HasSubstr(">4<"), Not(HasSubstr(">5<"))));
}

TEST(SvgPlot, long_numbers_do_not_reach_the_title_of_their_axis) {
  Plot plot{.y = {.low = 0.0, .high = 20000.0}, .series = {{.points = {{0.0, 0.0}}}}};
  // 24 pixels for the title and 7 for each of 5 digits.
  EXPECT_THAT(svg_lines(plot), HasSubstr("d=\"M59.0,"));
  plot.y.high = 1.0;
  EXPECT_THAT(svg_lines(plot), HasSubstr("d=\"M52.0,"));
}

TEST(SvgPlot, a_legend_below_the_plot_makes_it_higher) {
  Plot plot{.series = {{.points = {{0, 0}}}, {.name = "one", .points = {{0, 0}}, .colour = 0}},
            .legend = Legend::Below,
            .height_px = 200.0};
  const std::string svg = svg_lines(plot);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 230 218\"")) << "14 px for a name, and 4 px below";
  EXPECT_THAT(svg, HasSubstr("y=\"207.0\" text-anchor=\"start\" style=\"fill:#1f5fa8\">one<"));
  plot.series.pop_back();
  EXPECT_THAT(svg_lines(plot), HasSubstr("viewBox=\"0 0 230 200\"")) << "no name";
}

TEST(SvgPlot, dots_have_their_texts) {
  const std::string svg = svg_lines(
      {.series = {{.points = {{NAN, 0}, {1, 1}}, .has_marks = true, .is_scatter = true, .point_texts = {"a", "<b>"}}}});
  EXPECT_THAT(svg, AllOf(HasSubstr("<title>&lt;b&gt;</title></circle>"), Not(HasSubstr("<title>a<"))));
}

TEST(SvgPlot, a_file_has_its_namespace_once_and_white_behind_all) {
  const std::string inner = svg_forest("AUROC", {{.rows = {{.label = "Mass", .value = 0.75}}}});
  const std::string file = svg_file(inner);
  EXPECT_THAT(file, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  EXPECT_EQ(file.find("xmlns", 10), std::string::npos);
  EXPECT_LT(file.find("<rect width=\"100%\""), file.find("<text"));
  EXPECT_TRUE(file.ends_with(inner.substr(inner.find("<text"))));
}

}  // namespace
}  // namespace roentgen::publish
