// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/error.h"

namespace roentgen::publish {
namespace {

constexpr double kLeftPx = 52.0;
constexpr double kRightPx = 14.0;
constexpr double kTopPx = 26.0;
constexpr double kBottomPx = 40.0;
constexpr double kLeastStepPx = 0.5;
constexpr double kLegendPx = 14.0;  // vertical distance between names in the legend

constexpr std::array<std::string_view, 6> kColours = {"#1f5fa8", "#c2571a", "#4b7f3a", "#7a4fa3", "#00798c", "#8a6d1f"};

std::string_view colour(std::size_t i) { return kColours.at(i % kColours.size()); }

bool is_finite(const PlotPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

double share(double value, const Axis& axis) { return (value - axis.low) / (axis.high - axis.low); }

std::vector<double> ticks_of(const Axis& axis) {
  if (!axis.ticks.empty()) return axis.ticks;
  return axis.is_log10 ? log10_ticks(axis.low, axis.high) : ticks(axis.low, axis.high);
}

std::string tick_text(const Axis& axis, double tick) {
  return fmt::format("{:g}", axis.is_log10 ? std::pow(10.0, tick) : tick);
}

// Left margin: its title and the longest number of the vertical axis.
double left_px(const Plot& plot) {
  constexpr double kTitlePx = 24.0;
  constexpr double kDigitPx = 7.0;
  double left = kLeftPx;
  for (const double tick : ticks_of(plot.y)) {
    left = std::max(left, kTitlePx + kDigitPx * static_cast<double>(tick_text(plot.y, tick).size()));
  }
  return left;
}

// Converts data coordinates to pixels.
PlotPoint place(const Plot& plot, const PlotPoint& point) {
  const double left = left_px(plot);
  return {.x = left + share(point.x, plot.x) * (plot.width_px - left - kRightPx),
          .y = plot.height_px - kBottomPx - share(point.y, plot.y) * (plot.height_px - kTopPx - kBottomPx)};
}

std::string text_at(PlotPoint at, std::string_view anchor, std::string_view text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", at.x, at.y, anchor, more,
                     escaped(text));
}

std::string line(PlotPoint from, PlotPoint to, std::string_view look) {
  return fmt::format("<path d=\"M{:.1f},{:.1f}L{:.1f},{:.1f}\" {}/>\n", from.x, from.y, to.x, to.y, look);
}

std::string opened(double width_px, double height_px, std::string_view title) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" "
      "font-size=\"11\" fill=\"#222\">\n",
      width_px, height_px, escaped(title));
}

std::string frame(const Plot& plot) {
  constexpr std::string_view kGrid = "stroke=\"#ddd\" fill=\"none\"";
  std::string text;
  for (const double tick : ticks_of(plot.x)) {
    const PlotPoint foot = place(plot, {.x = tick, .y = plot.y.low});
    text += line(foot, place(plot, {.x = tick, .y = plot.y.high}), kGrid);
    text += text_at({.x = foot.x, .y = foot.y + 14.0}, "middle", tick_text(plot.x, tick));
  }
  for (const double tick : ticks_of(plot.y)) {
    const PlotPoint foot = place(plot, {.x = plot.x.low, .y = tick});
    text += line(foot, place(plot, {.x = plot.x.high, .y = tick}), kGrid);
    text += text_at({.x = foot.x - 5.0, .y = foot.y + 4.0}, "end", tick_text(plot.y, tick));
  }
  const double middle_x = (left_px(plot) + plot.width_px - kRightPx) / 2.0;
  const double middle_y = (kTopPx + plot.height_px - kBottomPx) / 2.0;
  text += text_at({.x = middle_x, .y = 15.0}, "middle", plot.title, " font-weight=\"bold\"");
  text += text_at({.x = middle_x, .y = plot.height_px - 8.0}, "middle", plot.x.title);
  text += text_at({.x = 12.0, .y = middle_y}, "middle", plot.y.title,
                  fmt::format(" transform=\"rotate(-90 12 {:.1f})\"", middle_y));
  return text;
}

std::string_view colour_of(const Plot& plot, std::size_t index) {
  return colour(plot.series[index].colour.value_or(index));
}

std::string drawn(const Plot& plot, std::size_t index) {
  const Series& series = plot.series[index];
  const std::string_view stroke = colour_of(plot, index);
  std::vector<PlotPoint> places;
  std::string path, marks;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (!is_finite(series.points[i])) continue;
    const PlotPoint at = places.emplace_back(place(plot, series.points[i]));
    if (!series.has_marks) continue;
    const std::string text =
        i < series.point_texts.size() ? fmt::format("<title>{}</title>", escaped(series.point_texts[i])) : "";
    marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"{}\n", at.x, at.y, stroke,
                         text.empty() ? "/>" : ">" + text + "</circle>");
  }
  if (places.empty()) return "";
  PlotPoint last{.x = -1e9, .y = -1e9};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlotPoint& at = places[i];
    const double dx = at.x - last.x, dy = at.y - last.y;
    if (dx * dx + dy * dy < kLeastStepPx * kLeastStepPx && i + 1 < places.size()) continue;
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", at.x, at.y);
    last = at;
  }
  if (series.is_scatter) return marks;
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", path, stroke,
                     series.is_dashed ? " stroke-dasharray=\"5 3\"" : "") +
         marks;
}

std::string legend(const Plot& plot) {
  const bool is_below = plot.legend == Legend::Below;
  const std::size_t count = plot.series.size();
  if (count < 2 && !is_below) return "";
  double y = kTopPx + kLegendPx;
  if (plot.legend == Legend::LowerRight) y = plot.height_px - kBottomPx - kLegendPx * static_cast<double>(count);
  if (is_below) y = plot.height_px + kLegendPx / 2.0;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const Series& series = plot.series[i];
    if (is_below && series.name.empty()) continue;
    const std::string fill = fmt::format(" style=\"fill:{}\"", colour_of(plot, i));
    if (!is_below) {
      text += text_at({.x = plot.width_px - kRightPx - 4.0, .y = y}, "end", series.name, fill);
      y += kLegendPx;
      continue;
    }
    const double left = left_px(plot);
    constexpr double kSamplePx = 18.0;
    text += series.is_scatter ? fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                                            left + kSamplePx / 2.0, y - 4.0, colour_of(plot, i))
                              : line({.x = left, .y = y - 4.0}, {.x = left + kSamplePx, .y = y - 4.0},
                                     fmt::format("stroke=\"{}\" stroke-width=\"1.6\"{}", colour_of(plot, i),
                                                 series.is_dashed ? " stroke-dasharray=\"5 3\"" : ""));
    text += text_at({.x = left + kSamplePx + 6.0, .y = y}, "start", series.name, fill);
    y += kLegendPx;
  }
  return text;
}

constexpr double kForestHead = 24.0;

// Positions of labels, axis and numbers in a forest plot, px.
struct ForestPlace {
  ForestPlace(const std::vector<ForestSeries>& series, ForestForm form)
      : names(form == ForestForm::Wide ? 170.0 : 128.0),
        plot(form == ForestForm::Wide ? 380.0 : 220.0),
        figures(form == ForestForm::Wide ? 170.0 : 12.0),
        has_figures(form == ForestForm::Wide),
        models(static_cast<double>(series.size())),
        rows(static_cast<double>(series.front().rows.size())) {
    double low = 0.5;
    for (const ForestSeries& one : series) {
      RG_ASSERT(one.rows.size() == series.front().rows.size());
      for (const ForestRow& row : one.rows) low = std::min({low, row.value.value_or(low), row.low.value_or(low)});
    }
    axis.low = std::max(0.0, std::floor(low * 10.0) / 10.0);
  }
  [[nodiscard]] double width() const { return names + plot + figures; }
  [[nodiscard]] double row_px() const { return 6.0 + 14.0 * models; }
  [[nodiscard]] double bottom() const { return kForestHead + row_px() * rows; }
  [[nodiscard]] double x(double value) const { return names + share(value, axis) * plot; }
  [[nodiscard]] double middle(std::size_t row) const {
    return kForestHead + row_px() * (static_cast<double>(row) + 0.5);
  }
  [[nodiscard]] double y(std::size_t row, std::size_t model) const {
    return middle(row) + 14.0 * (static_cast<double>(model) - (models - 1.0) / 2.0);
  }

  double names;
  double plot;
  double figures;
  bool has_figures;
  double models;
  double rows;
  Axis axis{};
};

std::string forest_frame(const ForestPlace& place, std::string_view title) {
  std::string text =
      text_at({.x = place.names + place.plot / 2.0, .y = 15.0}, "middle", title, " font-weight=\"bold\"");
  const auto upright = [&](double value, std::string_view look) {
    return line({.x = place.x(value), .y = kForestHead}, {.x = place.x(value), .y = place.bottom()}, look);
  };
  for (const double tick : ticks(place.axis.low, place.axis.high)) {
    text += upright(tick, "stroke=\"#ddd\"");
    text += text_at({.x = place.x(tick), .y = place.bottom() + 15.0}, "middle", fmt::format("{:g}", tick));
  }
  return text + upright(0.5, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
}

std::string forest_row(const ForestPlace& place, const ForestRow& row, double y, std::size_t model) {
  std::string text;
  if (place.has_figures) {
    text += text_at({.x = place.names + place.plot + 12.0, .y = y + 4.0}, "start", estimate_text(row));
  }
  if (row.low && row.high) {
    text += line({.x = place.x(*row.low), .y = y}, {.x = place.x(*row.high), .y = y},
                 fmt::format("stroke=\"{}\" stroke-width=\"2\"", colour(model)));
  }
  if (row.value) {
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", place.x(*row.value), y,
                        colour(model));
  }
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
          result += "\xEF\xBF\xBD";
        } else {
          result += c;
        }
    }
  }
  return result;
}

Axis axis_over(std::string title, const std::vector<Series>& series, Direction direction) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Series& one : series) {
    for (const PlotPoint& point : one.points) {
      if (!is_finite(point)) continue;
      const double value = direction == Direction::X ? point.x : point.y;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return {.title = std::move(title)};
  // Margin above and below the values: 4% of their range, or a tenth of their size if all values are equal.
  const double spread = high > low ? 0.04 * (high - low) : std::max(0.1 * std::abs(low), 1e-6);
  const double margin = direction == Direction::X && high > low ? 0.0 : spread;
  return {.title = std::move(title), .low = low - margin, .high = high + margin};
}

std::vector<double> ticks(double low, double high) {
  constexpr double kMost = 6.0;
  const double power = std::pow(10.0, std::floor(std::log10((high - low) / kMost)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if ((high - low) / (factor * power) <= kMost - 1.0 + 1e-9) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> result;
  const double last = std::floor(high / step + 1e-9);
  for (double i = std::ceil(low / step - 1e-9); i <= last; i += 1.0) result.push_back(i == 0.0 ? 0.0 : i * step);
  return result;
}

std::vector<double> log10_ticks(double low, double high) {
  constexpr double kFewDecades = 3.0;
  const std::vector<double> factors = high - low < kFewDecades ? std::vector{1.0, 2.0, 5.0} : std::vector{1.0};
  std::vector<double> result;
  for (double decade = std::floor(low); decade <= high; decade += 1.0) {
    for (const double factor : factors) {
      const double tick = decade + std::log10(factor);
      if (tick >= low - 1e-9 && tick <= high + 1e-9) result.push_back(tick);
    }
  }
  return result;
}

std::string svg_lines(const Plot& plot) {
  const auto names = std::ranges::count_if(plot.series, [](const Series& one) { return !one.name.empty(); });
  const double legend_px =
      plot.legend == Legend::Below && names > 0 ? kLegendPx * static_cast<double>(names) + 4.0 : 0.0;
  std::string text = opened(plot.width_px, plot.height_px + legend_px, plot.title) + frame(plot);
  if (plot.has_diagonal) {
    text += line(place(plot, {.x = plot.x.low, .y = plot.y.low}), place(plot, {.x = plot.x.high, .y = plot.y.high}),
                 "stroke=\"#999\" stroke-dasharray=\"4 3\" fill=\"none\"");
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i) text += drawn(plot, i);
  return text + legend(plot) + "</svg>\n";
}

std::string svg_file(std::string_view svg) {
  constexpr std::string_view kOpening = "<svg ";
  RG_ASSERT(svg.starts_with(kOpening));
  const std::size_t body = svg.find('>') + 1;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"system-ui,sans-serif\" {}\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{}",
      svg.substr(kOpening.size(), body - kOpening.size()), svg.substr(body));
}

std::string estimate_text(const ForestRow& row) {
  if (!row.value) return "undefined";
  std::string text = fmt::format("{:.3f}", *row.value);
  return row.low && row.high ? text + fmt::format(" ({:.3f} to {:.3f})", *row.low, *row.high) : text;
}

std::string svg_forest(std::string_view title, const std::vector<ForestSeries>& series, ForestForm form) {
  const ForestPlace place(series, form);
  std::string text =
      opened(place.width(), place.bottom() + (series.size() > 1 ? 40.0 : 26.0), title) + forest_frame(place, title);
  for (std::size_t i = 0; i < series.front().rows.size(); ++i) {
    text += text_at({.x = place.names - 10.0, .y = place.middle(i) + 4.0}, "end", series.front().rows[i].label);
    for (std::size_t k = 0; k < series.size(); ++k) text += forest_row(place, series[k].rows[i], place.y(i, k), k);
  }
  double x = place.names;
  for (std::size_t k = 0; k < series.size() && series.size() > 1; ++k, x += place.plot / 2.0) {
    text += text_at({.x = x, .y = place.bottom() + 32.0}, "start", series[k].name,
                    fmt::format(" style=\"fill:{}\"", colour(k)));
  }
  return text + "</svg>\n";
}

}  // namespace roentgen::publish
