// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plots as inline SVG text for a page. The data belong to the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::publish {

/// Text escaped for HTML and SVG, also for attributes. & < > " ' become references. Control characters other than tab
/// and newline, which XML does not allow, become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// A point in the units of the axes.
struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
};

/// Points joined by a line, in their order; those that are not finite are left out.
struct Series {
  std::string name{};
  std::vector<PlotPoint> points{};
  /// A dot at each point.
  bool has_marks = false;
  bool is_dashed = false;
  /// Number of its colour; none = its position in the plot.
  std::optional<std::size_t> colour{};
};

/// Values are shown between `low` and `high`.
struct Axis {
  std::string title{};
  double low = 0.0;
  double high = 1.0;
};

/// A plot of lines.
struct Plot {
  std::string title{};
  Axis x{};
  Axis y{};
  std::vector<Series> series{};
  /// Dashed, from the low ends of both axes to the high ones: chance in a ROC plot, truth in a reliability diagram.
  bool has_diagonal = false;
  /// Names of the series at the lower right corner, not at the upper one.
  bool has_low_legend = false;
  double width_px = 230.0;
  double height_px = 230.0;
};

/// Coordinate of the points that an axis shows.
enum class Direction : std::uint8_t { X, Y };

/// An axis that covers all finite points, widened when they are all equal; 0 to 1 without points.
[[nodiscard]] Axis axis_over(std::string title, const std::vector<Series>& series, Direction direction);

/// Round numbers, 1, 2 or 5 times a power of ten apart, that lie between low and high: six at most, low < high.
[[nodiscard]] std::vector<double> ticks(double low, double high);

/// The plot as one <svg> element. Series are named in it where there are several.
/// Points nearer than half a pixel to the one before are left out, never the last.
[[nodiscard]] std::string svg_lines(const Plot& plot);

/// One line of a forest plot.
struct ForestRow {
  std::string label{};
  /// Value; nullopt: the row says "undefined".
  std::optional<double> value{};
  /// Ends of the interval, both or none.
  std::optional<double> low{};
  std::optional<double> high{};
};

/// Rows of one model.
struct ForestSeries {
  std::string name{};
  std::vector<ForestRow> rows{};
};

/// Width of a forest plot.
enum class ForestForm : std::uint8_t {
  Wide,    ///< 720 px, figures beside the dots
  Narrow,  ///< 360 px without figures, for a phone
};

/// Rows from top to bottom, a dot with its interval for each series, 0.5 dashed; values lie in 0 ... 1. Labels are
/// those of the first series, and all series have as many rows. Several series are named below the axis. One <svg>
/// element.
[[nodiscard]] std::string svg_forest(std::string_view title, const std::vector<ForestSeries>& series,
                                     ForestForm form = ForestForm::Wide);

/// Turns an inline SVG into a complete file: adds the namespace, a font, and a white background.
[[nodiscard]] std::string svg_file(std::string_view svg);

/// "0.921 (0.916 to 0.927)", "0.921" without interval, "undefined" without value.
[[nodiscard]] std::string estimate_text(const ForestRow& row);

}  // namespace roentgen::publish
