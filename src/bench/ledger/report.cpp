// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
    "code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}.absent{color:#5c5c5c}"
    ".plots{display:flex;flex-wrap:wrap;gap:16px}svg{max-width:100%;height:auto;font-family:system-ui,sans-serif}";

std::string number(double value) { return fmt::format("{:.5g}", value); }

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
                            fmt::to_string(values.size()), last.value.at("commit").as_string().substr(0, 8),
                            last.value.at("host").as_string(), command_text(last.value)});
    }
  }
  return table;
}

ReportTable scaling_table(const Value& published) {
  ReportTable table{.name = "scaling",
                    .head = {"model", "hardware", "devices", "dtype", "published images/s", "published efficiency",
                             "our images/s", "ratio", "our hardware", "differences", "software", "source", "command"}};
  for (const Value& row : published.as_array()) {
    table.rows.push_back({text_at(row, "model"), text_at(row, "hardware"), number_at(row, "devices"),
                          text_at(row, "dtype"), number_at(row, "published"), number_at(row, "efficiency"),
                          number_at(row, "ours"), number_at(row, "ratio"), text_at(row, "our_hardware"),
                          text_at(row, "note"), text_at(row, "software"), text_at(row, "source"),
                          text_at(row, "command")});
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

std::string html_table(const ReportTable& table, std::string_view page_csv) {
  std::string text = "<div class=\"scroll\"><table><tr>";
  for (const std::string& cell : table.head) text += fmt::format("<th>{}</th>", escaped(cell));
  text += "</tr>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_command = table.head[i] == "command" && !row[i].empty();
      text += fmt::format(fmt::runtime(is_command ? "<td><code>{}</code></td>" : "<td>{}</td>"), escaped(row[i]));
    }
    text += "</tr>\n";
  }
  return text + fmt::format("</table></div>\n<p>As csv: {}</p>\n", escaped(page_csv));
}

std::string section(std::string_view title, std::string_view plots, const ReportTable& table, std::string_view absent) {
  std::string text = fmt::format("<h2 id=\"{0}\">{1}</h2>\n", escaped(table.name), escaped(title));
  if (!plots.empty()) text += fmt::format("<div class=\"plots\">{}</div>\n", plots);
  if (table.rows.empty()) return text + fmt::format("<p class=\"absent\">{}</p>\n", escaped(absent));
  return text + html_table(table, fmt::format("the file ending with _{}.csv beside this page", table.name));
}

std::string summary_of(const std::vector<StoredRecord>& records) {
  std::set<std::string> hosts, commits, machines;
  for (const StoredRecord& record : records) {
    hosts.insert(record.value.at("host").as_string());
    commits.insert(record.value.at("commit").as_string().substr(0, 8));
    const Value* const cpu = record.value.find_path("result.cpu.model");
    if (cpu != nullptr && cpu->is_string()) machines.insert(cpu->as_string());
  }
  return fmt::format(
      "<p>{} records from {} to {}. Hosts: {}. Commits: {}. CPUs: {}.</p>\n", records.size(),
      escaped(records.front().value.at("date").as_string()), escaped(records.back().value.at("date").as_string()),
      escaped(fmt::format("{}", fmt::join(hosts, ", "))), escaped(fmt::format("{}", fmt::join(commits, ", "))),
      escaped(machines.empty() ? "unknown" : fmt::format("{}", fmt::join(machines, ", "))));
}

}  // namespace

BenchReport make_report(const std::vector<StoredRecord>& records) {
  const std::vector<RecordGroup> groups = grouped(records);
  const auto is_other = [](const Figure& figure) { return !is_speed(figure) && !is_energy(figure); };
  BenchReport report;
  report.tables = {figure_table("throughput", groups, is_speed), scaling_table(beside_published(records)),
                   roofline_table(groups), energy_table(groups), figure_table("other", groups, is_other)};
  report.html =
      fmt::format(
          "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>Roentgen benchmarks</title>"
          "<style>{}</style></head><body>\n<h1>Roentgen benchmarks</h1>\n",
          kStyle) +
      summary_of(records) +
      section("Throughput", throughput_plots(groups), report.tables[0], "No speeds: roentgen bench step") +
      section("Scaling beside published figures", scaling_plots(training_speeds(records)), report.tables[1], "") +
      section("Roofline", roofline_plot(groups), report.tables[2],
              "No profiles: roentgen bench step --profile, and roentgen bench peak for the limits of the machine") +
      section("Energy and cost", energy_plot(groups), report.tables[3],
              "No energy: neither NVML nor RAPL was readable, and no --cost-per-hour was given") +
      section("Other figures", "", report.tables[4], "None.") + "</body></html>\n";
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

std::vector<std::filesystem::path> write_report(const BenchReport& report, const std::filesystem::path& page) {
  std::vector<std::filesystem::path> files{page};
  io::write_file_atomically(page, report.html);
  for (const ReportTable& table : report.tables) {
    files.push_back(page.parent_path() / fmt::format("{}_{}.csv", page.stem().string(), table.name));
    io::write_file_atomically(files.back(), to_csv(table));
  }
  return files;
}

}  // namespace roentgen::bench
