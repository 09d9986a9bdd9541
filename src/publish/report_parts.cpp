// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/report_parts.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "core/plural.h"
#include "publish/run_tables.h"

namespace roentgen::publish {
namespace {

// Returns the name of the run's split that has exactly these images; empty if no split or several splits have them.
std::string split_of(const Value& data, const std::string& list_sha256) {
  std::string found;
  if (const Value* splits = find(data, {"splits"}); splits != nullptr && splits->is_table()) {
    for (const auto& [name, split] : splits->as_table()) {
      if (text_of(find(split, {"list_sha256"})) != list_sha256) continue;
      if (!found.empty()) return "";
      found = name;
    }
  }
  return found;
}

std::string split_text(const Value& data, const std::string& list_sha256) {
  const std::string split = split_of(data, list_sha256);
  if (split.empty()) return "a list that is no split of the run";
  std::string text = fmt::format("split \"{}\" of the run", split);
  if (split == "val") text += " (its best epoch was chosen on these very images)";
  if (split == "train") text += " (training images: these metrics show memorisation)";
  return text;
}

std::string row(const std::vector<std::string>& cells, std::string_view tag) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format("<{0}{1}>{2}</{0}>", tag, i == 0 ? "" : " class=\"n\"", cells[i]);
  }
  return text + "</tr>\n";
}

}  // namespace

// CSS of the page. Dark mode inverts the brightness of plots and keeps their hues.
const std::string_view kReportStyle =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#222;--dim:#5c5c5c;--line:#ddd;--panel:#f6f6f6;--alert:#fdf3ec;"
    "--link:#1f5fa8}"
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#16181b;--ink:#e2e2e2;--dim:#a6a6a6;--line:#3b3f45;"
    "--panel:#202327;--alert:#38261a;--link:#8ab8ee}svg{filter:invert(1) hue-rotate(180deg)}}"
    "*{box-sizing:border-box}body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "margin:0;padding:8px clamp(12px,2.5vw,48px) 48px;overflow-wrap:break-word}"
    "h1{margin:12px 0 4px}h2{margin:36px 0 10px;border-bottom:1px solid var(--line);padding-bottom:4px}"
    "h3{margin:26px 0 0}h4{margin:10px 0 4px;font-weight:600;color:var(--dim)}p,ul{max-width:110ch}"
    "a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}"
    ".skip{position:absolute;left:-99em}.skip:focus{position:static}"
    "nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:12px 0}nav a{padding:4px 0}"
    "table{border-collapse:collapse;font-size:14px;margin:0}td,th{padding:3px 8px 3px 0;text-align:left;"
    "border-bottom:1px solid var(--line);vertical-align:top}"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".scroll{overflow-x:auto;max-width:100%;margin:10px 0}"
    ".scroll td:first-child,.scroll th:first-child{position:sticky;left:0;background:var(--paper)}"
    "code,pre{font:12.5px/1.4 ui-monospace,monospace}code{overflow-wrap:anywhere}"
    "pre{background:var(--panel);padding:12px;overflow-x:auto;margin:8px 0}summary{cursor:pointer;padding:4px 0}"
    ".notice{border-left:4px solid #c2571a;padding:6px 12px;background:var(--alert)}.absent{color:var(--dim)}"
    ".sides{display:flex;flex-wrap:wrap;gap:8px 40px;align-items:flex-start}"
    ".sides>*{min-width:0}.sides>.forest{flex:1 1 560px;max-width:1000px}.sides>.facts{flex:1 1 400px;max-width:1000px}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(45%,230px),1fr));gap:8px}"
    ".curves{grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr))}"
    "svg{display:block;width:100%;height:auto;font-family:system-ui,sans-serif}.narrow{display:none}"
    ".cases{display:flex;flex-wrap:wrap;gap:10px 14px}figure{margin:0;display:grid;grid-template-columns:150px 150px;"
    "gap:2px}figure img{width:150px;height:150px;object-fit:contain;background:#000}"
    "figcaption{grid-column:1/3;font-size:13px;overflow-wrap:anywhere}"
    "@media (max-width:600px){.wide{display:none}.narrow{display:block}}"
    "@media print{nav,.skip{display:none}.scroll{overflow:visible}table{font-size:10px}.n{white-space:normal}"
    "td,th{padding-right:6px}pre{white-space:pre-wrap}svg,figure,tr{break-inside:avoid}"
    "h2,h3,h4{break-after:avoid}}";

std::string absent(std::string_view text) { return fmt::format("<p class=\"absent\">{}</p>\n", escaped(text)); }

std::string code(std::string_view text) { return "<code>" + escaped(text) + "</code>"; }

std::string count_text(const Value* value, std::string_view one, std::string_view many) {
  const std::optional<double> count = number_of(value);
  return count ? counted(static_cast<std::int64_t>(*count), one, many) : text_of(value) + " " + plural(0, one, many);
}

bool is_by_study(const Value* table) {
  return table != nullptr && table->is_table() && text_of(table->find("unit")).starts_with("study");
}

std::string heading(std::string_view id, std::string_view title) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", id, escaped(title));
}

std::string number_table(std::string_view name, const std::vector<std::string>& head,
                         const std::vector<std::vector<std::string>>& rows) {
  std::string text =
      fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n", escaped(name));
  text += row(head, "th");
  for (const std::vector<std::string>& cells : rows) text += row(cells, "td");
  return text + "</table></div>\n";
}

std::string with_letter(const ReportInput& input, std::size_t run, std::string_view text) {
  if (input.runs.size() < 2) return std::string(text);
  return fmt::format("{} {}", run == 0 ? 'A' : 'B', text);
}

std::string run_title(const ReportInput& input, std::size_t run) {
  if (input.runs.size() < 2) return "";
  return fmt::format("{}: {}", run == 0 ? 'A' : 'B', input.runs[run].name);
}

std::string list_text(const ReportInput& input, const std::string& list_sha256) {
  if (input.runs.size() < 2) return split_text(input.runs[0].data, list_sha256);
  const std::string a = split_text(input.runs[0].data, list_sha256), b = split_text(input.runs[1].data, list_sha256);
  return a == b ? a + ", for A and B" : fmt::format("A: {}; B: {}", a, b);
}

}  // namespace roentgen::publish
