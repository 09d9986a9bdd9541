// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/file.h"
#include "train/observer.h"
#include "train/run_lock.h"

namespace roentgen::train {
namespace {

using data::message_of;
using data::TestFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t count_of(std::string_view part, std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(RunFolder, is_made_once_and_not_over_another_run) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path() / "run");
  folder.create_new();
  EXPECT_TRUE(std::filesystem::is_directory(folder.checkpoints()));
  temporary.write("run/log.jsonl", "");
  EXPECT_THAT(message_of<ConfigError>([&] { folder.create_new(); }), HasSubstr("--resume"));
}

TEST(RunFolder, is_no_folder_of_other_files) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path() / "run");
  folder.check_own();  // the folder does not exist yet
  for (const char* name : {"run/lock", "run/.gitignore"}) temporary.write(name, "");
  folder.check_own();
  temporary.write("run/scan.png", "x");
  EXPECT_THAT(message_of<ConfigError>([&] { folder.check_own(); }),
              AllOf(HasSubstr("run: expected a new or empty folder, or a run, got 1 other file or folder"),
                    testing::Not(HasSubstr("scan"))));
  temporary.write("run/log.jsonl", "");
  folder.check_own();
}

TEST(RunFolder, says_when_a_file_is_in_the_way) {
  const TestFolder temporary;
  const RunFolder folder(temporary.write("run", "a file"));
  EXPECT_THAT(message_of<DataError>([&] { folder.create_new(); }), HasSubstr("run"));
}

TEST(RunFolder, removes_its_own_files_and_no_other) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path() / "run");
  folder.create_new();
  for (const char* name : {"recipe.toml", "log.jsonl", "checkpoints/best.safetensors", "checkpoints/resume.safetensors",
                           "checkpoints/epoch-001.safetensors", "checkpoints/resume-000000009.safetensors"}) {
    temporary.write(std::string("run/") + name, "x");
  }
  make_tensorboard(folder.root(), 0)->on_step({.step = 1});
  temporary.write("run/notes.txt", "mine");
  temporary.write("run/events.out.tfevents.1.host", "mine");
  temporary.write("run/checkpoints/epoch-best.pth", "mine");
  folder.remove_run();
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.root())) {
    if (entry.is_regular_file()) left.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(left, testing::UnorderedElementsAre("notes.txt", "events.out.tfevents.1.host", "epoch-best.pth"));
}

TEST(RunFolder, removes_half_written_files_of_a_killed_run) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path() / "run");
  folder.remove_leftovers();  // the folder does not exist yet
  for (const char* name : {"run/.aucs.csv.roentgen-12-0.tmp", "run/checkpoints/.epoch-001.safetensors.roentgen-9-1.tmp",
                           "run/notes.tmp", "run/checkpoints/epoch-001.safetensors"}) {
    temporary.write(name, "x");
  }
  folder.remove_leftovers();
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.root())) {
    if (entry.is_regular_file()) left.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(left, testing::UnorderedElementsAre("notes.tmp", "epoch-001.safetensors"));
}

TEST(RunFolder, with_weights_but_no_resume_file_is_not_resumable) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path() / "my run");
  folder.check_resumable();
  temporary.write("my run/checkpoints/best.safetensors", "x");
  EXPECT_THAT(message_of<ConfigError>([&] { folder.check_resumable(); }),
              AllOf(HasSubstr("resume.safetensors"), HasSubstr("try --init '"),
                    HasSubstr("best.safetensors' and another --out"), HasSubstr("--overwrite")));
  temporary.write("my run/checkpoints/resume.safetensors", "x");
  folder.check_resumable();
}

TEST(RunLock, is_held_by_one_and_leaves_nothing) {
  const TestFolder temporary;
  {
    const RunLock lock(temporary.path());
    EXPECT_THAT(message_of<ConfigError>([&] { const RunLock second(temporary.path()); }),
                HasSubstr("no other process trains in"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  const RunLock again(temporary.path());
}

TEST(RunLock, takes_over_the_file_of_a_killed_process_and_keeps_one_of_a_user) {
  const TestFolder temporary;
  temporary.write("lock", "");
  { const RunLock lock(temporary.path()); }
  EXPECT_FALSE(std::filesystem::exists(temporary.path() / "lock"));
  temporary.write("lock", "mine");
  { const RunLock lock(temporary.path()); }
  EXPECT_EQ(io::read_text(temporary.path() / "lock").or_throw(), "mine");
}

TEST(RunLock, leaves_the_lock_of_the_process_that_replaced_the_folder) {
  const TestFolder temporary;
  auto first = std::make_unique<RunLock>(temporary.path());
  EXPECT_TRUE(first->is_named());
  std::filesystem::remove(temporary.path() / "lock");
  EXPECT_FALSE(first->is_named());
  const RunLock second(temporary.path());
  EXPECT_FALSE(first->is_named());
  first.reset();
  EXPECT_TRUE(second.is_named());
  EXPECT_THROW(const RunLock third(temporary.path()), ConfigError);
}

TEST(RunLock, says_when_there_is_no_folder) {
  const TestFolder temporary;
  EXPECT_THAT(message_of<DataError>([&] { const RunLock lock(temporary.path() / "none"); }), HasSubstr("none/lock"));
}

TEST(KeepBest, keeps_the_highest_scores_in_order) {
  KeptBest kept;
  EXPECT_THAT(keep_best(kept, "a", 0.5, 2), ElementsAre());
  EXPECT_THAT(keep_best(kept, "b", 0.7, 2), ElementsAre());
  EXPECT_THAT(keep_best(kept, "c", 0.6, 2), ElementsAre("a"));
  EXPECT_THAT(keep_best(kept, "d", 0.1, 2), ElementsAre("d"));
  EXPECT_THAT(keep_best(kept, "e", 0.7, 2), ElementsAre("c")) << "of equal scores the earlier one stays in front";
  EXPECT_EQ(kept, (KeptBest{{"b", 0.7}, {"e", 0.7}}));
}

TEST(RotateResume, keeps_the_last_ones) {
  const TestFolder temporary;
  const RunFolder folder(temporary.path());
  folder.create_new();
  for (std::int64_t step = 1; step <= 4; ++step) {
    if (step > 1) rotate_resume(folder, step - 1, 3);
    io::write_file_atomically(folder.resume(), std::to_string(step));
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.checkpoints())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("resume.safetensors", "resume-000000002.safetensors",
                                                   "resume-000000003.safetensors"));
  EXPECT_EQ(io::read_text(folder.resume()).or_throw(), "4");
  EXPECT_EQ(io::read_text(folder.checkpoints() / "resume-000000003.safetensors").or_throw(), "3");
}

TEST(JsonLog, writes_one_object_a_line_and_forgets_what_comes_after_a_resume) {
  const TestFolder temporary;
  const auto path = temporary.path() / "log.jsonl";
  {
    const auto log = make_json_log(path);
    for (std::int64_t step = 1; step <= 3; ++step) {
      log->on_step({.step = step, .loss = 0.5, .images = 32, .seconds = 2.0, .data_wait_seconds = 0.5});
    }
    log->on_epoch({.step = 3, .train_loss = 0.5, .val_auroc = 0.75});
  }
  const std::string whole = io::read_text(path).or_throw();
  EXPECT_THAT(whole, HasSubstr("\"images_per_s\":16.0,\"data_wait\":0.25}\n"));
  EXPECT_THAT(whole, HasSubstr("\"val_auroc\":0.75"));
  temporary.write("log.jsonl", whole + "{\"kind\":\"st");  // the process was killed in the middle of a line
  truncate_json_log(path, 2, 0);
  const std::string kept = io::read_text(path).or_throw();
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 2);
  EXPECT_EQ(whole.substr(0, kept.size()), kept);
}

TEST(JsonLog, drops_an_epoch_that_a_resumed_run_ends_again) {
  const TestFolder temporary;
  const auto path = temporary.path() / "log.jsonl";
  {
    const auto log = make_json_log(path);
    for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
      log->on_step({.step = epoch + 1, .epoch = epoch, .loss = 0.5});
      log->on_epoch({.epoch = epoch, .step = epoch + 1, .train_loss = 0.5});
    }
  }
  // Simulates a kill after the log line of epoch 1, before the resume file that includes the end of the epoch.
  truncate_json_log(path, 2, 1);
  const std::string kept = io::read_text(path).or_throw();
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 3);
  EXPECT_THAT(kept, testing::EndsWith("\n"));
  EXPECT_THAT(kept.substr(kept.rfind('{')), HasSubstr("\"kind\":\"step\",\"step\":2"));
  truncate_json_log(path, 2, 2);
  EXPECT_EQ(io::read_text(path).or_throw(), kept);
}

TEST(JsonLog, has_the_slow_links_of_every_test) {
  const TestFolder temporary;
  const auto path = temporary.path() / "log.jsonl";
  make_json_log(path)->on_links(
      {.step = 10, .usual_mb_per_s = 100.0, .slow = {{.from = 0, .to = 2, .gb_per_s = 0.5}}, .names = {"a to c"}});
  EXPECT_EQ(io::read_text(path).or_throw(),
            "{\"kind\":\"links\",\"step\":10,\"usual_mb_per_s\":100.0,\"slow\":[\"a to c\"],"
            "\"slow_links\":[{\"from\":0,\"to\":2,\"mb_per_s\":500.0}]}\n");
}

TEST(JsonLog, refuses_a_folder) {
  const TestFolder temporary;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(make_json_log(temporary.path())); }),
              HasSubstr("directory"));
}

TEST(TensorBoard, starts_within_one_second_have_files_of_their_own) {
  const TestFolder temporary;
  for (std::int64_t step = 0; step < 5; ++step) make_tensorboard(temporary.path(), step)->on_step({.step = step + 1});
  const auto files = std::filesystem::directory_iterator(temporary.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 5);
}

TEST(TensorBoard, events_hold_what_the_log_holds_and_no_host) {
  const TestFolder temporary;
  {
    const auto events = make_tensorboard(temporary.path(), 4);
    events->on_step({.step = 5, .loss = 0.5, .gradient_norm = 2.0});
    events->on_epoch({.step = 5, .train_loss = 0.5, .val_auroc = 0.75});
  }
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(temporary.path())) name = entry.path().filename();
  EXPECT_THAT(name, testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]+\\.[0-9]+\\.[0-9]+\\.roentgen"));
  const std::string data = io::read_text(temporary.path() / name).or_throw();
  for (const char* tag : {"brain.Event:2", "train/loss", "train/lr", "train/gradient_norm", "speed/data_wait",
                          "speed/images_per_s", "epoch/train_loss", "epoch/val_auroc"}) {
    EXPECT_THAT(data, HasSubstr(tag));
  }
  EXPECT_THAT(data, testing::Not(HasSubstr("epoch/val_loss")));
}

TEST(JsonLog, has_the_slowest_rank_where_it_is_known_and_the_gradients_of_workers) {
  const TestFolder temporary;
  const auto log = make_json_log(temporary.path() / "log.jsonl");
  log->on_step({.step = 1, .seconds = 1.0, .imbalance = 0.0});
  log->on_step({.step = 2, .seconds = 1.0, .imbalance = 0.5, .slowest_rank = 2});
  log->on_workers({.step = 2, .workers = {{.applied = 3, .dropped = 1}, {.applied = 9, .dropped = 0}}});
  const std::string text = io::read_text(temporary.path() / "log.jsonl").or_throw();
  EXPECT_EQ(count_of("slowest_rank", text), 1);
  EXPECT_THAT(text, HasSubstr("\"imbalance\":0.5,\"slowest_rank\":2"));
  EXPECT_THAT(text,
              HasSubstr("{\"kind\":\"workers\",\"step\":2,\"applied_by_worker\":[3,9],\"dropped_by_worker\":[1,0]}\n"));
}

TEST(EpochOutput, names_the_labels_that_are_not_in_the_mean) {
  const TestFolder temporary;
  const EpochRecord record{.val_auroc = 0.75, .labels_in_mean = 13, .labels_total = 14, .labels_left_out = {"Hernia"}};
  testing::internal::CaptureStderr();
  make_progress(ProgressStyle::Log)->on_epoch(record);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("(mean over 13 of 14, without Hernia)"));
  make_json_log(temporary.path() / "log.jsonl")->on_epoch(record);
  EXPECT_THAT(io::read_text(temporary.path() / "log.jsonl").or_throw(), HasSubstr("\"labels_left_out\":[\"Hernia\"]"));
}

TEST(DurationText, reads_like_a_clock) {
  EXPECT_EQ(duration_text(0.4), "0:00");
  EXPECT_EQ(duration_text(65.0), "1:05");
  EXPECT_EQ(duration_text(3723.0), "1:02:03");
}

TEST(Progress, names_what_holds_a_run_up) {
  EXPECT_EQ(bound_by(0.0, 10.0), "compute-bound");
  EXPECT_EQ(bound_by(0.4, 10.0), "compute-bound");
  EXPECT_EQ(bound_by(0.6, 10.0), "input-bound");
  EXPECT_EQ(bound_by(0.6, 10.0, 0.7), "communication-bound");
  EXPECT_EQ(bound_by(0.7, 10.0, 0.6), "input-bound");
  EXPECT_EQ(bound_by(0.4, 10.0, 0.4), "compute-bound");
  EXPECT_EQ(bound_by(0.0, 0.0), "compute-bound");
}

TEST(Progress, names_the_slow_link_while_there_is_one) {
  const StepRecord record{.step = 1, .total_steps = 2, .images = 8, .seconds = 1.0, .comm_exposed_seconds = 0.9};
  const auto line_after = [&](const LinksRecord& links) {
    testing::internal::CaptureStderr();
    const auto progress = make_progress(ProgressStyle::Line);
    progress->on_links({.names = {"host1"}});
    progress->on_links(links);
    progress->on_step(record);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(line_after({.names = {"host3"}}), HasSubstr("communication-bound, slow link: host3  left"));
  EXPECT_THAT(line_after({}), HasSubstr("communication-bound  left"));
}

// Returns the output about updates of three ranks. `slowest`: the slowest rank of each update.
std::string said_of_ranks(const std::vector<int>& slowest, double imbalance,
                          const std::optional<StalenessRecord>& staleness = std::nullopt) {
  const auto progress = make_progress(ProgressStyle::Line, {"a", "b", "c"});
  StepRecord record{.total_steps = 1000, .images = 8, .seconds = 1.0, .imbalance = imbalance, .staleness = staleness};
  testing::internal::CaptureStderr();
  for (const int rank : slowest) {
    ++record.step;
    record.slowest_rank = rank;
    progress->on_step(record);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, warns_once_of_a_slow_rank_and_names_it_in_the_line) {
  const std::string said = said_of_ranks(std::vector<int>(170, 2), 0.5);
  EXPECT_EQ(count_of("rank 2 (c) computes 50% longer per update than the mean, and all ranks wait for it;", said), 1);
  EXPECT_THAT(said, HasSubstr(" img/s  data wait 0.0%, compute-bound, slow rank: 2 (c)  left "));
}

TEST(Progress, warns_of_every_slow_rank) {
  std::vector<int> slowest(60, 2);
  slowest.insert(slowest.end(), 60, 0);
  slowest.insert(slowest.end(), 60, 2);
  const std::string said = said_of_ranks(slowest, 0.5);
  EXPECT_EQ(count_of("rank 2 (c) computes", said), 1);
  EXPECT_EQ(count_of("rank 0 (a) computes", said), 1);
  EXPECT_THAT(said, HasSubstr(", slow rank: 0 (a)  left "));
}

TEST(Progress, names_a_slow_worker_for_which_no_rank_waits) {
  const std::string said = said_of_ranks(std::vector<int>(60, 1), 0.5, StalenessRecord{.applied = 8});
  EXPECT_THAT(said, HasSubstr("rank 1 (b) computes 50% longer per update than the mean, and delivers fewer gradients"));
  EXPECT_THAT(said, HasSubstr(", 0 dropped, slow rank: 1 (b)  left "));
}

TEST(Progress, names_no_rank_that_is_slow_for_a_short_time_or_by_little) {
  const std::vector<int> short_time(49, 2);
  std::vector<int> in_turns;
  for (int i = 0; i < 170; ++i) in_turns.push_back(i % 3);
  for (const std::string& said :
       {said_of_ranks(short_time, 0.5), said_of_ranks(in_turns, 0.5), said_of_ranks(std::vector<int>(170, 2), 0.2)}) {
    EXPECT_THAT(said, HasSubstr("epoch 1 step 1/1000"));
    EXPECT_THAT(said, testing::Not(HasSubstr("rank")));
  }
}

// Returns the progress line that is printed for a step.
std::string progress_line(const StepRecord& record) {
  const auto progress = make_progress(ProgressStyle::Line);
  testing::internal::CaptureStderr();
  progress->on_step(record);
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, shows_waiting_and_its_verdict_and_communication_only_where_it_was_measured) {
  StepRecord record{.step = 3, .total_steps = 9, .images = 20, .seconds = 2.0, .data_wait_seconds = 0.5};
  EXPECT_THAT(progress_line(record), HasSubstr("10.0 img/s  data wait 25.0%, input-bound  left 0:12"));
  record.comm_exposed_seconds = 0.6;
  EXPECT_THAT(progress_line(record), HasSubstr("data wait 25.0%, comm exposed 30.0%, communication-bound"));
  record.data_wait_seconds = record.comm_exposed_seconds.emplace(0.0);
  EXPECT_THAT(progress_line(record), HasSubstr("data wait 0.0%, comm exposed 0.0%, compute-bound"));
  record.staleness = {.applied = 8, .dropped = 2, .mean = 1.5, .max = 4};
  EXPECT_THAT(progress_line(record), HasSubstr("compute-bound, staleness 1.5 (at most 4), 2 dropped  left 0:12"));
}

}  // namespace
}  // namespace roentgen::train
