// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/child.h"
#include "bench/floor.h"
#include "bench/harness.h"
#include "bench/model_run.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "engine/engine.h"
#include "io/json.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {
namespace fs = std::filesystem;
using engine::Form;

// A script of tools/peers that takes --model, --batch, --image, --threads, --warmup, --steps and prints JSON with
// `peer`, its name and version, and `figures`, {way: images a second}. A new peer: a row of kScripts.
struct Script {
  std::string_view peer;
  // "training" or "inference": what it measures.
  std::string_view what;
  std::string_view file;
  // Further option of the script; empty: none.
  std::string_view option;
  // Python code that fails where the script would, for lack of a package.
  std::string_view probe;
  // What pip installs for it.
  std::string_view packages;
  // Names it has, with spaces around each; empty: all.
  std::string_view models;
};
constexpr std::string_view kTorch = "import torch, torchvision", kTorch2 = "import torch, torchvision; torch.compile";
constexpr Script kScripts[] = {
    {"torch", "training", "bench_step_torch.py", "", kTorch, "torch torchvision", ""},
    {"torch", "inference", "bench_infer_torch.py", "", kTorch, "torch torchvision", ""},
    {"torch-compile", "training", "bench_step_torch.py", "--compile", kTorch2, "'torch>=2' torchvision", ""},
    {"tensorflow", "training", "bench_step_tensorflow.py", "", "import tensorflow", "tensorflow-cpu",
     " resnet50 densenet121 vgg16 inception_v3 "}};

// One run: who it was, and images a second of each way.
struct Figures {
  std::string program;
  std::vector<std::pair<std::string, double>> ways;
  // Of our training step.
  std::optional<double> floor_ratio = std::nullopt;
};

// What is measured in turns; `peer` is "-" of ours.
struct Arm {
  std::string what;
  std::string peer;
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

const std::string& python_of(const Script& script, const PeersOptions& options) {
  const bool is_apart = script.peer == "tensorflow" && !options.tensorflow_python.empty();
  return is_apart ? options.tensorflow_python : options.python;
}

// Why a script cannot be run, and what would help; empty when it can.
std::string obstacle(const Script& script, const PeersOptions& options, const fs::path& scripts) {
  if (!fs::exists(scripts / script.file)) return fmt::format("no such file in {}", scripts.string());
  if (!script.models.empty() && script.models.find(" " + options.network.model + " ") == std::string_view::npos) {
    return fmt::format("it has no {}; try one of{}", options.network.model,
                       script.models.substr(0, script.models.size() - 1));
  }
  const std::string& python = python_of(script, options);
  try {
    if (run_child({python, "-c", std::string(script.probe)}).code == 0) return {};
  } catch (const DeviceError&) {
    return fmt::format("{} does not start; try {} with a Python interpreter", python,
                       script.peer == "tensorflow" ? "--tensorflow-python" : "--python");
  }
  return fmt::format("{} fails at `{}`; try {} -m pip install {}", python, script.probe, shell_word(python),
                     script.packages);
}

Figures run_script(const Script& script, const PeersOptions& options, const fs::path& scripts) {
  const StepOptions& network = options.network;
  std::vector<std::string> command{python_of(script, options), (scripts / script.file).string(), "--model",
                                   network.model};
  const std::pair<const char*, std::int64_t> numbers[] = {{"--batch", network.batch},
                                                          {"--image", network.image_px},
                                                          {"--threads", network.threads},
                                                          {"--warmup", network.warmup},
                                                          {"--steps", network.steps}};
  for (const auto& [name, value] : numbers) command.insert(command.end(), {name, std::to_string(value)});
  if (!script.option.empty()) command.emplace_back(script.option);
  const ChildResult ended = run_child(command);
  const auto failed = [&](const std::string& how) {
    std::string line;
    for (const std::string& word : command) line += shell_word(word) + " ";
    return DeviceError(error_text("bench.peers", std::string(script.file), "a measurement", how,
                                  fmt::format("{}, which shows the rest", line.substr(0, line.size() - 1))));
  };
  if (ended.code != 0) {
    const std::string text = ended.err.substr(0, ended.err.find_last_not_of("\n ") + 1);
    throw failed(fmt::format("status {}, {}", ended.code, text.substr(text.rfind('\n') + 1)));
  }
  const Result<Value> read = io::parse_json(ended.out, std::string(script.file));
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
  if (figures.ways.empty()) throw failed("no figures");
  return figures;
}

Figures run_ours(std::vector<std::unique_ptr<ModelRun>>& runs, Form form) {
  Figures figures{.program = "roentgen"};
  for (const std::unique_ptr<ModelRun>& run : runs) {
    const double step_s = summarise(run->run()).median;
    figures.ways.emplace_back(run->options().algorithms, static_cast<double>(run->options().batch) / step_s);
    if (form != Form::Training) continue;
    Floor floor(run->executable());
    floor.measure();
    if (const std::optional<double> floor_s = floor.seconds()) figures.floor_ratio = step_s / *floor_s;
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
  return {.what = form == Form::Training ? "training" : "inference", .peer = "-", .run = [runs, form] {
            return run_ours(*runs, form);
          }};
}

// A peer has the same ways in all rounds: they are compared by their places.
void require_same_ways(const Arm& arm, const std::vector<Figures>& rounds) {
  const auto names = [](const Figures& round) {
    std::string text;
    for (const auto& [name, speed] : round.ways) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  for (const Figures& round : rounds) {
    if (names(round) == names(rounds.front())) continue;
    throw DeviceError(error_text("bench.peers", fmt::format("{}, {}", arm.what, arm.peer),
                                 fmt::format("{}, as in the first round", names(rounds.front())), names(round),
                                 "the peer's script alone, twice"));
  }
}

// Rows of an arm; `ours` are the figures of our arm of its kind, by round.
void add_rows(const Arm& arm, const std::vector<Figures>& rounds, const std::vector<Figures>& ours, Value& table) {
  for (std::size_t way = 0; way < rounds.front().ways.size(); ++way) {
    std::vector<double> speeds, ratios;
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      speeds.push_back(rounds[round].ways.at(way).second);
      ratios.push_back(ours[round].ways.front().second / speeds.back());
    }
    table.push_back(Value::Table{{"what", arm.what},
                                 {"peer", arm.peer},
                                 {"program", rounds.front().program},
                                 {"way", rounds.front().ways[way].first},
                                 {"images_per_s", summarise(speeds).median},
                                 {"ours_over_it", summarise(ratios).median}});
  }
}

// Ours against the fastest way that the peer had in each round.
Value ratio_row(const Arm& arm, const std::vector<Figures>& rounds, const std::vector<Figures>& ours) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const auto& ways = rounds[round].ways;
    const double fastest = std::ranges::max(ways, {}, [](const auto& way) { return way.second; }).second;
    ratios.push_back(ours[round].ways.front().second / fastest);
  }
  const auto [least, most] = std::ranges::minmax(ratios);
  return Value::Table{{"what", arm.what},
                      {"peer", arm.peer},
                      {"program", rounds.front().program},
                      {"ours_over_it", summarise(ratios).median},
                      {"least", least},
                      {"most", most}};
}

Value floor_ratio(const std::vector<Figures>& ours) {
  std::vector<double> ratios;
  for (const Figures& round : ours) {
    if (round.floor_ratio) ratios.push_back(*round.floor_ratio);
  }
  return ratios.empty() ? Value() : Value(summarise(ratios).median);
}

void check_peers(const std::vector<std::string>& asked) {
  const std::vector<std::string_view> known = peer_names();
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw ConfigError(
        error_text("bench.options", "--peers", fmt::format("names of {}, with commas", fmt::join(known, ", ")),
                   name.empty() ? "an empty name" : name, fmt::format("--peers {}", fmt::join(known, ","))));
  }
}

// What the options mean in full. ConfigError on what is out of range.
PeersOptions checked(PeersOptions options) {
  StepOptions& network = options.network;
  require_at_least("warmup", network.warmup, 0);
  require_at_least("steps", network.steps, 1);
  require_at_least("threads", network.threads, 0);
  require_at_least("rounds", options.rounds, 1);
  check_peers(options.peers);
  if (network.threads == 0) network.threads = runtime::default_compute_threads();
  network.graph = nullptr;
  network.channels = 3;
  network.labels = StepOptions{}.labels;
  return options;
}

// Those of the asked peers that can be run; `missing` gets a line for each other.
std::vector<Arm> peer_arms(const PeersOptions& options, const fs::path& scripts, Value& missing) {
  std::vector<Arm> arms;
  for (const Script& script : kScripts) {
    if (!options.peers.empty() && std::ranges::find(options.peers, script.peer) == options.peers.end()) continue;
    if (const std::string why = obstacle(script, options, scripts); !why.empty()) {
      missing.push_back(fmt::format("{}, {} ({}) left out: {}", script.peer, script.what, script.file, why));
      continue;
    }
    arms.push_back({.what = std::string(script.what),
                    .peer = std::string(script.peer),
                    .run = [&options, &script, &scripts] { return run_script(script, options, scripts); }});
  }
  return arms;
}

}  // namespace

std::vector<std::string_view> peer_names() {
  std::vector<std::string_view> names;
  for (const Script& script : kScripts) {
    if (std::ranges::find(names, script.peer) == names.end()) names.push_back(script.peer);
  }
  return names;
}

Value run_peers(const PeersOptions& given) {
  const PeersOptions options = checked(given);
  const StepOptions& network = options.network;
  const fs::path scripts = scripts_of(options);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  std::vector<Arm> arms{our_arm(network, Form::Training, {"auto"}, *engine),
                        our_arm(network, Form::Inference, {"direct", "auto"}, *engine)};
  constexpr std::size_t kOurs = 2;
  Value missing = Value::array();
  for (Arm& arm : peer_arms(options, scripts, missing)) arms.push_back(std::move(arm));
  const auto rounds = interleave(arms.size(), options.rounds, [&](std::size_t arm) { return arms[arm].run(); });
  for (std::size_t arm = 0; arm < arms.size(); ++arm) require_same_ways(arms[arm], rounds[arm]);
  Value table = Value::array(), ratios = Value::array();
  for (std::size_t ours = 0; ours < kOurs; ++ours) {
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      if (arms[arm].what != arms[ours].what) continue;
      add_rows(arms[arm], rounds[arm], rounds[ours], table);
      if (arm >= kOurs) ratios.push_back(ratio_row(arms[arm], rounds[arm], rounds[ours]));
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
                              {"ratios", std::move(ratios)},
                              {"floor_ratio", floor_ratio(rounds[0])},
                              {"missing", missing},
                              {"warnings", missing}};
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
