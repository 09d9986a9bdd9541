// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/device_threads.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/comma_list.h"
#include "core/error.h"
#include "core/muted_thread.h"
#include "core/thread_annotations.h"
#include "dist/comm_thread.h"
#include "dist/thread_group.h"

namespace roentgen::cli {
namespace {

constexpr std::string_view kCuda = "cuda:";
constexpr int kMostDevices = 1024;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

void refuse_other_starts(const RankOptions& options, bool is_launched) {
  for (const auto& [name, is_given] :
       {std::pair{"--ranks", !options.asked_ranks.empty() || options.ranks > 0},
        {"--hosts", !options.hosts.empty()},
        {"--hosts-from", !options.hosts_from.empty()},
        {"--restart", options.restart.most > 0},
        {"--tag-output", options.is_tagged},
        {"--ppn, --comm-threads or --comm-cores", parse_layout(options.layout).is_asked()},
        {"--update", train::parse_server_options(options.servers).has_servers()},
        {"mpirun or srun", is_launched}}) {
    if (!is_given) continue;
    throw ConfigError(error_text("cli.launch", "--devices", "a single process, which uses several GPUs", name,
                                 "--ranks auto, one process per device"));
  }
}

// Starts a Watchdog at the first failure of a rank. Thread-safe.
class EndAfterFailure {
 public:
  explicit EndAfterFailure(std::chrono::milliseconds grace) : grace_(grace) {}
  void note(const std::exception_ptr& failure) {
    const MutexLock lock(mutex_);
    if (!end_) end_ = end_after(failure, grace_);
  }

 private:
  const std::chrono::milliseconds grace_;
  Mutex mutex_;
  std::shared_ptr<Watchdog> end_ RG_GUARDED_BY(mutex_);
};

}  // namespace

std::vector<engine::DeviceChoice> parse_devices(const std::string& text) {
  std::vector<engine::DeviceChoice> devices;
  if (text.empty()) return devices;
  const auto refuse = [&] {
    throw ConfigError(error_text("cli.launch", "--devices", "a list such as cuda:0,1", text, "--devices cuda:0,1"));
  };
  if (!text.starts_with(kCuda)) refuse();
  for (const std::string_view part : comma_parts(std::string_view(text).substr(kCuda.size()))) {
    int index = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc{} || end != part.data() + part.size() || index < 0 || index >= kMostDevices) refuse();
    devices.push_back({.engine = "cuda", .index = index});
  }
  return devices;
}

std::optional<engine::DeviceChoice> device_of(const RankOptions& options, dist::CommThread* group) {
  if (options.devices.empty()) return std::nullopt;
  return options.devices.at(group == nullptr ? 0 : static_cast<std::size_t>(group->rank()));
}

CommandResult run_as_threads(const RankOptions& options, bool is_launched,
                             const std::function<CommandResult(dist::CommThread* group)>& body,
                             std::chrono::milliseconds grace) {
  refuse_other_starts(options, is_launched);
  const auto size = static_cast<int>(options.devices.size());
  dist::ThreadGroup threads(size, host_name());
  CommandResult result;
  std::vector<std::exception_ptr> errors(options.devices.size());
  EndAfterFailure end(grace);
  const auto run_rank = [&](int rank) {
    std::exception_ptr& error = errors[static_cast<std::size_t>(rank)];
    try {
      dist::CommThread group([&] { return threads.member(rank); }, std::chrono::seconds(options.timeout_s),
                             {.algorithm = options.reduce, .wire = options.wire},
                             [&](const std::exception_ptr& failure) {
                               end.note(failure);
                               return std::shared_ptr<void>();
                             });
      try {
        CommandResult own = body(&group);
        if (rank == 0) result = std::move(own);
      } catch (...) {
        end.note(std::current_exception());  // first, because fail() waits for the device
        if (group.fail()) error = std::current_exception();
      }
    } catch (...) {
      error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int rank = 1; rank < size; ++rank) {
      others.emplace_back([&, rank] {
        const MutedThread muted;
        run_rank(rank);
      });
    }
    run_rank(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return result;
}

}  // namespace roentgen::cli
