// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/report_page.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/plural.h"
#include "io/environment.h"
#include "io/json.h"
#include "publish/report_parts.h"
#include "publish/run_tables.h"

namespace roentgen::publish {
namespace {

std::string fact(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), value);
}

std::string model_name(const Value& recipe) {
  const std::string file = text_of(find(recipe, {"model", "file"})), name = text_of(find(recipe, {"model", "name"}));
  if (!file.empty()) return "a network of its own";
  return name.empty() ? "network" : name;
}

std::string title(const ReportInput& input) {
  std::string text = "Training report: " + input.runs[0].name;
  if (input.runs.size() > 1) text += " beside " + input.runs[1].name;
  return escaped(text);
}

// Returns HTML with network, labels and splits of a run.
std::string run_facts(const ReportInput& input, std::size_t run) {
  const ReportRun& one = input.runs[run];
  std::string text = "<div class=\"facts\">\n";
  if (input.runs.size() > 1) text += "<h3>" + escaped(run_title(input, run)) + "</h3>\n";
  text += "<table>\n" + fact("network", escaped(model_name(one.recipe)));
  if (const Value* files = find(one.data, {"csv"}); files != nullptr && files->is_array()) {
    for (const Value& file : files->as_array()) {
      text += fact("labels", escaped(text_of(file.find("file"))) + ", SHA-256 " + code(text_of(file.find("sha256"))));
    }
  }
  if (const Value* splits = find(one.data, {"splits"}); splits != nullptr && splits->is_table()) {
    for (const auto& [name, split] : splits->as_table()) {
      text += fact("split " + name,
                   escaped(fmt::format("{} of {}, names' SHA-256 ", count_text(split.find("images"), "image"),
                                       count_text(split.find("patients"), "patient"))) +
                       code(text_of(split.find("list_sha256"))));
    }
  }
  text += "</table>\n";
  if (one.data.is_null()) text += absent("Data: the run folder has no data.json.");
  return text + "</div>\n";
}

std::string header(const ReportInput& input) {
  std::string text =
      "<a class=\"skip\" href=\"#results\">Skip to the results</a>\n<header>\n<h1>" + title(input) +
      "</h1>\n<p class=\"notice\"><strong>Research use, not a medical device.</strong> Not validated for "
      "any clinical purpose; a probability is not a diagnosis.</p>\n<nav aria-label=\"Sections\">\n";
  for (const auto& [id, name] : {std::pair{"results", "Results"},
                                 {"thresholds", "Thresholds"},
                                 {"curves", "ROC curves"},
                                 {"training", "Training"},
                                 {"gallery", "Error gallery"},
                                 {"data", "Network and data"},
                                 {"recipe", "Recipe"}}) {
    text += fmt::format("<a href=\"#{}\">{}</a>\n", id, name);
  }
  return text + "</nav>\n</header>\n";
}

std::string data_section(const ReportInput& input) {
  std::string text = heading("data", "Network and data") + "<div class=\"sides\">\n";
  for (std::size_t i = 0; i < input.runs.size(); ++i) text += run_facts(input, i);
  return text + "</div>\n" +
         fmt::format("<p class=\"absent\">Page made by roentgen {}, commit {}.</p>\n", escaped(io::program_version()),
                     escaped(std::string(io::program_commit()).substr(0, 12)));
}

std::string gallery_section(const ReportInput& input) {
  const auto& scored = input.runs[0].scored;
  if (!input.gallery || !scored) return heading("gallery", "Error gallery") + absent(input.no_gallery);
  return gallery_html(
      *input.gallery,
      fmt::format("{} {}, {}", input.runs.size() > 1 ? "Heat-maps and probabilities of A. Of" : "Of",
                  counted(scored->predictions.image_count(), "image"), list_text(input, scored->list_sha256)));
}

std::string recipe_section(const ReportInput& input) {
  std::string text = heading("recipe", "Recipe");
  const bool is_one = input.runs.size() == 1;
  if (!is_one && input.recipe_differences.is_table()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, values] : input.recipe_differences.as_table()) {
      rows.push_back({escaped(key)});
      for (const char* side : {"a", "b"}) {
        const Value* value = values.find(side);
        rows.back().push_back(value == nullptr || value->is_null() ? "-" : code(io::to_json(*value, -1)));
      }
    }
    text += rows.empty() ? "<p>The recipes are equal in every key.</p>\n"
                         : number_table("Differences of the recipes", {"differs in", "A", "B"}, rows);
  }
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    text +=
        fmt::format("<details{}><summary>{}</summary>\n<pre tabindex=\"0\">{}</pre></details>\n", is_one ? " open" : "",
                    is_one ? "recipe.toml" : escaped(run_title(input, i)), escaped(recipe_text(input.runs[i].recipe)));
  }
  return text;
}

}  // namespace

std::string report_page(const ReportInput& input) {
  for (const ReportRun& run : input.runs) check_tables("publish.report", run.data, run.evaluation);
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
      "data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  text += fmt::format("<title>{}</title>\n<style>{}</style></head><body>\n", title(input), kReportStyle);
  text += header(input) + "<main>\n" + result_section(input) + threshold_section(input) + curve_sections(input) +
          training_section(input) + gallery_section(input) + data_section(input) + recipe_section(input);
  text +=
      "<h2>Limits</h2>\n<ul><li>Labels mined from reports are noisy; figures hold for images like those "
      "evaluated.</li>\n<li>View, sex, age, devices and hospital can be read from an X-ray: check subgroups "
      "before any use.</li></ul>\n";
  return text + "</main></body></html>\n";
}

}  // namespace roentgen::publish
