// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen doctor: prints properties of this machine and build, for bug reports and result tables.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/command_list.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/terminal.h"
#include "data/codec/dicom_study.h"
#include "dist/gpu_network.h"
#include "dist/mpi_library.h"
#include "dist/nccl_calls.h"
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

// Returns an error's text without its advice ("; try ..."), which names options that `roentgen doctor` does not have.
std::string without_remedy(std::string_view text) { return std::string(text.substr(0, text.find("; try "))); }

// Reports the device that --device auto chooses, and why the other devices were not chosen.
Value auto_report() {
  const engine::DeviceChoice device = engine::resolve_device({});
  Value report = Value::Table{{"device", device.text()}};
  for (const engine::EngineName& other : engine::engine_names()) {
    const std::string reason = engine::why_not_auto(other.name);
    if (!reason.empty()) report.set(fmt::format("not_{}", other.name), without_remedy(reason));
  }
  return report;
}

class DoctorCommand final : public Command {
 public:
  DoctorCommand()
      : Command("doctor", "Report the machine, the build and its engines.", "roentgen doctor --json environment.json") {
  }
  [[nodiscard]] std::vector<Option> options() override { return {}; }

  [[nodiscard]] CommandResult run() override {
    Value report = io::environment_report();
    report.set("compute_cores", runtime::available_cores());
    Value engines = Value::table();
    for (const engine::EngineName& engine : engine::engine_names()) {
      const std::string_view name = engine.name;
      try {
        engines.set(name, Value::Table{{"available", true}, {"description", engine::make_engine(name)->description()}});
      } catch (const Error& error) {
        engines.set(name, Value::Table{{"available", false}, {"reason", without_remedy(error.what())}});
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
    terminal::print(report_text(report));
    return {.json = std::move(report)};
  }
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace roentgen::cli
