// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/trainer_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "data/stage/disk_cache.h"
#include "data/stage/image_cache.h"
#include "data/stage/memory_plan.h"
#include "data/transform/transform.h"
#include "engine/engine.h"
#include "graph/graph.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "io/toml.h"
#include "runtime/cache_folder.h"
#include "runtime/memory.h"
#include "train/early_checks.h"
#include "train/import.h"
#include "train/input_notes.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/schedule/schedule.h"

namespace roentgen::train {
namespace {

constexpr std::size_t kSaltDigits = 16;

void require(bool holds, std::string_view what, std::string_view expected, std::string_view got,
             std::string_view remedy) {
  if (!holds) throw ConfigError(error_text("train.run", what, expected, got, remedy));
}

// The same images in every update, however many ranks share them; or the same batch on another number of ranks, whose
// updates are others.
void check_batch(const TrainJob& job, const Resume& resume) {
  const Recipe begun = parse_recipe(resume.info.recipe, "recipe", {});
  const RunLeg before = resume.state.legs.empty() ? RunLeg{.batch = begun.train.batch} : resume.state.legs.back();
  const RunLeg now{.ranks = Ranks(job.group).size(), .batch = job.recipe.train.batch};
  if (now.batch * now.ranks == before.batch * before.ranks) return;
  if (now.batch != before.batch) {
    throw ConfigError(error_text("train.resume", "train.batch",
                                 fmt::format("{} on {}: {} an update, as before", before.batch,
                                             ranks_text(before.ranks), counted(before.batch * before.ranks, "image")),
                                 fmt::format("{} on {}", now.batch, now.ranks),
                                 "the same recipe and options, or a new --out folder"));
  }
  log::warning(fmt::format("{} instead of {}: an update takes {}, not {}", ranks_text(now.ranks), before.ranks,
                           counted(now.batch * now.ranks, "image"), before.batch * before.ranks));
}

bool has_both_classes(const data::SplitSummary& summary) {
  return std::any_of(summary.labels.begin(), summary.labels.end(),
                     [](const data::LabelCounts& counts) { return counts.positives > 0 && counts.negatives > 0; });
}

// Once, however many folders there are.
void warn_of_network(const TrainJob& job) {
  std::vector<std::filesystem::path> roots{job.dataset.root};
  for (const data::DatasetPart& part : job.dataset.parts) roots.push_back(part.root);
  for (const std::filesystem::path& root : roots) {
    const std::string note = network_note(runtime::network_file_system(root), root, keeps_on_disk(job.recipe.train));
    if (note.empty()) continue;
    log::warning(note);
    return;
  }
}

}  // namespace

void check_job(const TrainJob& job) {
  const data::SplitSummary& training = job.dataset.summary(data::Split::Train);
  const data::SplitSummary& validation = job.dataset.summary(data::Split::Val);
  require(training.images > 0, "training images", "at least 1", "0", "another data.split or train_list");
  require(validation.images == 0 || job.recipe.train.select != "auroc" || has_both_classes(validation),
          "validation AUROC", "a label with both classes among the validation images",
          "none in " + counted(validation.images, "image"), "train.select=loss or another data.val_fraction");
  check_model(job.recipe, job.model, Ranks(job.group).size());
  const auto K = static_cast<std::int64_t>(job.dataset.label_names.size());
  const Shape& logits = job.model.node(job.model.output("logits")).shape;
  const Shape wanted{job.recipe.train.batch, K};
  require(logits == wanted, "model: logits", wanted.text(), logits.text(), "out=K in the graph text's last op");
}

std::string split_text(const std::vector<SplitRecord>& splits, std::string_view name) {
  constexpr std::size_t kDigits = 12;
  for (const SplitRecord& record : splits) {
    if (record.split != name) continue;
    return fmt::format("{} of {}, list {}", counted(record.images, "image"), counted(record.patients, "patient"),
                       record.list_sha256.substr(0, kDigits));
  }
  return "no images";
}

CheckpointInfo describe_run(const TrainJob& job) {
  const data::SplitSummary& training = job.dataset.summary(data::Split::Train);
  CheckpointInfo info{.labels = job.dataset.label_names,
                      .preprocess = job.recipe.preprocess.to_value(),
                      .loss = job.recipe.loss.name,
                      .recipe = to_toml(job.recipe),
                      .graph = graph::print_graph_any_batch(job.model),
                      .patient_namespace = job.dataset.patient_namespace,
                      .split_rule = job.recipe.data.split.rule};
  info.patient_salt =
      io::sha256_hex(fmt::format("{} {}", training.list_sha256, job.recipe.train.seed)).substr(0, kSaltDigits);
  info.training_patients = data::patient_hashes(job.dataset, data::Split::Train, info.patient_salt);
  for (const data::Split split : {data::Split::Train, data::Split::Val, data::Split::Test}) {
    const data::SplitSummary& summary = job.dataset.summary(split);
    if (summary.images == 0) continue;
    info.splits.push_back({.split = std::string(data::name_of(split)),
                           .images = summary.images,
                           .patients = summary.patients,
                           .list_sha256 = summary.list_sha256});
  }
  return info;
}

InputMemory plan_input_memory(const TrainJob& job) {
  const TrainRecipe& recipe = job.recipe.train;
  require(recipe.slots != 1, "train.slots", "2 or more, or 0 for as many as fit", "1", "--set train.slots=0");
  const std::vector<std::uint32_t> samples = data::samples_of(job.dataset, data::Split::Train);
  constexpr int kMostSlots = 8, kFewestSlots = 2;
  const int asked = static_cast<int>(recipe.slots);
  const std::uint64_t budget =
      data::input_budget_bytes(recipe.memory_mb, runtime::available_memory_bytes(), Ranks(job.group).local_size());
  data::MemoryWishes wishes{
      .needs = {.samples = std::ssize(samples),
                .sample = data::largest_sample(job.dataset, samples, job.recipe.preprocess.channels),
                .batch = recipe.batch,
                .row_bytes = data::slot_bytes(job.recipe.preprocess, DType::F32) +
                             2 * sizeof(float) * job.dataset.label_names.size(),
                .workers = decode_workers(recipe),
                .slots = asked > 0 ? asked : kMostSlots},
      .fewest_slots = asked > 0 ? asked : kFewestSlots,
      .cache_bytes = keeps_on_disk(recipe) ? 0 : static_cast<std::uint64_t>(recipe.cache_mb) << 20U};
  if (job.dataset.summary(data::Split::Val).images > 0) {
    data::MemoryNeeds validating = wishes.needs;
    validating.slots = kFewestSlots;
    const auto uses = data::memory_uses(data::evaluation_pipeline(), validating);
    wishes.others.push_back({.what = "validation", .bytes = data::total_bytes(uses)});
  }
  const data::MemoryShares shares = data::share_memory(training_pipeline(recipe), std::move(wishes), budget);
  log::info(shares.text());
  warn_of_network(job);
  return {.slots = shares.slots, .readers = shares.readers, .cache_bytes = shares.cache_bytes};
}

std::vector<std::string> load_first_weights(const TrainJob& job, engine::Executable& executable) {
  const TrainRecipe& recipe = job.recipe.train;
  const auto seed = static_cast<std::uint64_t>(recipe.seed);
  engine::initialise(executable, seed);
  if (recipe.init.empty()) return {fmt::format("weights drawn at random, seed {}", recipe.seed)};
  Import import =
      adapt(read_import(recipe.init, recipe.init_preset),
            {.model = job.model, .labels = job.dataset.label_names, .preprocess = job.recipe.preprocess, .seed = seed});
  const LoadReport report =
      load_weights(import.tensors, executable, recipe.init, recipe.partial ? Strictness::Partial : Strictness::Strict);
  std::vector<std::string> notes{"weights from " + recipe.init};
  notes.insert(notes.end(), import.notes.begin(), import.notes.end());
  if (!report.is_clean()) notes.push_back("partial: " + report.text());
  return notes;
}

void check_resume(const TrainJob& job, const Resume& resume) {
  refuse_changed_recipe(io::parse_toml(resume.info.recipe, job.folder.resume().string()).or_throw<ConfigError>(),
                        io::parse_toml(to_toml(job.recipe), "recipe").or_throw<ConfigError>());
  const CheckpointInfo now = describe_run(job);
  const auto refuse_change = [](std::string_view what, const std::string& begun, const std::string& here) {
    if (begun == here) return;
    throw ConfigError(
        error_text("train.resume", what, begun + ", as the run began", here, "the same --data, or a new --out folder"));
  };
  refuse_change("labels", fmt::format("{}", fmt::join(resume.info.labels, ", ")),
                fmt::format("{}", fmt::join(now.labels, ", ")));
  for (const std::string_view split : {"train", "val", "test"}) {
    refuse_change(split, split_text(resume.info.splits, split), split_text(now.splits, split));
  }
  check_batch(job, resume);
  if (resume.state.threads != compute_threads(job.recipe.train)) {
    log::warning(fmt::format("resumed with {}, begun with {}: the weights will differ in their last bits",
                             counted(compute_threads(job.recipe.train), "thread"), resume.state.threads));
  }
}

std::int64_t updates_per_epoch(const TrainJob& job) {
  const TrainRecipe& recipe = job.recipe.train;
  const std::vector<std::uint32_t> samples = data::samples_of(job.dataset, data::Split::Train);
  const std::int64_t batches = data::steps_per_epoch(job.dataset, samples, loader_options(job, DType::F32));
  const std::int64_t ranks = Ranks(job.group).size();
  if (batches == 0) {
    throw ConfigError(
        error_text("train.run", "train.batch",
                   fmt::format("a batch for {} of {}", ranks_text(ranks), counted(std::ssize(samples), "image")),
                   fmt::to_string(recipe.batch), "a smaller train.batch, fewer ranks, or train.tail=wrap"));
  }
  if (batches >= recipe.accumulate) {
    const std::int64_t updates = batches / recipe.accumulate;
    const std::string note = skipped_note({.images = std::ssize(samples),
                                           .updates = updates,
                                           .images_per_update = recipe.accumulate * recipe.batch * ranks,
                                           .ranks = ranks});
    if (!note.empty()) log::warning(note);
    return updates;
  }
  throw ConfigError(error_text("train.run", "train.accumulate",
                               "at most the " + counted(batches, "batch", "batches") + " of an epoch",
                               fmt::to_string(recipe.accumulate), "a smaller train.accumulate or train.batch"));
}

std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state, int ranks) {
  const Value begun = io::parse_toml(begun_toml, "recipe").or_throw<ConfigError>();
  const Value* epochs = begun.find_path("train.epochs");
  if (epochs == nullptr || epochs->as_integer() == recipe.train.epochs) return {};
  Recipe before = recipe;
  before.train.epochs = epochs->as_integer();
  const auto then = make_schedule(recipe.schedule.name, schedule_options(before, state.updates_per_epoch, ranks));
  const auto now = make_schedule(recipe.schedule.name, schedule_options(recipe, state.updates_per_epoch, ranks));
  const std::int64_t end = recipe.train.epochs * state.updates_per_epoch;
  for (std::int64_t step = state.step; step < end; ++step) {
    if (then->lr(step) == now->lr(step)) continue;
    return fmt::format(
        "train.epochs was {} and is {}: schedule {} depends on it, so the learning rate of the remaining steps changes "
        "(step {}: {:.3g}, not {:.3g})",
        before.train.epochs, recipe.train.epochs, recipe.schedule.name, step + 1, now->lr(step), then->lr(step));
  }
  return {};
}

std::unique_ptr<data::ImageStore> make_image_store(const TrainJob& job, std::uint64_t cache_bytes) {
  const TrainRecipe& recipe = job.recipe.train;
  if (!keeps_on_disk(recipe)) {
    return std::make_unique<data::ImageCache>(std::ssize(job.dataset.samples), cache_bytes);
  }
  auto cache = std::make_unique<data::DiskCache>(
      job.dataset, data::DiskCacheOptions{.folder = recipe.cache_dir.empty() ? runtime::default_cache_folder()
                                                                             : std::filesystem::path(recipe.cache_dir),
                                          .preprocess = job.recipe.preprocess,
                                          .shrunk_px = recipe.cache_px});
  log::info(cache->text());
  return cache;
}

std::optional<Resume> read_resume(const TrainJob& job) {
  if (job.start != Start::Resume) return std::nullopt;
  const Ranks ranks(job.group);
  constexpr dist::Phase kPhase{.name = "resume file"};
  std::optional<Resume> resume;
  if (ranks.is_first()) resume = read_resume(job.folder.resume());
  const std::string state = ranks.broadcast(resume ? io::to_json(to_value(resume->state), -1) : "", kPhase);
  const std::string recipe = ranks.broadcast(resume ? resume->info.recipe : "", kPhase);
  if (!resume) {
    resume.emplace();
    resume->state = run_state_from_value(io::parse_json(state, "rank 0's state").or_throw<ConfigError>());
    resume->info.recipe = recipe;
  }
  return resume;
}

std::size_t log_step(const TrainRecipe& recipe, const PlannedMemory& memory) {
  if (const TrainCores cores = train_cores(recipe); !cores.input.empty()) {
    log::info(fmt::format("cores: {} for input, {} for computing", runtime::text_of(cores.input),
                          runtime::text_of(cores.compute)));
  }
  const engine::Plan& plan = memory.training.plan();
  std::vector<std::pair<std::string, std::size_t>> more{{"optimizer", 0}};
  for (const OptimizerState& state : memory.optimizer.state()) more[0].second += state.arena.size_bytes();
  if (memory.has_ema) more.emplace_back("averages", plan.memory.parameters + plan.memory.state);
  if (recipe.accumulate > 1) more.emplace_back("sums of gradients", plan.memory.gradients);
  if (memory.validation != nullptr) more.emplace_back("validation", memory.validation->plan().memory.total());
  log::info(fmt::format("training: peak of memory {}; values in {}; plan {}", plan.memory.text(more), plan.dtype(),
                        plan.hash()));
  std::size_t bytes = plan.memory.total();
  for (const auto& [name, each] : more) bytes += each;
  return bytes;
}

StepperOptions stepper_options(const Recipe& recipe) {
  return {.optimizer = recipe.optimizer.name,
          .optimizer_options = optimizer_options(recipe.optimizer, compute_threads(recipe.train)),
          .weight_decay = recipe.optimizer.weight_decay,
          .decays_norm_and_bias = recipe.optimizer.decay_norm_and_bias,
          .accumulate = recipe.train.accumulate,
          .clip_norm = recipe.train.clip_norm};
}

data::LoaderOptions loader_options(const TrainJob& job, DType dtype) {
  const Recipe& recipe = job.recipe;
  data::LoaderOptions options;
  options.mode = data::LoadMode::Training;
  const Ranks ranks(job.group);
  options.shard = {.batch = recipe.train.batch,
                   .tail = data::parse_tail(recipe.train.tail),
                   .rank = ranks.rank(),
                   .ranks = ranks.size()};
  options.pipeline = training_pipeline(recipe.train);
  options.workers = decode_workers(recipe.train);
  options.cores = train_cores(recipe.train).input;
  options.seed = static_cast<std::uint64_t>(recipe.train.seed);
  options.epochs = static_cast<std::uint32_t>(recipe.train.epochs);
  options.preprocess = recipe.preprocess;
  options.augment = recipe.augment;
  options.dtype = dtype;
  options.label_form = recipe.loss.name == "softmax" ? data::LabelForm::ClassIndex : data::LabelForm::MultiLabel;
  options.max_bad_share = recipe.train.max_bad;
  if (ranks.is_first()) options.quarantine = job.folder.quarantine();
  return options;
}

}  // namespace roentgen::train
