// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/serve.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "dist/comm_thread.h"
#include "io/json.h"
#include "io/sha256.h"
#include "runtime/core_list.h"
#include "train/compile_run.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/servers/parameter_server.h"
#include "train/servers/shards.h"
#include "train/stepper.h"

namespace roentgen::train {
namespace {

constexpr std::string_view kRoom = "train.servers";

// Hashes the weights of a shard in row-major layout. Worker and server get equal hashes only with equal memory layouts.
std::string hash_of_shard(const engine::Executable& executable, const std::vector<std::int64_t>& buckets) {
  std::string bytes;
  for (const std::int64_t bucket : buckets) {
    const engine::Bucket& place = executable.buckets()[static_cast<std::size_t>(bucket)];
    for (const engine::ParameterSlice& slice : executable.slices()) {
      if (slice.begin < place.begin || slice.begin >= place.begin + place.count) continue;
      const std::vector<float> values = executable.store(slice.parameter);
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
  }
  return io::sha256_hex(bytes);
}

// Receives the greeting of the first worker. The timeout is long, because workers read data and compile before it.
class Greeting {
 public:
  explicit Greeting(dist::CommThread& group) : group_(group) {}
  std::string text() {
    std::uint64_t size = 0;
    receive(std::as_writable_bytes(std::span(&size, 1)));
    std::string bytes(size, '\0');
    receive(std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  void fill(engine::Executable& executable, engine::Arena& arena, const std::vector<std::int64_t>& buckets) {
    for (const std::int64_t bucket : buckets) {
      const engine::Bucket& place = executable.buckets()[static_cast<std::size_t>(bucket)];
      values_.resize(static_cast<std::size_t>(place.count));
      receive(std::as_writable_bytes(std::span(values_)));
      arena.upload(place.begin, values_);
    }
  }

 private:
  static constexpr int kPhases = 10;

  void receive(std::span<std::byte> bytes) {
    group_.call([&](dist::Communicator& communicator) {
      communicator.receive(bytes, {.rank = 0, .tag = kGreetingTag}, {.name = "greeting"})
          .wait(kPhases * group_.limit());
    });
  }

  dist::CommThread& group_;
  std::vector<float> values_;
};

void require_equal(std::string_view what, const std::string& expected, const std::string& got,
                   std::string_view remedy) {
  if (expected == got) return;
  throw ConfigError(error_text(kRoom, fmt::format("{} on a server", what), expected + ", as on rank 0", got, remedy));
}

}  // namespace

bool divide_ranks(const TrainJob& job) {
  if (!job.servers.has_servers()) return false;
  const int servers = job.servers.servers;
  const int ranks = Ranks(job.group).size();
  check_server_recipe(job.servers, job.recipe.train, ranks);
  const std::string& way = job.group->way();  // such as "exchange bf16"
  check_server_messages(job.servers, job.group->is_nccl_asked() ? dist::kNcclReduce : "",
                        std::string_view(way).substr(way.rfind(' ') + 1));
  const bool is_server = job.group->rank() >= ranks - servers;
  if (job.group->rank() == 0) log::info(parts_text(job.servers, ranks));
  job.group->divide(servers);
  return is_server;
}

void greet_servers(const TrainJob& job, const engine::Executable& executable, const RunState& state,
                   ServerExchange& servers, Optimizer& optimizer) {
  const std::vector<int> assigned = assign_buckets(executable.buckets(), job.servers.servers);
  Value hashes = Value::array();
  for (int server = 0; server < job.servers.servers; ++server) {
    hashes.push_back(hash_of_shard(executable, buckets_of(assigned, server)));
  }
  const Value greeting = Value::Table{{"recipe", to_toml(job.recipe)},
                                      {"update", text_of(job.servers)},
                                      {"state", to_value(state)},
                                      {"weights", std::move(hashes)}};
  servers.greet(io::to_json(greeting, -1), optimizer);
}

TrainOutcome serve(const TrainJob& job) {
  const Recipe& recipe = job.recipe;
  const int workers = job.group->first_rank();
  Greeting greeting(*job.group);
  const Value told = io::parse_json(greeting.text(), "greeting").or_throw<CommError>();
  constexpr std::string_view kSame = "the same recipe and options on all hosts";
  require_equal("options", told.at("update").as_string(), text_of(job.servers), kSame);
  require_equal("recipe", told.at("recipe").as_string(), to_toml(recipe), kSame);
  const RunState state = run_state_from_value(told.at("state"));

  const runtime::BoundToCores bound(train_cores(recipe.train).compute);
  TrainJob alone = job;
  alone.group = nullptr;
  constexpr int kSlots = 2;
  const CompiledTraining training = compile_training(alone, kSlots, &state.plan, nullptr);
  engine::Executable& executable = *training.executable;
  Optimizer optimizer(recipe.optimizer.name, recipe.optimizer.rules, executable);
  const StepperOptions options{.weight_decay = recipe.optimizer.weight_decay,
                               .decays_norm_and_bias = recipe.optimizer.decay_norm_and_bias};
  const ParameterServerOptions serving{.servers = job.servers,
                                       .index = job.group->rank() - workers,
                                       .workers = workers,
                                       .clip_norm = recipe.train.clip_norm,
                                       .gradients = state.step * workers,
                                       .limit = job.group->limit(),
                                       .is_stop_asked = job.is_stop_asked};
  const std::vector<std::int64_t> buckets =
      buckets_of(assign_buckets(executable.buckets(), job.servers.servers), serving.index);
  greeting.fill(executable, executable.parameters(), buckets);
  for (const OptimizerState& each : optimizer.state()) greeting.fill(executable, each.arena, buckets);
  require_equal("weights", told.at("weights").as_array().at(static_cast<std::size_t>(serving.index)).as_string(),
                hash_of_shard(executable, buckets), "the same type of machine for workers and servers");
  ParameterServer server(
      executable, optimizer,
      ranges_by_bucket(update_ranges(executable, options, optimizer.is_layerwise()), executable.buckets()), serving);
  job.group->call([&](dist::Communicator& communicator) { server.serve(communicator); });
  return {.is_finished = true};
}

}  // namespace roentgen::train
