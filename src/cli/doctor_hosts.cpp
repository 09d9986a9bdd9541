// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/doctor_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/host_list.h"
#include "cli/launch.h"
#include "cli/mpirun_command.h"
#include "core/foreign_text.h"
#include "core/terminal.h"
#include "dist/comm_thread.h"
#include "doctor/ailment_list.h"
#include "doctor/hosts.h"
#include "doctor/inventory.h"
#include "io/json.h"

namespace roentgen::cli {
namespace {

/// Returns the report of every host, as rank 0 has gathered it.
Value gather_reports(dist::CommThread* group) {
  const auto probe = doctor::make_machine_probe(doctor::Effort::Full);
  const doctor::Inventory machine = doctor::take_inventory(*probe);
  const Value own = Value::Table{{"machine", doctor::to_value(machine)},
                                 {"findings", doctor::to_value(doctor::find_ailments(machine))}};
  std::vector<std::string> texts{io::to_json(own)};
  std::vector<std::string> names{"localhost"};
  if (group != nullptr) {
    group->call([&](dist::Communicator& all) { texts = doctor::gather_texts(all, texts.front()); });
    names = group->hosts();
  }
  Value reports = Value::array();
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    Value report = io::parse_json(texts[rank], names[rank]).or_throw();
    report.set("host", names[rank]);
    reports.push_back(std::move(report));
  }
  return Value::Table{{"hosts", std::move(reports)}};
}

}  // namespace

std::string findings_text(const Value& findings) {
  std::string text;
  for (const Value& finding : findings.as_array()) {
    text += fmt::format("{}: {}\n  try {}\n", finding.at("level").as_string(),
                        terminal_text(finding.at("text").as_string()), terminal_text(finding.at("remedy").as_string()));
  }
  return text.empty() ? "nothing is wrong\n" : text;
}

CommandResult examine_hosts(const std::string& hosts) {
  if (is_own_rank()) {
    return run_as_ranks({}, [](dist::CommThread* group) { return CommandResult{.json = gather_reports(group)}; });
  }
  require_hosts(hosts);
  HostList list = parse_hosts(hosts);
  for (HostSlots& host : list) host.slots = 1;
  Value result = run_for_json({.ranks = slots_of(list), .hosts = text_of(list), .may_oversubscribe = true}, {});
  std::vector<doctor::HostReport> reports;
  bool is_wrong = false;
  for (const Value& report : result.at("hosts").as_array()) {
    reports.push_back(
        {.host = report.at("host").as_string(), .machine = report.at("machine"), .findings = report.at("findings")});
    terminal::print(
        fmt::format("{}\n{}\n", terminal_text(reports.back().host), findings_text(reports.back().findings)));
    is_wrong = is_wrong || std::ranges::any_of(reports.back().findings.as_array(), [](const Value& finding) {
                 return finding.at("level").as_string() == "wrong";
               });
  }
  const std::vector<doctor::Difference> differences = doctor::differences(reports);
  for (const doctor::Difference& difference : differences) {
    terminal::print(fmt::format("hosts differ: {}\n", terminal_text(difference.text())));
  }
  if (differences.empty() && reports.size() > 1) terminal::print(fmt::format("{} hosts are alike\n", reports.size()));
  result.set("differences", doctor::to_value(differences));
  return {.json = std::move(result), .exit_code = is_wrong || !differences.empty() ? kFailure : kSuccess};
}

}  // namespace roentgen::cli
