// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/log.h"
#include "core/timeline.h"
#include "data/source/dataset.h"
#include "data/stage/image_store.h"
#include "dist/launch_board.h"
#include "engine/engine.h"
#include "eval/table.h"
#include "graph/graph.h"
#include "io/file.h"
#include "runtime/core_list.h"
#include "runtime/memory.h"
#include "train/aurocs_csv.h"
#include "train/bad_images.h"
#include "train/compile_run.h"
#include "train/link_watch.h"
#include "train/observer.h"
#include "train/optimizer/optimizer.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_log.h"
#include "train/run_position.h"
#include "train/same_job.h"
#include "train/schedule/schedule.h"
#include "train/trace.h"
#include "train/trained_pixels.h"
#include "train/trainer_setup.h"
#include "train/validation_figures.h"

namespace roentgen::train {
namespace {

using Clock = std::chrono::steady_clock;

// A screen for memory that lies and for ranks that compute otherwise; hashing takes less than a thousandth of the time.
constexpr std::int64_t kStepsToWeightCheck = 100;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Everything a run holds while it runs.
class Trainer {
 public:
  explicit Trainer(const TrainJob& job);
  TrainOutcome run();

 private:
  void start_fresh();
  void start_resumed();
  void start_loader();
  /// Updates until the epoch is over or the run is to stop; false when it is to stop.
  bool run_epoch(EpochRecord& record);
  void finish_epoch(EpochRecord& record);
  void validate(EpochRecord& record, PredictResult& result, eval::EvalTable& table);
  void keep_weights(double score, std::string_view metric, double value);
  /// @param is_stop at a place where no run that goes on would write one
  void write_resume_file(bool is_stop = false);
  void average_statistics();
  [[nodiscard]] Timeline* timeline() { return tracer_ ? tracer_->timeline() : nullptr; }
  [[nodiscard]] bool should_stop() const;
  [[nodiscard]] RunLeg new_leg() const { return {.ranks = ranks_.size(), .batch = recipe_.train.batch}; }
  /// What is evaluated and kept.
  [[nodiscard]] std::vector<NamedTensor> weights_to_keep() const {
    return ema_ ? ema_->weights() : weights_of(*executable_);
  }
  [[nodiscard]] RunMemory memory() {
    return {.executable = *executable_, .optimizer = stepper_->optimizer(), .ema = ema()};
  }
  [[nodiscard]] Ema* ema() { return ema_ ? &*ema_ : nullptr; }
  void start_ema() {
    if (recipe_.train.ema > 0.0) ema_.emplace(*executable_, recipe_.train.ema, compute_threads(recipe_.train));
  }

  const TrainJob& job_;
  const Recipe& recipe_;
  const Ranks ranks_;
  LinkWatch links_{ranks_};
  /// Before the first compute thread starts.
  const runtime::BoundToCores bound_;
  std::vector<std::uint32_t> training_;
  std::vector<std::uint32_t> validation_;
  const InputMemory memory_;
  std::unique_ptr<data::ImageStore> cache_;
  CheckpointInfo info_;
  std::optional<TrainedPixels> pixels_;
  std::optional<Resume> resume_;
  /// Of the resume file, until they are given out.
  std::vector<float> rank_statistics_;
  std::unique_ptr<engine::Executable> executable_;
  std::unique_ptr<engine::Executable> validator_;
  /// With TrainJob::trace.
  std::optional<Tracer> tracer_;
  std::optional<Stepper> stepper_;
  /// With train.ema.
  std::optional<Ema> ema_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<data::Loader> loader_;
  RunState state_;
  /// Of the resume file there is; -1: none.
  std::int64_t saved_step_ = -1;
  std::int64_t saved_epoch_ = -1;
  /// Update after which the running statistics were last made the same on all ranks.
  std::int64_t averaged_step_ = -1;
  std::optional<RunLog> log_;
  TrainOutcome outcome_;
};

Trainer::Trainer(const TrainJob& job)
    : job_(job),
      recipe_(job.recipe),
      ranks_(job.group),
      bound_(train_cores(job.recipe.train).compute),
      training_(data::samples_of(job.dataset, data::Split::Train)),
      validation_(data::samples_of(job.dataset, data::Split::Val)),
      memory_(plan_input_memory(job)),
      cache_(make_image_store(job, memory_.cache_bytes)),
      info_(describe_run(job)) {
  require_same_job(job);
  if (job.trace) tracer_.emplace(*job.trace, job.group);
  resume_ = read_resume(job);
  if (resume_ && ranks_.is_first()) check_resume(job, *resume_);
  CompiledTraining made = compile_training(job, memory_.slots, resume_ ? &*resume_ : nullptr, timeline());
  executable_ = std::move(made.executable);
  if (!validation_.empty()) validator_ = compile_validation(job);
  pixels_.emplace(std::ssize(job.dataset.samples),
                  resume_ ? resume_->info.training_pixels : std::vector<std::string>{});
  StepperOptions stepping = stepper_options(recipe_);
  stepping.timeline = timeline();
  stepping.on_batch = [this](std::span<const std::uint32_t> samples) { pixels_->add(samples); };
  stepping.group = job.group;
  stepping.is_stop_asked = job.is_stop_asked;
  stepper_.emplace(*executable_, std::move(stepping));
  if (resume_) state_ = resume_->state;
  const std::int64_t updates = updates_per_epoch(job);
  schedule_ = make_schedule(recipe_.schedule.name, schedule_options(recipe_, updates, ranks_.size()));
  resume_ ? start_resumed() : start_fresh();
  share_memory(ranks_, *executable_, stepper_->optimizer(), ema());
  if (scatter_statistics(ranks_, std::move(rank_statistics_), *executable_, ema())) averaged_step_ = -1;
  if (ranks_.is_first() && job.on_ready) job.on_ready();
  if (tracer_) tracer_->keep_in(job.folder);
  if (job.start == Start::Fresh) {
    state_.updates_per_epoch = updates;
    state_.legs = {new_leg()};
  }
  start_loader();
  state_.updates_per_epoch = updates;
  state_.threads = compute_threads(recipe_.train);
  state_.seed = static_cast<std::uint64_t>(recipe_.train.seed);
  state_.plan = std::move(made.plan);
  if (ranks_.is_first()) write_plan(job, *executable_, state_.plan);
  log_.emplace(job, state_.step, state_.epoch);
  outcome_.planned_bytes =
      log_step(recipe_.train, {*executable_, validator_.get(), stepper_->optimizer(), ema_.has_value()});
}

void Trainer::start_fresh() {
  if (ranks_.is_first()) {
    for (const std::string& note : load_first_weights(job_, *executable_)) log::info(note);
  }
  start_ema();
}

void Trainer::start_resumed() {
  start_ema();
  if (ranks_.is_first()) apply_resume(*resume_, memory(), job_.folder.resume().string());
  schedule_->restore(state_.schedule);
  log::info(fmt::format("resumed at step {}, epoch {}", state_.step, state_.epoch + 1));
  const std::string rates = changed_rates(recipe_, resume_->info.recipe, state_, ranks_.size());
  if (!rates.empty() && ranks_.is_first()) log::warning(rates);
  saved_step_ = state_.step;
  saved_epoch_ = state_.epoch;
  averaged_step_ = state_.step;
  rank_statistics_ = std::move(resume_->rank_statistics);
  resume_.reset();
}

void Trainer::start_loader() {
  const bool is_class = recipe_.loss.name == "softmax";
  const SlotMemory memory(*executable_, memory_.slots,
                          is_class ? 1 : static_cast<std::int64_t>(job_.dataset.label_names.size()));
  data::LoaderOptions options = resumed_loader_options(job_, memory.dtype(), state_);
  options.most_readers = memory_.readers;
  options.cache = cache_.get();
  options.pixel_hashes = &pixels_->hashes();
  options.known_bad = state_.bad_samples;
  loader_ = std::make_unique<data::Loader>(job_.dataset, training_, options, memory.slots());
}

bool Trainer::should_stop() const {
  const bool is_asked = ranks_.size() > 1 ? stepper_->is_stop_asked() : job_.is_stop_asked && job_.is_stop_asked();
  return is_asked || (job_.stop_after_steps > 0 && state_.step >= job_.stop_after_steps);
}

bool Trainer::run_epoch(EpochRecord& record) {
  if (state_.step_in_epoch == state_.updates_per_epoch) return true;
  while (state_.step_in_epoch < state_.updates_per_epoch) {
    if (should_stop()) return false;
    if (tracer_) tracer_->begin_update();
    StepRecord step = stepper_->update(*loader_, state_.step, schedule_->lr(state_.schedule_step()));
    if (tracer_) tracer_->end_update();
    ++state_.step;
    ++state_.step_in_epoch;
    state_.legs.back().batches += recipe_.train.accumulate;
    step.epoch = state_.epoch;
    step.total_steps = state_.step + recipe_.train.epochs * state_.updates_per_epoch - state_.schedule_step();
    if (ema_) ema_->update(state_.step);
    state_.loss_sum += step.loss;
    record.train_seconds += step.seconds;
    outcome_.step_seconds += step.seconds;
    outcome_.data_wait_seconds += step.data_wait_seconds;
    outcome_.comm_exposed_seconds += step.comm_exposed_seconds.value_or(0.0);
    outcome_.images += step.images;
    for (Observer* observer : log_->all()) observer->on_step(step);
    links_.look(step, log_->all());
    if (state_.step % kStepsToWeightCheck == 0) require_equal_weights(ranks_, *executable_, state_.step);
    const std::int64_t every = recipe_.train.checkpoint_steps;
    if (every > 0 && state_.step % every == 0 && state_.step_in_epoch < state_.updates_per_epoch) write_resume_file();
  }
  // Batches that fill no whole update.
  while (loader_->position().epoch == state_.epoch) {
    const auto batch = loader_->next();
    if (!batch) break;
    loader_->release(batch->slot);
  }
  return true;
}

void Trainer::validate(EpochRecord& record, PredictResult& result, eval::EvalTable& table) {
  const TimedScope scope(timeline(), "validation");
  const auto start = Clock::now();
  dist::reach({.name = "validation"}, state_.step - 1);
  if (ema_) {
    load_weights(ema_->weights(), *validator_, "train.ema", Strictness::Strict);
  } else {
    engine::copy_parameters(*executable_, *validator_);
  }
  PredictOptions options{.preprocess = recipe_.preprocess, .loss = recipe_.loss.name};
  options.workers = decode_workers(recipe_.train);
  options.most_readers = memory_.readers;
  options.cores = train_cores(recipe_.train).input;
  options.cache = cache_.get();
  options.on_progress = [&](std::int64_t done) {
    for (Observer* observer : log_->all()) {
      observer->on_validation(done, static_cast<std::int64_t>(validation_.size()));
    }
  };
  result = predict(ranks_, *validator_, job_.dataset, validation_, options);
  if (ranks_.is_first()) table = eval::evaluate(result.predictions, {.replicates = 0});
  set_figures(record, ranks_, result, table);
  record.val_seconds = seconds_since(start);
}

void Trainer::keep_weights(double score, std::string_view metric, double value) {
  const TimedScope scope(timeline(), "checkpoint of best");
  CheckpointInfo info = info_;
  info.step = state_.step;
  info.epoch = state_.epoch + 1;
  info.metric = metric;
  info.metric_value = value;
  const bool is_best = !state_.has_best || score > state_.best_score;
  const std::int64_t limit = recipe_.train.keep_best;
  const std::string file = RunFolder::epoch_file(state_.epoch + 1);
  const std::vector<std::string> dropped = keep_best(state_.kept_best, file, score, limit);
  const bool is_kept = limit > 1 && std::find(dropped.begin(), dropped.end(), file) == dropped.end();
  if (!is_best && !is_kept) return;
  average_statistics();
  info.training_pixels = united(ranks_, pixels_->list(), {.name = "images trained on"});
  if (!ranks_.is_first()) return;
  const std::vector<NamedTensor> weights = weights_to_keep();
  const auto metadata = to_metadata(info);
  if (is_kept) write_weights(job_.folder.checkpoints() / file, weights, state_.step, metadata);
  if (is_best) write_weights(job_.folder.best(), weights, state_.step, metadata);
  for (const std::string& name : dropped) std::filesystem::remove(job_.folder.checkpoints() / name);
}

void Trainer::finish_epoch(EpochRecord& record) {
  record.epoch = state_.epoch;
  record.step = state_.step;
  record.train_loss = state_.loss_sum / static_cast<double>(state_.updates_per_epoch);
  record.bad_images = std::ssize(unite_bad_images(ranks_, *loader_));
  outcome_.train_loss = record.train_loss;
  PredictResult result;
  eval::EvalTable table;
  if (validator_) {
    average_statistics();
    write_resume_file();  // an image that cannot be read ends the run, not the epoch's work
    validate(record, result, table);
  }
  const bool by_auroc = validator_ && recipe_.train.select == "auroc";
  const double loss = record.val_loss.value_or(record.train_loss);
  const double value = by_auroc ? record.val_auroc.value() : loss;
  const double score = by_auroc ? value : -value;
  record.is_best = !state_.has_best || score > state_.best_score;
  keep_weights(score, by_auroc ? "auroc" : "loss", value);
  if (record.is_best) {
    if (validator_ && ranks_.is_first()) {
      io::write_file_atomically(job_.folder.predictions(), predictions_csv(result.predictions));
      io::write_file_atomically(job_.folder.aurocs(), aurocs_csv(table));
    }
    state_.best_score = score;
    state_.has_best = true;
    state_.best_epoch = state_.epoch;
    state_.epochs_without_improvement = 0;
  } else {
    ++state_.epochs_without_improvement;
  }
  schedule_->observe(loss);
  record.rss_bytes = static_cast<std::int64_t>(runtime::resident_memory_bytes());
  for (Observer* observer : log_->all()) observer->on_epoch(record);
  ++state_.epoch;
  state_.step_in_epoch = 0;
  state_.legs = {new_leg()};
  state_.loss_sum = 0.0;
}

void Trainer::write_resume_file(bool is_stop) {
  if (saved_step_ == state_.step && saved_epoch_ == state_.epoch) return;
  dist::reach({.name = "checkpoint"}, state_.step - 1);
  const TimedScope scope(timeline(), "checkpoint");
  RunMemory memory = this->memory();
  if (is_stop && averaged_step_ != state_.step) {
    memory.rank_statistics = gather_statistics(ranks_, *executable_, ema());
  }
  average_statistics();
  state_.schedule = schedule_->state();
  state_.bad_samples = unite_bad_images(ranks_, *loader_);
  CheckpointInfo info = info_;
  info.training_pixels = united(ranks_, pixels_->list(), {.name = "images trained on"});
  info.step = state_.step;
  info.epoch = state_.epoch;
  if (ranks_.is_first()) {
    if (saved_step_ >= 0 && saved_step_ != state_.step)
      rotate_resume(job_.folder, saved_step_, recipe_.train.keep_last);
    write_resume(job_.folder.resume(), memory, info, state_);
  }
  saved_step_ = state_.step;
  saved_epoch_ = state_.epoch;
}

void Trainer::average_statistics() {
  if (averaged_step_ == state_.step) return;
  train::average_statistics(ranks_, *executable_, ema());
  averaged_step_ = state_.step;
}

TrainOutcome Trainer::run() {
  const auto is_over = [&] {
    const std::int64_t patience = recipe_.train.early_stop;
    return state_.epoch >= recipe_.train.epochs || (patience > 0 && state_.epochs_without_improvement >= patience);
  };
  while (!is_over()) {
    EpochRecord record;
    if (!run_epoch(record)) break;
    finish_epoch(record);
    state_.is_finished = is_over();
    write_resume_file();
  }
  write_resume_file(/*is_stop=*/true);
  if (tracer_) tracer_->write(job_.folder.trace());
  static_cast<void>(ranks_.gather("", {.name = "end of the run"}));  // launchers end all when one ends
  for (Observer* observer : log_->all()) observer->on_end();
  outcome_.is_finished = is_over();
  outcome_.step = state_.step;
  outcome_.epochs = state_.epoch;
  outcome_.best_epoch = state_.best_epoch;
  const bool by_auroc = validator_ && recipe_.train.select == "auroc";
  if (validator_ && state_.has_best) outcome_.best_value = by_auroc ? state_.best_score : -state_.best_score;
  return outcome_;
}

}  // namespace

TrainOutcome train(const TrainJob& job) {
  check_job(job);
  try {
    return Trainer(job).run();
  } catch (...) {
    for (Observer* observer : job.observers) observer->on_end();
    throw;
  }
}

}  // namespace roentgen::train
