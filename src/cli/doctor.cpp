// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen doctor: prints properties of this machine and build, and what is wrong with them. --json FILE is for
// programs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_list.h"
#include "cli/doctor_check.h"
#include "cli/doctor_hosts.h"
#include "cli/launch.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "core/terminal.h"
#include "data/codec/dicom_study.h"
#include "dist/gpu_network.h"
#include "dist/mpi_library.h"
#include "dist/nccl_calls.h"
#include "doctor/ailment_list.h"
#include "doctor/inventory.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "io/environment.h"
#include "runtime/cores.h"

namespace roentgen::cli {
namespace {

// Reports the MPI library that a run with several processes would use.
Value mpi_report() {
  try {
    const dist::MpiLibrary library = dist::load_mpi();
    const std::optional<bool> is_cuda_aware = dist::is_cuda_aware(library);
    return Value::Table{{"available", true},
                        {"description", library.version + " (" + library.file + ")"},
                        {"cuda_aware", is_cuda_aware ? Value(*is_cuda_aware) : Value(nullptr)}};
  } catch (const Error& error) {
    return Value::Table{{"available", false}, {"reason", error.what()}};
  }
}

// Reports NCCL, the library that averages gradients on CUDA devices.
Value nccl_report() {
  try {
    return Value::Table{{"available", true},
                        {"description", fmt::format("{} ({} or newer is needed)", dist::make_nccl_calls()->version(),
                                                    dist::least_nccl_version())}};
  } catch (const Error& error) {
    return Value::Table{{"available", false}, {"reason", error.what()}};
  }
}

// Reports the device that --device auto chooses, and why the other devices were not chosen.
Value auto_report() {
  const engine::DeviceChoice device = engine::resolve_device({});
  Value report = Value::Table{{"device", device.text()}};
  for (const engine::EngineName& other : engine::engine_names()) {
    const std::string reason = engine::why_not_auto(other.name);
    if (!reason.empty()) report.set(fmt::format("not_{}", other.name), with_remedy(reason, {}));
  }
  return report;
}

// Reports engines and libraries. Reasons have no remedy, which would name options that doctor lacks.
Value program_report() {
  Value report = io::environment_report();
  report.set("compute_cores", runtime::available_cores());
  Value engines = Value::table();
  for (const engine::EngineName& engine : engine::engine_names()) {
    const std::string_view name = engine.name;
    try {
      engines.set(name, Value::Table{{"available", true}, {"description", engine::make_engine(name)->description()}});
    } catch (const Error& error) {
      engines.set(name, Value::Table{{"available", false}, {"reason", with_remedy(error.what(), {})}});
    }
  }
  report.set("engines", std::move(engines));
  report.set("device_auto", auto_report());
  report.set("mpi", mpi_report());
  report.set("nccl", nccl_report());
  const std::string ucx = dist::ucx_version();
  report.set("ucx", Value::Table{{"available", !ucx.empty()}, {"description", ucx}});
  const data::DicomSupport dicom = data::dicom_support();
  report.set("dicom", Value::Table{{"available", dicom.is_built}, {"description", dicom.text}});
  return report;
}

struct NamedCheck {
  std::string name;
  std::unique_ptr<DoctorCheck> value;
};

std::vector<NamedCheck> make_checks() {
  std::vector<NamedCheck> checks;
#define RG_ADD_CHECK(name) checks.push_back({#name, make_doctor_##name()});
  RG_DOCTOR_CHECK_LIST(RG_ADD_CHECK)
#undef RG_ADD_CHECK
  return checks;
}

class DoctorCommand final : public Command {
 public:
  DoctorCommand()
      : Command("doctor", "Report the machine and the build, and what is wrong with them.",
                "roentgen doctor --json environment.json\n"
                "roentgen doctor io my_xrays --images-per-s 500\n"
                "roentgen doctor net --hosts a:2,b:2\n"
                "roentgen doctor scale --model resnet50 --batch 16 --bandwidth 25Gbit --per-host 4") {}

  [[nodiscard]] std::vector<Option> options() override {
    std::vector<Option> options{{.name = "CHECK", .target = &asked_, .doc = "io, net or scale; none: the machine"},
                                {.name = "--hosts",
                                 .target = &hosts_,
                                 .doc = "hosts to compare, such as a,b; for net and scale with ranks: a:2,b:2",
                                 .value_name = "LIST"}};
    for (const auto& [name, check] : checks_) {
      for (Option& option : check->options()) {
        option.case_name = name;
        options.push_back(std::move(option));
      }
    }
    return options;
  }

  [[nodiscard]] CommandResult run() override {
    if (!asked_.empty()) return check().run(hosts_);
    if (!hosts_.empty() || is_own_rank()) return examine_hosts(hosts_);
    Value report = program_report();
    const auto probe = doctor::make_machine_probe(doctor::Effort::Full);
    const doctor::Inventory machine = doctor::take_inventory(*probe);
    const std::vector<doctor::Finding> findings = doctor::find_ailments(machine);
    const Value inventory = doctor::to_value(machine);
    terminal::print(report_text(report) + "\n" + report_text(inventory, {"variables"}) + "\n" +
                    findings_text(doctor::to_value(findings)));
    report.set("machine", inventory);
    report.set("findings", doctor::to_value(findings));
    return {.json = std::move(report), .exit_code = doctor::has_wrong(findings) ? kFailure : kSuccess};
  }

 private:
  [[nodiscard]] DoctorCheck& check() const {
    const auto found = std::ranges::find(checks_, asked_, &NamedCheck::name);
    if (found != checks_.end()) return *found->value;
    std::vector<std::string> names;
    for (const NamedCheck& each : checks_) names.push_back(each.name);
    throw ConfigError(error_text("cli.doctor", "CHECK", fmt::format("one of {}", fmt::join(names, ", ")), asked_,
                                 "roentgen doctor --help"));
  }

  std::vector<NamedCheck> checks_ = make_checks();
  std::string asked_;
  std::string hosts_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace roentgen::cli
