// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/checkpoint_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "io/file.h"
#include "train/run_id.h"
#include "train/trainer_testing.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;
using data::message_of;
using testing::HasSubstr;

// Fixture with a run folder and a local checkpoint folder.
class CheckpointPlaceTest : public testing::Test {
 protected:
  CheckpointPlaceTest() { run_.create_new(); }
  void write(CheckpointPlace& place, const fs::path& path, std::string_view text) const {
    io::write_file_atomically(place.file(path), text);
    place.publish({path});
  }
  data::TestFolder folder_;
  RunFolder run_{folder_.path() / "run"};
  fs::path dir_ = folder_.path() / "local";
};

TEST_F(CheckpointPlaceTest, copies_whole_files_and_leaves_nothing_behind) {
  const std::string text(20'000'000, 'x');
  CheckpointPlace place(run_, dir_);
  EXPECT_NE(place.file(run_.resume()), run_.resume());
  write(place, run_.best(), "weights");
  write(place, run_.resume(), text);
  place.finish(std::chrono::minutes(1));
  EXPECT_EQ(io::read_text(run_.best()).or_throw(), "weights");
  EXPECT_EQ(io::read_text(run_.resume()).or_throw(), text);
  EXPECT_FALSE(fs::exists(local_checkpoints(run_, dir_)));
}

TEST_F(CheckpointPlaceTest, is_the_run_folder_without_another) {
  CheckpointPlace place(run_, "");
  EXPECT_EQ(place.file(run_.resume()), run_.resume());
  io::write_file_atomically(place.file(run_.resume()), "here");
  place.publish({run_.resume()});
  place.finish(std::chrono::milliseconds(0));
  EXPECT_EQ(io::read_text(run_.resume()).or_throw(), "here");
}

TEST_F(CheckpointPlaceTest, keeps_the_earlier_file_until_the_copy_is_whole) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  CheckpointPlace place(run_, dir_, [&](const fs::path& from, const fs::path& to, const std::atomic<bool>& stop) {
    gone.wait();
    copy_checkpoint(from, to, stop);
  });
  io::write_file_atomically(run_.resume(), "old");
  write(place, run_.resume(), "new");
  EXPECT_EQ(io::read_text(run_.resume()).or_throw(), "old");
  go.set_value();
  static_cast<void>(place.file(run_.resume()));  // waits for the copy
  EXPECT_EQ(io::read_text(run_.resume()).or_throw(), "new");
}

TEST_F(CheckpointPlaceTest, gives_up_after_the_limit_and_keeps_the_local_file) {
  CheckpointPlace place(run_, dir_, [](const fs::path& from, const fs::path& to, const std::atomic<bool>& stop) {
    while (!stop) std::this_thread::yield();
    copy_checkpoint(from, to, stop);
  });
  write(place, run_.resume(), "new");
  EXPECT_THAT(message_of<DataError>([&] { place.finish(std::chrono::milliseconds(1)); }),
              AllOf(HasSubstr("expected a copy of the last checkpoint within 1 ms"), HasSubstr("--checkpoint-dir")));
  EXPECT_FALSE(fs::exists(run_.resume()));
  EXPECT_TRUE(fs::exists(local_checkpoints(run_, dir_) / "resume.safetensors"));
}

TEST_F(CheckpointPlaceTest, hands_on_a_copy_that_failed) {
  CheckpointPlace place(run_, dir_);
  fs::remove_all(run_.checkpoints());
  folder_.write("run/checkpoints", "a file in the way");
  write(place, run_.resume(), "new");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(place.file(run_.resume())); }),
              HasSubstr("resume.safetensors"));
  write(place, run_.resume(), "new");
  EXPECT_THAT(message_of<DataError>([&] { place.finish(std::chrono::minutes(1)); }), HasSubstr("resume.safetensors"));
  EXPECT_TRUE(fs::exists(local_checkpoints(run_, dir_) / "resume.safetensors"));
}

// Limits the size of files that this process writes while the object lives, to imitate a full disk.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(CheckpointPlaceTest, leaves_the_earlier_file_where_there_is_no_room_for_the_copy) {
  CheckpointPlace place(run_, dir_);
  io::write_file_atomically(run_.resume(), "old");
  const fs::path local = place.file(run_.resume());
  io::write_file_atomically(local, std::string(100'000, 'x'));
  {
    const FileLimit limit(50'000);
    place.publish({run_.resume()});
    const std::string text = message_of<DataError>([&] { place.finish(std::chrono::minutes(1)); });
    EXPECT_THAT(text, HasSubstr(run_.resume().string() + ": expected free space for "));
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(io::read_text(run_.resume()).or_throw(), "old");
  EXPECT_TRUE(fs::exists(local));
  EXPECT_EQ(std::distance(fs::directory_iterator(run_.checkpoints()), {}), 1) << "no half a copy";
}

TEST_F(CheckpointPlaceTest, writes_nothing_once_the_folder_has_another_run) {
  for (const fs::path& dir : {fs::path(), dir_}) {
    fs::remove(run_.environment());
    ensure_run_id(run_);
    CheckpointPlace place(run_, dir);
    static_cast<void>(place.file(run_.resume()));
    fs::remove(run_.environment());
    EXPECT_THROW(static_cast<void>(place.file(run_.resume())), DataError) << "removed";
    folder_.write("run/environment.json", "{");
    EXPECT_NO_THROW(static_cast<void>(place.file(run_.resume()))) << "cannot be read";
    fs::remove(run_.environment());
    ensure_run_id(run_);
    EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(place.file(run_.resume())); }),
                AllOf(HasSubstr("the run that this process trains"), HasSubstr("one --out per run")));
  }
}

TEST_F(CheckpointPlaceTest, removes_in_both_places) {
  CheckpointPlace place(run_, dir_);
  const fs::path old = run_.checkpoints() / "epoch-001.safetensors";
  write(place, old, "weights");
  place.remove(old);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(local_checkpoints(run_, dir_) / "epoch-001.safetensors"));
}

TEST_F(CheckpointPlaceTest, refuses_a_folder_that_cannot_be_made) {
  const fs::path file = folder_.write("a_file", "x");
  EXPECT_THAT(message_of<DataError>([&] { const CheckpointPlace place(run_, file); }), HasSubstr("--checkpoint-dir"));
}

// Fixture that trains with a local checkpoint folder, left in each state that a crash can cause.
class LocalCheckpoints : public Trainer {
 protected:
  LocalCheckpoints() { recipe_.train.checkpoint_steps = 1; }
  [[nodiscard]] RunFolder folder(const std::string& name) const { return RunFolder(out_.path() / name); }
  // Copies the checkpoints of run `from` to the local checkpoint folder of run `to`.
  void place_locally(const std::string& from, const std::string& to) const {
    const fs::path local = local_checkpoints(folder(to), dir_);
    fs::create_directories(dir_);
    fs::copy(folder(from).checkpoints(), local, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  void run_to(const std::string& name, std::int64_t step, Start start = Start::Fresh) {
    static_cast<void>(run(name, start, step));
    ensure_run_id(folder(name));
    out_.write(name + "/recipe.toml", to_toml(recipe_));
  }
  fs::path dir_ = out_.path() / "local";
};

TEST_F(LocalCheckpoints, resume_takes_the_newer_of_both_and_gives_the_same_bits) {
  run_to("whole", 0);
  for (const int behind : {2, 4, 6}) {  // in the middle of an epoch, at its end, and in the next epoch
    SCOPED_TRACE(behind);
    const std::string name = "crashed" + std::to_string(behind);
    run_to(name, behind);
    run_to("ahead", 7);
    place_locally("ahead", name);
    fs::remove_all(folder("ahead").root());
    EXPECT_EQ(newest_step(folder(name), ""), behind);
    EXPECT_EQ(newest_step(folder(name), dir_), 7);
    take_local_checkpoints(folder(name), dir_);
    EXPECT_EQ(resume_of(name).state.step, 7);
    static_cast<void>(run(name, Start::Resume));
    expect_same_end(resume_of(name), resume_of("whole"));
    EXPECT_EQ(io::read_text(folder(name).best()).or_throw(), io::read_text(folder("whole").best()).or_throw());
  }
}

TEST_F(LocalCheckpoints, resume_leaves_older_spoilt_and_foreign_files) {
  run_to("run", 6);
  run_to("old", 2);
  place_locally("old", "run");
  take_local_checkpoints(folder("run"), dir_);
  EXPECT_EQ(resume_of("run").state.step, 6);
  const fs::path local = local_checkpoints(folder("run"), dir_) / "resume.safetensors";
  const std::string whole = io::read_text(local).or_throw();
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    io::write_file_atomically(local, std::string_view(whole).substr(0, size));
    take_local_checkpoints(folder("run"), dir_);
    EXPECT_EQ(resume_of("run").state.step, 6) << size;
  }
  io::write_file_atomically(local, io::read_text(folder("run").resume()).or_throw());
  fs::remove_all(folder("run").root());
  take_local_checkpoints(folder("run"), dir_);
  EXPECT_FALSE(fs::exists(folder("run").root())) << "no run, so its leftovers count for nothing";
  remove_local_checkpoints(folder("run"), dir_);
  EXPECT_FALSE(fs::exists(local));
}

TEST_F(LocalCheckpoints, resume_leaves_newer_files_of_another_run) {
  run_to("run", 2);
  run_to("ahead", 6);
  place_locally("ahead", "run");
  const fs::path local = local_checkpoints(folder("run"), dir_);
  const std::string id = run_id(folder("run"));
  EXPECT_EQ(newest_step(folder("run"), dir_), 6);
  for (const char* text :
       {"{}", "broken", R"({"run_id": "0123456789abcdef"})", R"({"run_id": 7})", R"({"run_id": "../../etc/passwd"})"}) {
    io::write_file_atomically(folder("run").environment(), text);
    EXPECT_EQ(newest_step(folder("run"), dir_), 2) << text;
    take_local_checkpoints(folder("run"), dir_);
    EXPECT_EQ(resume_of("run").state.step, 2) << text;
  }
  io::write_file_atomically(folder("run").environment(), R"({"run_id": ")" + id + R"("})");
  take_local_checkpoints(folder("run"), dir_);
  EXPECT_EQ(resume_of("run").state.step, 6);
  fs::remove(folder("run").environment());
  remove_local_checkpoints(folder("run"), dir_);
  EXPECT_FALSE(fs::exists(local)) << "also files of earlier runs";
}

TEST_F(LocalCheckpoints, brings_the_kept_epochs_and_the_best) {
  recipe_.train.keep_best = 2;
  run_to("run", 5);
  run_to("ahead", 9);
  place_locally("ahead", "run");
  take_local_checkpoints(folder("run"), dir_);
  for (const auto& [name, score] : resume_of("run").state.kept_best) {
    EXPECT_TRUE(fs::exists(folder("run").checkpoints() / name)) << name;
  }
  EXPECT_EQ(io::read_text(folder("run").best()).or_throw(), io::read_text(folder("ahead").best()).or_throw());
}

}  // namespace
}  // namespace roentgen::train
