// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/timeline.h"
#include "data/source/dataset.h"
#include "dist/launch_board.h"
#include "engine/engine.h"
#include "eval/table.h"
#include "eval/top_k.h"
#include "io/file.h"
#include "runtime/memory.h"
#include "train/aurocs_csv.h"
#include "train/bad_images.h"
#include "train/bucket_tuner.h"
#include "train/checkpoint_place.h"
#include "train/device_watch.h"
#include "train/link_watch.h"
#include "train/observer.h"
#include "train/optimizer/optimizer.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/schedule/schedule.h"
#include "train/servers/async_leg.h"
#include "train/servers/serve.h"
#include "train/trace.h"
#include "train/train_setup.h"

namespace roentgen::train {
namespace {

using Clock = std::chrono::steady_clock;

// Interval of weight checks, which detect faulty memory and ranks with different results. They take less than 0.1% of
// the time.
constexpr std::int64_t kStepsToWeightCheck = 100;

// Timeout of the last checkpoint copy. Schedulers usually leave more time between their signal and the end of a job.
constexpr std::chrono::seconds kCopyLimit{120};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Stores the validation results of rank 0 in the record, on all ranks. `table` is computed from `result`; only rank 0
// needs it.
void set_figures(EpochRecord& record, const Ranks& ranks, const PredictResult& result, const eval::EvalTable& table) {
  record.val_loss = result.loss;
  record.val_auroc = table.mean.value;
  record.labels_in_mean = table.labels_in_mean;
  record.labels_total = static_cast<std::int64_t>(table.labels.size());
  for (const eval::LabelResult& row : table.labels) {
    if (!row.auroc.value) record.labels_left_out.push_back(row.label);
  }
  // Different processors may round the last digit differently, but all ranks must make the same decisions, so rank 0
  // decides.
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::array figures{*record.val_loss, record.val_auroc.value_or(none)};
  ranks.share(figures, {.name = "validation figures"});
  record.val_loss = figures[0];
  record.val_auroc = std::isnan(figures[1]) ? std::nullopt : std::optional(figures[1]);
}

// Training loop, which uses the parts of a TrainSetup.
class Trainer {
 public:
  explicit Trainer(const TrainJob& job);
  TrainOutcome run();

 private:
  /// Runs updates until the epoch ends or the run must stop. Returns false if it must stop.
  bool run_epoch(EpochRecord& record);
  /// Makes one update, together with all ranks.
  void make_update(EpochRecord& record);
  /// Makes updates of an asynchronous run until the next meeting of the workers.
  void run_to_meeting(EpochRecord& record);
  void add(StepRecord& step, EpochRecord& record);
  void finish_epoch(EpochRecord& record);
  void validate(EpochRecord& record, PredictResult& result, eval::EvalTable& table);
  void keep_weights(double score, std::string_view metric, double value);
  /// @param is_stop true if the run stops: the file then also keeps the running statistics of each rank
  void write_resume_file(bool is_stop = false);
  void average_statistics();
  [[nodiscard]] Timeline* timeline() const { return setup_.tracer ? setup_.tracer->timeline() : nullptr; }
  [[nodiscard]] bool should_stop() const;

  const TrainJob& job_;
  const Recipe& recipe_;
  TrainSetup setup_;
  const Ranks& ranks_;
  RunState& state_;
  LinkWatch links_;
  DeviceWatch device_;
  BucketTuner tuner_;
  /// Writer of checkpoints, used only by rank 0.
  CheckpointPlace place_;
  /// Step and epoch of the existing resume file; -1 if there is none.
  std::int64_t saved_step_;
  std::int64_t saved_epoch_;
  /// Update after which the ranks last averaged their running statistics; -1: never.
  std::int64_t averaged_step_;
  /// Async: true if a worker or server was asked to stop.
  bool is_stop_asked_ = false;
  TrainOutcome outcome_;
};

Trainer::Trainer(const TrainJob& job)
    : job_(job),
      recipe_(job.recipe),
      setup_(make_train_setup(job)),
      ranks_(setup_.ranks),
      state_(setup_.state),
      links_(ranks_),
      device_(job.device_monitor),
      tuner_(recipe_.train, ranks_, *setup_.executable, *setup_.stepper, state_),
      place_(job.folder, ranks_.is_first() ? job.checkpoint_dir : std::filesystem::path()),
      saved_step_(job.start == Start::Resume ? state_.step : -1),
      saved_epoch_(job.start == Start::Resume ? state_.epoch : -1),
      averaged_step_(setup_.has_averaged_statistics ? state_.step : -1),
      outcome_{.planned_bytes = setup_.planned_bytes} {}

bool Trainer::should_stop() const {
  const bool is_shared = ranks_.size() > 1 || job_.servers.has_servers();
  const bool is_asked = job_.servers.is_async() ? is_stop_asked_
                        : is_shared             ? setup_.stepper->is_stop_asked()
                                                : job_.is_stop_asked && job_.is_stop_asked();
  return is_asked || (job_.stop_after_steps > 0 && state_.step >= job_.stop_after_steps);
}

bool Trainer::run_epoch(EpochRecord& record) {
  if (state_.step_in_epoch == state_.updates_per_epoch) return true;
  while (state_.step_in_epoch < state_.updates_per_epoch) {
    if (should_stop()) return false;
    if (job_.servers.is_async()) {
      run_to_meeting(record);
    } else {
      make_update(record);
    }
    const std::int64_t every = recipe_.train.checkpoint_steps;
    if (every > 0 && state_.step % every == 0 && state_.step_in_epoch < state_.updates_per_epoch) write_resume_file();
  }
  if (job_.servers.is_async()) return true;  // the worker continues with its images
  // Batches left over at the end of an epoch, too few for an update.
  while (setup_.loader->position().epoch == state_.epoch) {
    const auto batch = setup_.loader->next();
    if (!batch) break;
    setup_.loader->release(batch->slot);
  }
  return true;
}

void Trainer::add(StepRecord& step, EpochRecord& record) {
  record.train_seconds += step.seconds;
  outcome_.step_seconds += step.seconds;
  outcome_.data_wait_seconds += step.data_wait_seconds;
  outcome_.comm_exposed_seconds += step.comm_exposed_seconds.value_or(0.0);
  outcome_.images += step.images;
  step.device = device_.look();
  for (Observer* observer : setup_.observers) observer->on_step(step);
}

void Trainer::make_update(EpochRecord& record) {
  if (setup_.tracer) setup_.tracer->begin_update();
  StepRecord step = setup_.stepper->update(*setup_.loader, state_.step, setup_.schedule->lr(state_.schedule_step()));
  if (setup_.tracer) setup_.tracer->end_update();
  ++state_.step;
  ++state_.step_in_epoch;
  state_.legs.back().batches += recipe_.train.accumulate;
  step.epoch = state_.epoch;
  step.total_steps = state_.step + recipe_.train.epochs * state_.updates_per_epoch - state_.schedule_step();
  if (setup_.ema) setup_.ema->update(state_.step);
  state_.loss_sum += step.loss;
  add(step, record);
  tuner_.look(step);
  links_.look(step, setup_.observers);
  if (state_.step % kStepsToWeightCheck != 0) return;
  setup_.stepper->settle();
  require_equal_weights(ranks_, *setup_.executable, state_.step);
}

void Trainer::run_to_meeting(EpochRecord& record) {
  AsyncLeg leg(ranks_, *setup_.stepper->servers(),
               {.step = state_.step,
                .rounds = rounds_to_meeting({.step = state_.step,
                                             .left_in_epoch = state_.updates_per_epoch - state_.step_in_epoch,
                                             .checkpoint_steps = recipe_.train.checkpoint_steps,
                                             .stop_after_steps = job_.stop_after_steps})});
  const std::int64_t total = state_.step + recipe_.train.epochs * state_.updates_per_epoch - state_.schedule_step();
  const std::int64_t first = state_.schedule_step();
  do {
    if (setup_.tracer) setup_.tracer->begin_update();
    StepRecord step =
        setup_.stepper->update(*setup_.loader, leg.gradients(), setup_.schedule->lr(first + leg.rounds_done()));
    if (setup_.tracer) setup_.tracer->end_update();
    leg.add(step.loss);
    step.step = state_.step + leg.rounds_begun();
    step.epoch = state_.epoch;
    step.total_steps = total;
    if (setup_.ema) setup_.ema->update(step.step);
    add(step, record);
  } while (!leg.is_over());
  const LegResult result = leg.meet();
  is_stop_asked_ = result.is_stop_asked;
  state_.step += result.rounds;
  state_.step_in_epoch += result.rounds;
  state_.legs.back().batches += result.rounds * recipe_.train.accumulate;
  for (Observer* observer : setup_.observers) observer->on_workers({.step = state_.step, .workers = result.workers});
  state_.loss_sum += result.loss * static_cast<double>(result.rounds);
}

void Trainer::validate(EpochRecord& record, PredictResult& result, eval::EvalTable& table) {
  const TimedScope scope(timeline(), "validation");
  const auto start = Clock::now();
  dist::reach({.name = "validation"}, state_.step - 1);
  if (setup_.ema) {
    load_weights(setup_.ema->weights(), *setup_.validator, "train.ema", Strictness::Strict);
  } else {
    engine::copy_parameters(*setup_.executable, *setup_.validator);
  }
  PredictOptions options{.preprocess = recipe_.preprocess, .loss = recipe_.loss.name};
  options.workers = decode_workers(recipe_.train);
  options.most_readers = setup_.input.readers;
  options.cores = train_cores(recipe_.train).input;
  options.cache = setup_.input.store.get();
  options.on_progress = [&](std::int64_t done) {
    for (Observer* observer : setup_.observers) {
      observer->on_validation(done, static_cast<std::int64_t>(setup_.input.validation.size()));
    }
  };
  result = predict(ranks_, *setup_.validator, job_.dataset, setup_.input.validation, options);
  if (ranks_.is_first()) table = eval::evaluate(result.predictions, {.replicates = 0});
  set_figures(record, ranks_, result, table);
  if (recipe_.loss.name == "softmax") result.predictions.outputs = eval::Outputs::Exclusive;
  if (ranks_.is_first()) record.val_top1 = eval::top_k_accuracy(result.predictions, 1);
  record.val_seconds = seconds_since(start);
}

void Trainer::keep_weights(double score, std::string_view metric, double value) {
  const TimedScope scope(timeline(), "checkpoint of best");
  CheckpointInfo info = setup_.info;
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
  info.training_pixels = setup_.pixels->list(ranks_);
  if (!ranks_.is_first()) return;
  const std::vector<NamedTensor> weights = setup_.ema ? setup_.ema->weights() : weights_of(*setup_.executable);
  const auto metadata = to_metadata(info);
  std::vector<std::filesystem::path> written;
  if (is_kept) written.push_back(job_.folder.checkpoints() / file);
  if (is_best) written.push_back(job_.folder.best());
  for (const auto& path : written) write_weights(place_.file(path), weights, state_.step, metadata);
  place_.publish(written);
  for (const std::string& name : dropped) place_.remove(job_.folder.checkpoints() / name);
}

void Trainer::finish_epoch(EpochRecord& record) {
  setup_.stepper->settle();
  record.epoch = state_.epoch;
  record.step = state_.step;
  record.train_loss = state_.loss_sum / static_cast<double>(state_.updates_per_epoch);
  record.bad_images = std::ssize(unite_bad_images(ranks_, *setup_.loader));
  outcome_.train_loss = record.train_loss;
  PredictResult result;
  eval::EvalTable table;
  if (setup_.validator) {
    average_statistics();
    write_resume_file();  // an unreadable image stops the run, but the updates of the epoch are saved
    validate(record, result, table);
  }
  const bool by_auroc = setup_.validator && recipe_.train.select == "auroc";
  const double loss = record.val_loss.value_or(record.train_loss);
  const double value = by_auroc ? record.val_auroc.value() : loss;
  const double score = by_auroc ? value : -value;
  record.is_best = !state_.has_best || score > state_.best_score;
  keep_weights(score, by_auroc ? "auroc" : "loss", value);
  if (record.is_best) {
    if (setup_.validator && ranks_.is_first()) {
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
  setup_.schedule->observe(loss);
  record.loss_scale = setup_.executable->read_loss_scale();
  record.rss_bytes = static_cast<std::int64_t>(runtime::resident_memory_bytes());
  for (Observer* observer : setup_.observers) observer->on_epoch(record);
  ++state_.epoch;
  state_.step_in_epoch = 0;
  state_.legs = {{.ranks = ranks_.size(), .batch = recipe_.train.batch}};
  state_.loss_sum = 0.0;
}

void Trainer::write_resume_file(bool is_stop) {
  if (saved_step_ == state_.step && saved_epoch_ == state_.epoch) return;
  dist::reach({.name = "checkpoint"}, state_.step - 1);
  const TimedScope scope(timeline(), "checkpoint");
  setup_.stepper->settle();
  if (ServerExchange* const servers = setup_.stepper->servers(); servers != nullptr && ranks_.is_first()) {
    servers->read_state(setup_.stepper->optimizer());
  }
  RunMemory memory{.executable = *setup_.executable, .optimizer = setup_.stepper->optimizer(), .ema = setup_.ema.get()};
  if (is_stop && averaged_step_ != state_.step) {
    memory.rank_statistics = gather_statistics(ranks_, *setup_.executable, setup_.ema.get());
  }
  average_statistics();
  state_.schedule = setup_.schedule->state();
  state_.loss_scale = setup_.executable->read_loss_scale();
  state_.bad_samples = unite_bad_images(ranks_, *setup_.loader);
  CheckpointInfo info = setup_.info;
  info.training_pixels = setup_.pixels->list(ranks_);
  info.step = state_.step;
  info.epoch = state_.epoch;
  if (ranks_.is_first()) {
    const std::filesystem::path file = place_.file(job_.folder.resume());
    if (saved_step_ >= 0 && saved_step_ != state_.step)
      rotate_resume(job_.folder, saved_step_, recipe_.train.keep_last);
    write_resume(file, memory, info, state_);
    place_.publish({job_.folder.resume()});
  }
  saved_step_ = state_.step;
  saved_epoch_ = state_.epoch;
}

void Trainer::average_statistics() {
  if (averaged_step_ == state_.step) return;
  train::average_statistics(ranks_, *setup_.executable, setup_.ema.get());
  averaged_step_ = state_.step;
}

TrainOutcome Trainer::run() {
  const auto is_over = [&] {
    const std::int64_t patience = recipe_.train.early_stop;
    return state_.epoch >= recipe_.train.epochs || (patience > 0 && state_.epochs_without_improvement >= patience);
  };
  while (!is_over()) {
    EpochRecord record;
    device_.begin();
    const bool is_whole = run_epoch(record);
    device_.end();
    if (!is_whole) break;
    finish_epoch(record);
    state_.is_finished = is_over();
    write_resume_file();
  }
  write_resume_file(/*is_stop=*/true);
  if (setup_.tracer) setup_.tracer->write(job_.folder.trace());
  static_cast<void>(ranks_.gather("", {.name = "end of the run"}));  // launchers stop all ranks when one of them ends
  if (ServerExchange* const servers = setup_.stepper->servers(); servers != nullptr) servers->end();
  place_.finish(kCopyLimit);
  tuner_.finish();
  for (Observer* observer : setup_.observers) observer->on_end();
  outcome_.is_finished = is_over();
  outcome_.step = state_.step;
  outcome_.epochs = state_.epoch;
  outcome_.best_epoch = state_.best_epoch;
  outcome_.loss_scale = setup_.executable->read_loss_scale();
  outcome_.device = device_.figures(outcome_.images / ranks_.size());
  const bool by_auroc = setup_.validator && recipe_.train.select == "auroc";
  if (setup_.validator && state_.has_best) outcome_.best_value = by_auroc ? state_.best_score : -state_.best_score;
  return outcome_;
}

}  // namespace

TrainOutcome train(const TrainJob& job) {
  try {
    if (divide_ranks(job)) return serve(job);
    return Trainer(job).run();
  } catch (...) {
    for (Observer* observer : job.observers) observer->on_end();
    throw;
  }
}

}  // namespace roentgen::train
