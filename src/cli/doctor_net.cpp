// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen doctor net: measures copies between host and cards, and links between ranks and hosts.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor_check.h"
#include "cli/doctor_links.h"
#include "cli/launch.h"
#include "cli/report_text.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/terminal.h"
#include "dist/gpu_network.h"
#include "doctor/copies.h"
#include "runtime/stream.h"

namespace roentgen::cli {
namespace {

/// Measures the copies of every card: [{device, name, upload_gb_per_s, download_gb_per_s}].
Value card_copies() {
  constexpr std::size_t kBytes = std::size_t{256} << 20U;
  constexpr int kTimes = 10;
  Value cards = Value::array();
  for (const runtime::CudaDeviceInfo& card : runtime::find_cuda_devices().devices) {
    log::info(fmt::format("copying to and from cuda:{}", card.index));
    const auto device = runtime::make_cuda_device(card.index);
    const doctor::CopySpeed speed = doctor::measure_copies(*device, kBytes, kTimes);
    cards.push_back(Value::Table{{"device", std::string(device->name())},
                                 {"name", card.name},
                                 {"upload_gb_per_s", speed.upload_bytes_per_s * 1e-9},
                                 {"download_gb_per_s", speed.download_bytes_per_s * 1e-9}});
  }
  return cards;
}

class NetCheck final : public DoctorCheck {
 public:
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "--gdr", .target = &gdr_, .doc = "GPUDirect RDMA: auto, on, off (default between hosts: both)"}};
  }

  [[nodiscard]] CommandResult run(const std::string& hosts) override {
    if (is_own_rank()) return links_as_rank(gdr_);
    static_cast<void>(dist::gdr_level(gdr_.empty() ? "auto" : gdr_));  // refuses other words before ranks start
    Value result = Value::table();
    Value cards = Value::array();
    Value links;
    for (const std::string& word : gdr_words(hosts)) {
      log::info(fmt::format("measuring links between ranks, with --gdr {}", word));
      links = measure_links_on(hosts, {"--gdr", word});
      Value row = Value::Table{{"gdr", word}};
      for (const auto& [key, value] : links.at("cards").as_table()) row.set(key, value);
      cards.push_back(std::move(row));
    }
    for (const char* const key : {"ranks", "hosts", "latency_us", "gb_per_s", "within_host", "between_hosts", "slow"}) {
      if (const Value* const value = links.find(key)) result.set(key, *value);
    }
    result.set("cards", std::move(cards));
    result.set("copies", card_copies());  // last, because this process then keeps the GPUs open
    terminal::print(report_text(result));
    const Value* const warnings = links.find("warnings");
    if (warnings != nullptr) {
      for (const Value& line : warnings->as_array()) {
        terminal::print(fmt::format("wrong: {}\n", terminal_text(line.as_string())));
      }
      result.set("warnings", *warnings);
    }
    const bool is_slow = links.at("slow").as_integer() > 0;
    return {.json = std::move(result), .exit_code = is_slow ? kFailure : kSuccess};
  }

 private:
  /// Returns the values of --gdr to measure with, one after another.
  [[nodiscard]] std::vector<std::string> gdr_words(const std::string& hosts) const {
    if (!gdr_.empty()) return {gdr_};
    const bool has_cards = !runtime::find_cuda_devices().devices.empty();
    if (has_cards && hosts.find(',') != std::string::npos) return {"on", "off"};
    return {"auto"};
  }

  std::string gdr_;
};

}  // namespace

std::unique_ptr<DoctorCheck> make_doctor_net() { return std::make_unique<NetCheck>(); }

}  // namespace roentgen::cli
