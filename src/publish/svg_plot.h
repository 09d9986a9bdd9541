// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws plots as inline SVG text for an HTML page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::publish {

/// Escapes text for HTML and SVG, also inside attributes. & < > " ' become references. Control characters other than
/// tab and newline, which XML does not allow, become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// A point in data coordinates.
struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
};

/// Points joined by a line in their order; points that are not finite are skipped.
struct Series {
  std::string name{};
  std::vector<PlotPoint> points{};
  /// True: draws a dot at each point.
  bool has_marks = false;
  /// True: draws no line between the points.
  bool is_scatter = false;
  bool is_dashed = false;
  /// Index of the line's colour; nullopt: the index of the series in the plot.
  std::optional<std::size_t> colour{};
  /// Texts that a browser shows over the dots, one for each point; empty: none.
  std::vector<std::string> point_texts{};
};

/// An axis that shows values from `low` to `high`.
struct Axis {
  std::string title{};
  double low = 0.0;
  double high = 1.0;
  /// Values with a grid line and a number; empty: round numbers.
  std::vector<double> ticks{};
  /// True: values are logarithms to base 10, and the axis shows the numbers themselves (1, 10, 100).
  bool is_log10 = false;
};

/// Position of the names of a plot's series.
enum class Legend : std::uint8_t {
  UpperRight,  ///< in the plot; drawn if there are several series
  LowerRight,  ///< in the plot; drawn if there are several series
  Below,       ///< under the plot, which makes the picture higher; drawn for all series with a name
};

/// A plot of lines.
struct Plot {
  std::string title{};
  Axis x{};
  Axis y{};
  std::vector<Series> series{};
  /// True: draws a dashed diagonal between the low and the high ends of both axes. It marks chance in a ROC plot, and
  /// perfect calibration in a reliability diagram.
  bool has_diagonal = false;
  Legend legend = Legend::UpperRight;
  double width_px = 230.0;
  double height_px = 230.0;  ///< without a legend below the plot
};

/// Coordinate that an axis shows.
enum class Direction : std::uint8_t { X, Y };

/// Returns an axis that covers all finite points. Its range is widened if all values are equal, and is 0 to 1 without
/// points.
[[nodiscard]] Axis axis_over(std::string title, const std::vector<Series>& series, Direction direction);

/// Returns at most six round numbers between `low` and `high`, at a distance of 1, 2 or 5 times a power of ten.
/// Requires low < high.
[[nodiscard]] std::vector<double> ticks(double low, double high);

/// Returns values for Axis::ticks of an axis with is_log10: powers of ten. An axis that spans less than three decades
/// also has 2 and 5 times them. Requires low < high.
[[nodiscard]] std::vector<double> log10_ticks(double low, double high);

/// Draws the plot as one <svg> element. Skips points within half a pixel of the previous point, except the last point.
[[nodiscard]] std::string svg_lines(const Plot& plot);

/// One row of a forest plot.
struct ForestRow {
  std::string label{};
  /// Value of the row; nullopt: the row shows "undefined".
  std::optional<double> value{};
  /// Lower end of the interval; set if and only if the upper end is set.
  std::optional<double> low{};
  std::optional<double> high{};
};

/// Rows of one model in a forest plot.
struct ForestSeries {
  std::string name{};
  std::vector<ForestRow> rows{};
};

/// Width of a forest plot.
enum class ForestForm : std::uint8_t {
  Wide,    ///< 720 px, with the numbers next to the dots
  Narrow,  ///< 360 px without the numbers, for phones
};

/// Returns a forest plot as one <svg> element. It has rows from top to bottom, a dot with its interval for each series,
/// and a dashed line at 0.5. Values must lie in 0 to 1. Row labels come from the first series; all series must have the
/// same number of rows. Several series get a legend below the axis.
[[nodiscard]] std::string svg_forest(std::string_view title, const std::vector<ForestSeries>& series,
                                     ForestForm form = ForestForm::Wide);

/// Converts an inline SVG to a complete SVG file: adds the namespace, a font and a white background.
[[nodiscard]] std::string svg_file(std::string_view svg);

/// Formats a row's value: "0.921 (0.916 to 0.927)", "0.921" without an interval, "undefined" without a value.
[[nodiscard]] std::string estimate_text(const ForestRow& row);

}  // namespace roentgen::publish
