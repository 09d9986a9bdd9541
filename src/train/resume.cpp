// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/error_parts.h"
#include "engine/engine.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "train/ema.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::train {
namespace {

constexpr const char* kStateKey = "run_state";
constexpr const char* kRankStatistics = "optimizer.rank_statistics";
constexpr std::string_view kRemedy = "--overwrite to start again";

// Calls `visit` for each state of the optimizer and each trained parameter, with the tensor's name in the file, the
// parameter's index, and the state.
template <typename Visit>
void for_each_state(const engine::Executable& executable, Optimizer& optimizer, const Visit& visit) {
  const auto& parameters = executable.graph().parameters();
  for (const OptimizerState& state : optimizer.state()) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!graph::is_trained(parameters[i].role)) continue;
      visit(fmt::format("{}{}.{}", kOptimizerPrefix, state.name, parameters[i].name), static_cast<std::int32_t>(i),
            state);
    }
  }
}

// Returns names and shapes of the optimizer's tensors as parameters, so that one comparison checks weights and state.
std::vector<graph::Parameter> wanted_state(const engine::Executable& executable, Optimizer& optimizer) {
  std::vector<graph::Parameter> wanted;
  for_each_state(executable, optimizer, [&](const std::string& name, std::int32_t parameter, const OptimizerState&) {
    wanted.push_back({.name = name, .shape = executable.graph().parameter(parameter).shape, .init = {}});
  });
  return wanted;
}

void put_plan(const RunPlan& plan, Value& table) {
  Value& choices = table.set("plan_choices", Value::array());
  for (const auto& [key, choice] : plan.choices) choices.push_back(Value::Array{key, choice});
  table.set("plan_hash", plan.hash);
  table.set("plan_choice_revision", plan.choice_revision);
  table.set("plan_measured_sha256", plan.measured_sha256);
  table.set("plan_instruction_set", plan.instruction_set);
  table.set("plan_engine", plan.engine);
}

// Reads the plan from the metadata. Files of old versions, which chose kernels by timing, have no revision, measured
// file or instruction set. A run on different types of machines has several plans; this is the plan of rank 0.
RunPlan plan_from(const Value& table) {
  RunPlan plan{.choices = {}, .hash = table.at("plan_hash").as_string()};
  if (const Value* revision = table.find("plan_choice_revision")) plan.choice_revision = revision->as_integer();
  if (const Value* measured = table.find("plan_measured_sha256")) plan.measured_sha256 = measured->as_string();
  if (const Value* set = table.find("plan_instruction_set")) plan.instruction_set = set->as_string();
  if (const Value* engine = table.find("plan_engine")) plan.engine = engine->as_string();
  for (const Value& choice : table.at("plan_choices").as_array()) {
    const Value::Array& pair = choice.as_array();
    if (pair.size() != 2)
      throw ConfigError(error_text("train.checkpoint", "plan_choices", "pairs of strings", "another type", kRemedy));
    plan.choices[pair[0].as_string()] = pair[1].as_string();
  }
  return plan;
}

void refuse(std::string_view what, const LoadReport& report, std::string_view expected) {
  if (report.is_clean()) return;
  throw ConfigError(error_text("train.checkpoint", what, expected, report.text(), kRemedy));
}

// Reads the state of the run from the metadata.
RunState run_state_of(const io::SafetensorsReader& reader, const std::string& what) {
  const auto found = reader.metadata().find(kStateKey);
  if (found == reader.metadata().end()) {
    throw ConfigError(error_text("train.checkpoint", what, "a resume file with optimizer state",
                                 "a file with weights only", kRemedy));
  }
  try {
    return run_state_from_value(io::parse_json(found->second, kStateKey).or_throw<ConfigError>());
  } catch (const Error& error) {
    throw ConfigError(error_text("train.checkpoint", what, "a complete run_state", cause_of(error.what()), kRemedy));
  }
}

}  // namespace

Value to_value(const RunState& state) {
  Value kept = Value::array();
  for (const auto& [file, score] : state.kept_best) kept.push_back(Value::Table{{"file", file}, {"score", score}});
  Value legs = Value::array();
  for (const RunLeg& leg : state.legs) {
    legs.push_back(Value::Table{{"ranks", leg.ranks}, {"batch", leg.batch}, {"batches", leg.batches}});
  }
  Value table = Value::Table{{"step", state.step},
                             {"epoch", state.epoch},
                             {"step_in_epoch", state.step_in_epoch},
                             {"loss_sum", state.loss_sum},
                             {"best_score", state.best_score},
                             {"has_best", state.has_best},
                             {"best_epoch", state.best_epoch},
                             {"epochs_without_improvement", state.epochs_without_improvement},
                             {"is_finished", state.is_finished},
                             {"schedule", state.schedule},
                             {"kept_best", std::move(kept)},
                             {"bad_samples", Value::Array(state.bad_samples.begin(), state.bad_samples.end())},
                             {"updates_per_epoch", state.updates_per_epoch},
                             {"legs", std::move(legs)},
                             {"threads", state.threads},
                             {"seed", static_cast<std::int64_t>(state.seed)}};
  put_plan(state.plan, table);
  if (state.bucket_mb > 0.0) table.set("bucket_mb", state.bucket_mb);
  if (!state.averages.empty()) table.set("averages", state.averages);
  if (!state.updates.empty()) table.set("updates", state.updates);
  if (const auto& scale = state.loss_scale) {
    table.set("loss_scale",
              Value::Table{
                  {"scale", scale->scale}, {"good_updates", scale->good_updates}, {"skipped_updates", scale->skipped}});
  }
  return table;
}

RunState run_state_from_value(const Value& table) {
  RunState state{.step = table.at("step").as_integer(),
                 .epoch = table.at("epoch").as_integer(),
                 .step_in_epoch = table.at("step_in_epoch").as_integer(),
                 .loss_sum = table.at("loss_sum").as_double(),
                 .best_score = table.at("best_score").as_double(),
                 .has_best = table.at("has_best").as_bool(),
                 .best_epoch = table.at("best_epoch").as_integer(),
                 .epochs_without_improvement = table.at("epochs_without_improvement").as_integer(),
                 .is_finished = table.at("is_finished").as_bool(),
                 .schedule = table.at("schedule"),
                 .kept_best = {},
                 .bad_samples = {},
                 .updates_per_epoch = table.at("updates_per_epoch").as_integer(),
                 .legs = {},
                 .threads = table.at("threads").as_integer(),
                 .seed = static_cast<std::uint64_t>(table.at("seed").as_integer()),
                 .plan = plan_from(table),
                 .loss_scale = {}};
  if (const Value* size = table.find("bucket_mb")) state.bucket_mb = size->as_double();
  if (const Value* averages = table.find("averages")) state.averages = averages->as_string();
  if (const Value* updates = table.find("updates")) state.updates = updates->as_string();
  if (const Value* scale = table.find("loss_scale")) {
    state.loss_scale = {.scale = scale->at("scale").as_double(),
                        .good_updates = scale->at("good_updates").as_integer(),
                        .skipped = scale->at("skipped_updates").as_integer()};
  }
  for (const Value& kept : table.at("kept_best").as_array()) {
    state.kept_best.emplace_back(kept.at("file").as_string(), kept.at("score").as_double());
  }
  // Files of versions without several ranks have no list of legs (RunLeg).
  if (const Value* legs = table.find("legs")) {
    for (const Value& leg : legs->as_array()) {
      state.legs.push_back({.ranks = leg.at("ranks").as_integer(),
                            .batch = leg.at("batch").as_integer(),
                            .batches = leg.at("batches").as_integer()});
    }
  }
  for (const Value& sample : table.at("bad_samples").as_array()) {
    state.bad_samples.push_back(static_cast<std::uint32_t>(sample.as_integer()));
  }
  return state;
}

void write_resume(const std::filesystem::path& path, const RunMemory& memory, const CheckpointInfo& info,
                  const RunState& state) {
  std::vector<NamedTensor> tensors = weights_of(memory.executable);
  const engine::Executable& executable = memory.executable;
  for_each_state(executable, memory.optimizer,
                 [&](const std::string& name, std::int32_t parameter, const OptimizerState& kept) {
                   tensors.push_back({.name = name,
                                      .shape = executable.graph().parameter(parameter).shape,
                                      .values = executable.store(parameter, kept.arena)});
                 });
  if (memory.ema != nullptr) {
    for (NamedTensor& tensor : memory.ema->state()) tensors.push_back(std::move(tensor));
  }
  if (const auto count = std::ssize(memory.rank_statistics); count > 0) {
    tensors.push_back({.name = kRankStatistics, .shape = Shape{count}, .values = memory.rank_statistics});
  }
  auto metadata = to_metadata(info);
  metadata[kStateKey] = io::to_json(to_value(state), -1);
  write_weights(path, tensors, state.step, metadata);
}

CheckpointInfo read_checkpoint_info(const std::filesystem::path& path) {
  const auto reader = io::SafetensorsReader::open(path).or_throw<ConfigError>();
  return from_metadata(reader.metadata(), path.string(), kRemedy).or_throw<ConfigError>();
}

RunState read_run_state(const std::filesystem::path& path) {
  return run_state_of(io::SafetensorsReader::open(path).or_throw<ConfigError>(), path.string());
}

Resume read_resume(const std::filesystem::path& path) {
  const std::string what = path.string();
  const auto reader = io::SafetensorsReader::open(path).or_throw<ConfigError>();
  Resume resume;
  resume.info = from_metadata(reader.metadata(), what, kRemedy).or_throw<ConfigError>();
  resume.state = run_state_of(reader, what);
  resume.weights = read_tensors(reader, kOptimizerPrefix);
  for (NamedTensor& tensor : read_tensors(reader, "")) {
    if (!tensor.name.starts_with(kOptimizerPrefix)) continue;
    if (tensor.name == kRankStatistics) {
      resume.rank_statistics = std::move(tensor.values);
      continue;
    }
    (tensor.name.starts_with(kEmaPrefix) ? resume.ema : resume.optimizer).push_back(std::move(tensor));
  }
  return resume;
}

void apply_resume(const Resume& resume, const RunMemory& memory, std::string_view what) {
  engine::Executable& executable = memory.executable;
  Optimizer& optimizer = memory.optimizer;
  refuse(what, compare(resume.weights, executable.graph().parameters()), "the tensors of " + executable.graph().name());
  refuse(what, compare(resume.optimizer, wanted_state(executable, optimizer)),
         "the state of " + std::string(optimizer.name()));
  if (memory.ema != nullptr) memory.ema->restore(resume.ema, what);
  load_weights(resume.weights, executable, what, Strictness::Strict);
  for_each_state(executable, optimizer,
                 [&](const std::string& name, std::int32_t parameter, const OptimizerState& kept) {
                   const auto tensor = std::ranges::find(resume.optimizer, name, &NamedTensor::name);
                   executable.load(parameter, tensor->values, kept.arena);
                 });
}

}  // namespace roentgen::train
