// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/e2e/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "io/json.h"
#include "io/safetensors.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

// Network of a convolution, batch norm, pooling and a linear layer; a step takes a millisecond.
constexpr std::string_view kNet = R"(graph "tiny"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
conv2 = conv2d(relu1, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm2 = batch_norm(conv2)
relu2 = relu(norm2)
pool = global_avg_pool(relu2)
flat = flatten(pool)
drop = dropout(flat, p=0.1)
fc = linear(drop, out=K)
output logits = fc
)";

constexpr std::string_view kRecipe = R"([preprocess]
size = 32
[augment]
rotate = 5
[train]
epochs = 4
batch = 16
[optimizer]
lr = 0.01
[schedule]
warmup_epochs = 1
)";

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

void redirect(const fs::path& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
}

std::int64_t lines_of(const fs::path& path) {
  if (!fs::exists(path)) return 0;
  const std::string text = read_all(path);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

Process::Process(std::vector<std::string> arguments, const fs::path& folder, const std::vector<std::string>& starter,
                 const std::string& program) {
  static int started = 0;  // gives each run in a folder its own output files
  const std::string number = std::to_string(++started);
  out_ = folder / ("stdout" + number + ".txt");
  err_ = folder / ("stderr" + number + ".txt");
  arguments.insert(arguments.begin(), program.empty() ? RG_PROGRAM : program);
  arguments.insert(arguments.begin(), starter.begin(), starter.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) {
    ended_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U));
    return;
  }
  redirect(out_, STDOUT_FILENO);
  redirect(err_, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

Process::~Process() {
  if (!is_over_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (ended_ >= 0) ::close(ended_);
}

void Process::signal(int number) const { ::kill(pid_, number); }

Ended Process::wait() {
  if (!is_over_) ::waitpid(pid_, &status_, 0);
  is_over_ = true;
  return {.code = exit_code(status_), .out = read_all(out_), .err = read_all(err_)};
}

bool Process::is_running() {
  if (!is_over_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) is_over_ = true;
  return !is_over_;
}

void Process::pause(std::chrono::milliseconds limit, int descriptor) const {
  std::array<pollfd, 2> looks{pollfd{.fd = ended_, .events = POLLIN, .revents = 0},
                              pollfd{.fd = descriptor, .events = POLLIN, .revents = 0}};
  ::poll(looks.data(), looks.size(), static_cast<int>(limit.count()));
}

bool Process::wait_until(const std::function<bool()>& is_reached, std::chrono::milliseconds interval) {
  while (!is_reached()) {
    if (!is_running()) return is_reached();
    pause(interval);
  }
  return true;
}

bool Process::wait_for_lines(const fs::path& path, std::int64_t lines) {
  return wait_until([&] { return lines_of(path) >= lines; });
}

fs::path Workplace::write(std::string_view name, std::string_view text) const {
  const fs::path path = root() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Ended Workplace::run(const std::vector<std::string>& arguments) const { return Process(arguments, root()).wait(); }

Ended Workplace::must_run(const std::vector<std::string>& arguments) const {
  Ended result = run(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result;
}

fs::path Workplace::synth(std::string_view name, int images) const {
  const fs::path path = root() / name;
  must_run(
      {"synth", path.string(), "--images", std::to_string(images), "--size", std::to_string(kImagePx), "--seed", "3"});
  return path;
}

std::vector<std::string> Workplace::train_arguments(const fs::path& data, std::string_view run) const {
  return {"train",
          "--recipe",
          write("recipe.toml", kRecipe).string(),
          "--data",
          data,
          "--out",
          (root() / run).string(),
          "--model",
          write("net.txt", kNet).string()};
}

fs::path real_data() {
  if (const char* set = std::getenv("ROENTGEN_TEST_DATA")) return set;
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return (source != nullptr ? fs::path(source) : fs::current_path()) / "../shared/data";
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Value read_json(const fs::path& path) {
  auto parsed = io::parse_json(read_all(path), path.string());
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error());
  return parsed.ok() ? std::move(parsed).value() : Value::table();
}

std::vector<std::string> plus(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

void expect_refusal(const Ended& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  expect_stop(run, parts);
}

void expect_stop(const Ended& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.code, 2) << run.err;
  static const std::regex kLog("([0-9]{2}:[0-9]{2}:[0-9]{2} (info|warning):|epoch +[0-9]+ ).*");
  static const std::regex kContent(R"(\[[a-z]+\.[a-z_0-9]+\] [^ ].*: expected .+, got .+; try .+)");
  static const std::regex kOptionOrFile(R"(\[(cli\.arguments|io\.file|data\.source)\] [^ ].*: [^;]+(; .+)?)");
  static const std::regex kRoom(R"(\[[a-z]+\.[a-z_0-9]+\] )");
  std::vector<std::string> errors;
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, kLog)) continue;  // also after the error, from other ranks
    errors.push_back(line);
  }
  ASSERT_EQ(errors.size(), 1U) << "an error is one line: " << run.err;
  const std::string& error = errors.front();
  EXPECT_TRUE(std::regex_match(error, kContent) || std::regex_match(error, kOptionOrFile))
      << "not \"[room.thing] what: expected X, got Y; try Z\", nor a short form: " << error;
  EXPECT_EQ(std::distance(std::sregex_iterator(error.begin(), error.end(), kRoom), std::sregex_iterator()), 1)
      << "an error inside an error: " << error;
  for (const std::string& part : parts) {
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
  }
}

void expect_equal_tensors(const fs::path& left, const fs::path& right) {
  const auto a = io::SafetensorsReader::open(left).or_throw();
  const auto b = io::SafetensorsReader::open(right).or_throw();
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (const io::TensorInfo& tensor : a.tensors()) {
    const io::TensorInfo* other = b.find(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(a.bytes(tensor), b.bytes(*other))) << tensor.name;
  }
}

void expect_nothing_half_written(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << entry.path();
    if (entry.path().extension() != ".safetensors") continue;
    const auto reader = io::SafetensorsReader::open(entry.path());
    EXPECT_TRUE(reader.ok()) << (reader.ok() ? "" : reader.error());
  }
}

}  // namespace roentgen::e2e
