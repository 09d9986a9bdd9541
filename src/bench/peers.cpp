// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peers.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/child.h"
#include "bench/harness.h"
#include "bench/model_run.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "engine/engine.h"
#include "io/json.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {
namespace fs = std::filesystem;
using engine::Form;

struct Peer {
  std::string_view what;
  std::string_view script;
  std::string_view modules;
};
#define RG_PEER_ROW(what, script, modules) Peer{what, script, modules},
constexpr Peer kPeers[] = {RG_PEER_LIST(RG_PEER_ROW)};
#undef RG_PEER_ROW

// One run: who it was, and images a second of each way.
struct Figures {
  std::string program;
  std::vector<std::pair<std::string, double>> ways;
};

struct Arm {
  std::string what;
  std::function<Figures()> run;
};

fs::path scripts_of(const PeersOptions& options) {
  fs::path folder = options.scripts;
  std::error_code ignored;
  if (folder.empty()) {
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    for (fs::path above = program.parent_path(); above != above.root_path(); above = above.parent_path()) {
      if (!fs::is_directory(above / "tools" / "peers", ignored)) continue;
      folder = above / "tools" / "peers";
      break;
    }
  }
  if (!folder.empty() && fs::is_directory(folder, ignored)) return folder;
  throw ConfigError(error_text("bench.peers", "--scripts", "a folder with the scripts of tools/peers",
                               folder.empty() ? "none beside the program" : folder.string(), "--scripts DIR"));
}

// Why a peer cannot be run, in a few words; empty when it can.
std::string obstacle(const Peer& peer, const PeersOptions& options, const fs::path& scripts) {
  if (!fs::exists(scripts / peer.script)) return fmt::format("no such file in {}", scripts.string());
  try {
    if (run_child({options.python, "-c", fmt::format("import {}", peer.modules)}).code == 0) return {};
  } catch (const DeviceError&) {
    return fmt::format("{} does not start", options.python);
  }
  return fmt::format("{} lacks one of the modules {}", options.python, peer.modules);
}

Figures run_script(const Peer& peer, const PeersOptions& options, const fs::path& scripts) {
  const StepOptions& network = options.network;
  std::vector<std::string> command{options.python, (scripts / peer.script).string(), "--model", network.model};
  const std::pair<const char*, std::int64_t> numbers[] = {{"--batch", network.batch},
                                                          {"--image", network.image_px},
                                                          {"--threads", network.threads},
                                                          {"--warmup", network.warmup},
                                                          {"--steps", network.steps}};
  for (const auto& [name, value] : numbers) command.insert(command.end(), {name, std::to_string(value)});
  const ChildResult ended = run_child(command);
  const auto failed = [&](const std::string& how) {
    return DeviceError(error_text("bench.peers", std::string(peer.script), "a measurement", how,
                                  fmt::format("{}, which shows the rest", fmt::join(command, " "))));
  };
  if (ended.code != 0) {
    const std::string text = ended.err.substr(0, ended.err.find_last_not_of("\n ") + 1);
    throw failed(fmt::format("status {}, {}", ended.code, text.substr(text.rfind('\n') + 1)));
  }
  const Result<Value> read = io::parse_json(ended.out, std::string(peer.script));
  if (!read.ok()) throw failed(read.error());
  const Value* name = read.value().is_table() ? read.value().find("peer") : nullptr;
  const Value* ways = read.value().is_table() ? read.value().find("figures") : nullptr;
  if (name == nullptr || !name->is_string() || ways == nullptr || !ways->is_table()) {
    throw failed("no `peer` and `figures`");
  }
  Figures figures{.program = name->as_string()};
  for (const auto& [way, value] : ways->as_table()) {
    if (!value.is_number() || value.as_double() <= 0.0) throw failed("a figure that is no speed: " + way);
    figures.ways.emplace_back(way, value.as_double());
  }
  return figures;
}

Figures run_ours(std::vector<std::unique_ptr<ModelRun>>& runs) {
  Figures figures{.program = "roentgen"};
  for (const std::unique_ptr<ModelRun>& run : runs) {
    const double step_s = summarise(run->run()).median;
    figures.ways.emplace_back(run->options().algorithms, static_cast<double>(run->options().batch) / step_s);
  }
  return figures;
}

// Ours, of one kind; the first way is the one that others are compared with.
Arm our_arm(const StepOptions& network, Form form, const std::vector<std::string>& ways, engine::Engine& engine) {
  auto runs = std::make_shared<std::vector<std::unique_ptr<ModelRun>>>();  // std::function copies
  for (const std::string& algorithms : ways) {
    StepOptions options = network;
    options.algorithms = algorithms;
    runs->push_back(std::make_unique<ModelRun>(options, form, engine));
  }
  return {.what = form == Form::Training ? "training" : "inference", .run = [runs] { return run_ours(*runs); }};
}

// Rows of an arm; `ours` are the figures of our arm of its kind, by round.
void add_rows(const std::string& what, const std::vector<Figures>& rounds, const std::vector<Figures>& ours,
              Value& table) {
  for (std::size_t way = 0; way < rounds.front().ways.size(); ++way) {
    std::vector<double> speeds, ratios;
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      speeds.push_back(rounds[round].ways.at(way).second);
      ratios.push_back(ours[round].ways.front().second / speeds.back());
    }
    table.push_back(Value::Table{{"what", what},
                                 {"program", rounds.front().program},
                                 {"way", rounds.front().ways[way].first},
                                 {"images_per_s", summarise(speeds).median},
                                 {"ours_over_it", summarise(ratios).median}});
  }
}

}  // namespace

Value run_peers(const PeersOptions& given) {
  PeersOptions options = given;
  StepOptions& network = options.network;
  require_at_least("warmup", network.warmup, 0);
  require_at_least("steps", network.steps, 1);
  require_at_least("threads", network.threads, 0);
  require_at_least("rounds", options.rounds, 1);
  if (network.threads == 0) network.threads = runtime::default_compute_threads();
  network.graph = nullptr;
  network.channels = 3;
  network.labels = StepOptions{}.labels;
  const fs::path scripts = scripts_of(options);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);

  std::vector<Arm> arms{our_arm(network, Form::Training, {"auto"}, *engine),
                        our_arm(network, Form::Inference, {"direct", "auto"}, *engine)};
  Value missing = Value::array();
  for (const Peer& peer : kPeers) {
    if (const std::string why = obstacle(peer, options, scripts); !why.empty()) {
      missing.push_back(fmt::format("{} left out: {}", peer.script, why));
      continue;
    }
    arms.push_back({.what = std::string(peer.what), .run = [&] { return run_script(peer, options, scripts); }});
  }
  const auto rounds = interleave(arms.size(), options.rounds, [&](std::size_t arm) { return arms[arm].run(); });
  Value table = Value::array();
  for (std::size_t ours = 0; ours < 2; ++ours) {
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      if (arms[arm].what == arms[ours].what) add_rows(arms[arm].what, rounds[arm], rounds[ours], table);
    }
  }
  Value result = Value::Table{{"case", "peers"},
                              {"model", network.model},
                              {"batch", network.batch},
                              {"image_px", network.image_px},
                              {"threads", network.threads},
                              {"warmup", network.warmup},
                              {"n", network.steps},
                              {"rounds", options.rounds},
                              {"table", std::move(table)},
                              {"missing", missing},
                              {"warnings", missing}};
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
