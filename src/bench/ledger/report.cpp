// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/published.h"
#include "bench/ledger/report_plots.h"
#include "core/foreign_text.h"
#include "io/file.h"
#include "publish/svg_plot.h"

namespace roentgen::bench {
namespace {

using publish::escaped;

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1200px;padding:8px 16px 48px;color:#222;"
    "background:#fff}h2{margin:32px 0 8px;border-bottom:1px solid #ddd}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:3px 12px 3px 0;text-align:left;"
    "border-bottom:1px solid #ddd;vertical-align:top}.scroll{overflow-x:auto}"
    "code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}.absent{color:#5c5c5c}h3{margin:20px 0 4px}"
    "code span{white-space:nowrap}details{margin:12px 0}summary{cursor:pointer}.note{max-width:75ch}"
    ".plots{display:flex;flex-wrap:wrap;align-items:flex-start;gap:16px}svg{max-width:100%;height:auto;font-family:"
    "system-ui,sans-serif}";

constexpr std::string_view kOurSpeed = "our images/s";

/// File of a table beside the page.
std::filesystem::path csv_path(const std::filesystem::path& page, const ReportTable& table) {
  return page.parent_path() / fmt::format("{}_{}.csv", page.stem().string(), table.name);
}

std::string number(double value) {
  constexpr double kLongest = 1e9;  // longer numbers have an exponent
  constexpr double kFiveDigits = 1e5;
  return std::abs(value) >= kFiveDigits && std::abs(value) < kLongest ? fmt::format("{:.0f}", value)
                                                                      : fmt::format("{:.5g}", value);
}

std::string text_at(const Value& table, std::string_view key) {
  const Value* const value = table.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::string number_at(const Value& table, std::string_view key) {
  const Value* const value = table.find(key);
  return value != nullptr && value->is_number() ? number(value->as_double()) : std::string();
}

bool is_speed(const Figure& figure) { return figure.name.ends_with("images_per_s"); }
bool is_energy(const Figure& figure) { return figure.name.ends_with("_per_joule"); }

/// Rows of the figures for which `is_wanted`: their medians over the records of a group.
template <typename Wanted>
ReportTable figure_table(std::string name, const std::vector<RecordGroup>& groups, const Wanted& is_wanted) {
  ReportTable table{.name = std::move(name),
                    .head = {"case", "figure", "median", "min", "max", "records", "commit", "host", "command"}};
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    for (const Figure& figure : main_figures(last.value.at("result"))) {
      if (!is_wanted(figure)) continue;
      std::vector<double> values;
      for (const StoredRecord& record : group.records) {
        for (const Figure& each : main_figures(record.value.at("result"))) {
          if (each.name == figure.name) values.push_back(each.value);
        }
      }
      const Summary summary = summarise(values);
      table.rows.push_back({group.label, figure.name, number(summary.median), number(summary.min), number(summary.max),
                            fmt::to_string(values.size()), last.value.at("commit").as_string(),
                            last.value.at("host").as_string(), command_text(last.value)});
    }
  }
  return table;
}

ReportTable scaling_table(const Value& published) {
  ReportTable table{.name = "scaling",
                    .head = {"model", "hardware", "devices", "dtype", "published images/s", "published efficiency",
                             std::string(kOurSpeed), "ratio", "our hardware", "our conditions", "differences",
                             "software", "source", "command"}};
  for (const Value& row : published.as_array()) {
    table.rows.push_back({text_at(row, "model"), text_at(row, "hardware"), number_at(row, "devices"),
                          text_at(row, "dtype"), number_at(row, "published"), number_at(row, "efficiency"),
                          number_at(row, "ours"), number_at(row, "ratio"), text_at(row, "our_hardware"),
                          text_at(row, "our_conditions"), text_at(row, "note"), text_at(row, "software"),
                          text_at(row, "source"), text_at(row, "command")});
  }
  return table;
}

/// Rows of all kinds of kernels, from the latest record of each group that has a profile.
ReportTable roofline_table(const std::vector<RecordGroup>& groups) {
  ReportTable table{.name = "roofline",
                    .head = {"case", "kind of kernel", "FLOP per byte", "GFLOP/s", "GB/s", "share of peak",
                             "share of time", "command"}};
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const Value* const profile = last.value.find_path("result.profile");
    if (profile == nullptr || !profile->is_array()) continue;
    for (const Value& row : profile->as_array()) {
      const Value* const gflops = row.find("gflops");
      const Value* const gb_per_s = row.find("gb_per_s");
      if (gflops == nullptr || gb_per_s == nullptr || !gflops->is_number() || !gb_per_s->is_number()) continue;
      table.rows.push_back({group.label, text_at(row, "kind"), number(gflops->as_double() / gb_per_s->as_double()),
                            number(gflops->as_double()), number(gb_per_s->as_double()), number_at(row, "of_peak"),
                            number_at(row, "share"), command_text(last.value)});
    }
  }
  return table;
}

/// Energy and cost of the latest record of each group that knows one of them.
ReportTable energy_table(const std::vector<RecordGroup>& groups) {
  ReportTable table{.name = "energy",
                    .head = {"case", "watts", "images per joule", "price per hour", "images per unit of money",
                             "price of reaching the target", "command"}};
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const auto at = [&last](std::string_view path) {
      const Value* const value = last.value.find_path(path);
      return value != nullptr && value->is_number() ? number(value->as_double()) : std::string();
    };
    std::vector<std::string> row{group.label,
                                 at("result.energy.watts"),
                                 at("result.energy.images_per_joule"),
                                 at("result.cost.per_hour"),
                                 at("result.cost.images_per_cost"),
                                 at("result.cost.to_target"),
                                 command_text(last.value)};
    if (!row[1].empty() || !row[3].empty()) table.rows.push_back(std::move(row));
  }
  return table;
}

/// Settings of each group, which the other tables do not repeat.
ReportTable settings_table(const std::vector<RecordGroup>& groups) {
  ReportTable table{.name = "settings", .head = {"case", "records", "settings", "command"}};
  for (const RecordGroup& group : groups) {
    table.rows.push_back({group.label, fmt::to_string(group.records.size()), settings_text(group.settings),
                          command_text(group.records.back().value)});
  }
  return table;
}

/// Command as HTML in which lines do not break inside an option.
std::string html_command(std::string_view command) {
  std::string text;
  while (!command.empty()) {
    const std::size_t end = std::min(command.find(' '), command.size());
    const std::string word = escaped(command.substr(0, end));
    text += word.starts_with("--") ? "<span>" + word + "</span>" : word;
    if (end < command.size()) text += ' ';
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return "<code>" + text + "</code>";
}

std::string html_cell(std::string_view head, const std::string& text) {
  constexpr std::size_t kCommitDigits = 8;
  if (head == "command" && !text.empty()) return html_command(text);
  return escaped(head == "commit" ? text.substr(0, kCommitDigits) : text);
}

using Cells = std::vector<std::vector<std::string>>;

/// Number of rows from `begin` on that have the same case and command, for columns that would only repeat them.
std::size_t equal_rows(const std::vector<std::string>& head, const Cells& rows, std::size_t begin) {
  if (head.front() != "case" || head.back() != "command") return 1;
  std::size_t end = begin + 1;
  while (end < rows.size() && rows[end].front() == rows[begin].front() && rows[end].back() == rows[begin].back()) ++end;
  return end - begin;
}

std::string html_rows(const std::vector<std::string>& head, const Cells& rows) {
  constexpr std::array<std::string_view, 4> kShared{"case", "commit", "host", "command"};
  std::string text = "<div class=\"scroll\"><table><tr>";
  for (const std::string& cell : head) text += fmt::format("<th>{}</th>", escaped(cell));
  text += "</tr>\n";
  std::size_t begin = 0, count = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r == begin + count) {
      begin = r;
      count = equal_rows(head, rows, begin);
    }
    text += "<tr>";
    for (std::size_t i = 0; i < head.size(); ++i) {
      const bool is_shared = std::ranges::find(kShared, head[i]) != kShared.end();
      if (is_shared && r != begin) continue;
      const std::string span = is_shared && count > 1 ? fmt::format(" rowspan=\"{}\"", count) : "";
      text += fmt::format("<td{}>{}</td>", span, html_cell(head[i], rows[r][i]));
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

/// Formats the given columns of rows of a table.
std::string html_columns(const ReportTable& table, const Cells& rows, const std::vector<std::string_view>& columns) {
  std::vector<std::string> head(columns.begin(), columns.end());
  Cells cells(rows.size());
  for (const std::string& name : head) {
    const auto column = static_cast<std::size_t>(std::ranges::find(table.head, name) - table.head.begin());
    for (std::size_t r = 0; r < rows.size(); ++r) cells[r].push_back(rows[r][column]);
  }
  return html_rows(head, cells);
}

/// Published speeds: a table below each speed of ours, and the others folded.
std::string html_scaling(const ReportTable& table) {
  const auto column = [&table](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(table.head, name) - table.head.begin());
  };
  const std::size_t model = column("model"), devices = column("devices"), ours = column(kOurSpeed);
  Cells others;
  std::vector<Cells> groups;  // rows beside the same speed of ours
  for (const std::vector<std::string>& row : table.rows) {
    if (row[ours].empty()) {
      others.push_back(row);
      continue;
    }
    const auto found = std::ranges::find_if(groups, [&](const Cells& group) {
      return group.front()[model] == row[model] && group.front()[devices] == row[devices];
    });
    (found != groups.end() ? *found : groups.emplace_back()).push_back(row);
  }
  std::string text;
  for (const Cells& group : groups) {
    const std::vector<std::string>& row = group.front();
    text += fmt::format("<h3>{}, {} {}: {} images/s on {}, {}</h3>\n<p>{}</p>\n", escaped(row[model]), row[devices],
                        row[devices] == "1" ? "device" : "devices", row[ours], escaped(row[column("our hardware")]),
                        escaped(row[column("our conditions")]), html_command(row[column("command")]));
    text += html_columns(table, group,
                         {"hardware", "dtype", "published images/s", "published efficiency", "ratio", "differences",
                          "software", "source"});
  }
  if (groups.empty()) {
    text += fmt::format(
        "<p class=\"absent\">None of our training speeds has a published model and number of devices, and "
        "images of at least {} px: roentgen bench short --model resnet50</p>\n",
        kPublishedImagePx);
  }
  return text + fmt::format("<details><summary>{} published speeds without one of ours</summary>\n{}</details>\n",
                            others.size(),
                            html_columns(table, others,
                                         {"model", "devices", "hardware", "dtype", "published images/s",
                                          "published efficiency", "differences", "software", "source"}));
}

/// Texts of a section of the page.
struct SectionText {
  std::string_view title{};
  std::string_view note{};    ///< explains the plots and the table
  std::string_view absent{};  ///< stands in place of an empty table
};

std::string section(const SectionText& about, const std::string& plots, const ReportTable& table,
                    const std::filesystem::path& page) {
  std::string text = fmt::format("<h2 id=\"{}\">{}</h2>\n", escaped(table.name), escaped(about.title));
  if (table.rows.empty()) return text + fmt::format("<p class=\"absent\">{}</p>\n", escaped(about.absent));
  text += fmt::format("<p class=\"note\">{}</p>\n", escaped(about.note));
  if (!plots.empty()) text += fmt::format("<div class=\"plots\">{}</div>\n", plots);
  text += table.name == "scaling" ? html_scaling(table) : html_rows(table.head, table.rows);
  const std::string file = csv_path(page, table).filename().string();
  return text + fmt::format("<p>As csv: <a href=\"{0}\">{0}</a></p>\n", escaped(file));
}

std::string summary_of(const std::vector<StoredRecord>& records) {
  std::set<std::string> hosts, commits;
  for (const StoredRecord& record : records) {
    commits.insert(record.value.at("commit").as_string().substr(0, 8));
    const Value* const cpu = record.value.find_path("result.cpu.model");
    const std::string model = cpu != nullptr && cpu->is_string() ? cpu->as_string() : "unknown CPU";
    hosts.insert(fmt::format("{} ({})", record.value.at("host").as_string(), model));
  }
  return fmt::format("<p>{} records from {} to {}. Machines (hash of the name): {}. Commits of Roentgen: {}.</p>\n",
                     records.size(), escaped(records.front().value.at("date").as_string()),
                     escaped(records.back().value.at("date").as_string()),
                     escaped(fmt::format("{}", fmt::join(hosts, ", "))),
                     escaped(fmt::format("{}", fmt::join(commits, ", ")))) +
         "<p class=\"note\">A row stands for all records of one case with equal settings, which the last section "
         "lists. "
         "Its figure is their median. The command of the latest record repeats the measurement.</p>\n";
}

}  // namespace

BenchReport make_report(const std::vector<StoredRecord>& records, const std::filesystem::path& page) {
  const std::vector<RecordGroup> groups = grouped(records);
  const auto is_other = [](const Figure& figure) { return !is_speed(figure) && !is_energy(figure); };
  BenchReport report{.page = page};
  std::string sections;
  const auto add = [&](const SectionText& about, const std::string& plots, ReportTable table) {
    sections += section(about, plots, table, page);
    report.tables.push_back(std::move(table));
  };
  add({.title = "Throughput",
       .note = "Images per second: of inference in the case infer, of loading in pipeline, formats and ablation, "
               "otherwise of training. Min and max are the slowest and the fastest record.",
       .absent = "No speeds: roentgen bench step"},
      throughput_plots(groups), figure_table("throughput", groups, is_speed));
  add({.title = "Scaling beside published figures",
       .note = "Dashed lines are published speeds of other programs, on the hardware in their names. A line named ours "
               "has the fastest records with equal settings. The ratio is our speed divided by the published one. A "
               "device is "
               "a GPU, or a process on a CPU."},
      scaling_plots(training_speeds(records)), scaling_table(beside_published(records)));
  add({.title = "Roofline",
       .note =
           "A dot is a kind of kernel; hold the pointer over it to see the name. Below the sloping part of the dashed "
           "line, memory limits the speed; below the flat part, arithmetic does. Dots can lie above the line: data "
           "may come from caches, and Winograd's algorithm needs fewer operations than are counted.",
       .absent = "No profiles: roentgen bench step --profile"},
      roofline_plots(groups), roofline_table(groups));
  add({.title = "Energy and cost",
       .note = "From the latest record of each row. Prices have the unit of --cost-per-hour.",
       .absent = "No energy: neither NVML nor RAPL was readable, and no --cost-per-hour was given"},
      energy_plot(groups), energy_table(groups));
  add({.title = "Other figures",
       .note =
           "Names end with the unit: _s and _ms are times, _per_s are rates. Speedup and efficiency are against one "
           "device.",
       .absent = "None."},
      "", figure_table("other", groups, is_other));
  add({.title = "Settings", .note = "Only records with equal settings are comparable."}, "", settings_table(groups));
  report.html = fmt::format(
                    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<meta name=\"viewport\" content=\"width=device-width\"><title>Roentgen benchmarks</title>"
                    "<style>{}</style></head><body>\n<h1>Roentgen benchmarks</h1>\n",
                    kStyle) +
                summary_of(records) + sections + "</body></html>\n";
  return report;
}

std::string to_csv(const ReportTable& table) {
  std::string text;
  const auto add_row = [&text](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(cells[i]);
    text += "\n";
  };
  add_row(table.head);
  for (const std::vector<std::string>& row : table.rows) add_row(row);
  return text;
}

std::vector<std::filesystem::path> write_report(const BenchReport& report) {
  std::vector<std::filesystem::path> files{report.page};
  io::write_file_atomically(report.page, report.html);
  for (const ReportTable& table : report.tables) {
    files.push_back(csv_path(report.page, table));
    io::write_file_atomically(files.back(), to_csv(table));
  }
  return files;
}

}  // namespace roentgen::bench
