// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that bad input gives exit code 2, one line, and no partial output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "io/safetensors.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

// Bytes of a 16x16 gray JPEG.
constexpr std::string_view kJpeg =
    "\xff\xd8\xff\xe0\x00\x10\x4a\x46\x49\x46\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb\x00\x43"
    "\x00\x1b\x12\x14\x17\x14\x11\x1b\x17\x16\x17\x1e\x1c\x1b\x20\x28\x42\x2b\x28\x25\x25\x28\x51\x3a"
    "\x3d\x30\x42\x60\x55\x65\x64\x5f\x55\x5d\x5b\x6a\x78\x99\x81\x6a\x71\x90\x73\x5b\x5d\x85\xb5\x86"
    "\x90\x9e\xa3\xab\xad\xab\x67\x80\xbc\xc9\xba\xa6\xc7\x99\xa8\xab\xa4\xff\xc0\x00\x0b\x08\x00\x10"
    "\x00\x10\x01\x01\x11\x00\xff\xc4\x00\x1f\x00\x00\x01\x05\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\xff\xc4\x00\xb5\x10\x00\x02\x01\x03"
    "\x03\x02\x04\x03\x05\x05\x04\x04\x00\x00\x01\x7d\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06"
    "\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72"
    "\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\x36\x37\x38\x39\x3a\x43\x44\x45"
    "\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75"
    "\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3"
    "\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9"
    "\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4"
    "\xf5\xf6\xf7\xf8\xf9\xfa\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\xc6\x8a\x1f\x6a\xb7\x14\x3e\xd5"
    "\x2c\x50\xfb\x55\xc8\xa1\xf6\xaf\xff\xd9"sv;

class BadInput : public testing::Test {
 protected:
  // Runs `train` on `data` with more arguments. Expects a refusal that leaves no run folder.
  void refused_train(const fs::path& data, const std::vector<std::string>& more,
                     const std::vector<std::string>& parts) {
    expect_refusal(place_.run(plus(place_.train_arguments(data, "run"), more)), parts);
    EXPECT_FALSE(fs::exists(place_ / "run")) << "nothing was trained, so nothing remains";
  }
  // Option that names the label of csv_data().
  static std::vector<std::string> finding() { return {"--set", "data.labels=finding"}; }
  // Checks images that are first read during training: like refused_train(), but a log and a quarantine list may
  // remain. No weights may remain.
  void stopped_train(const fs::path& data, const std::vector<std::string>& parts) {
    expect_stop(place_.run(plus(place_.train_arguments(data, "run"), finding())), parts);
    expect_nothing_half_written(place_ / "run");
    EXPECT_FALSE(fs::exists(place_ / "run/checkpoints/best.safetensors"));
    EXPECT_FALSE(fs::exists(place_ / "run/checkpoints/resume.safetensors"));
  }
  // Creates a csv data set of `count` image files with the given bytes.
  fs::path csv_data(int count, std::string_view bytes, std::string_view suffix) {
    std::string csv = "path,patient,split,finding\n";
    for (int i = 0; i < count; ++i) {
      const std::string name = "i" + std::to_string(i) + std::string(suffix);
      place_.write("csv/" + name, bytes);
      csv += name + ",p" + std::to_string(i) + "," + (i % 4 == 0 ? "val" : "train") + "," +
             std::to_string(i % 3 == 0 ? 1 : 0) + "\n";
    }
    place_.write("csv/labels.csv", csv);
    return place_ / "csv";
  }
  // Bytes of any PNG in a synthetic data set.
  std::string some_png() {
    const fs::path data = place_.synth("pngs", 4);
    for (const auto& entry : fs::recursive_directory_iterator(data)) {
      if (entry.path().extension() == ".png") return read_all(entry.path());
    }
    ADD_FAILURE() << "no PNG";
    return {};
  }
  // Trains one epoch and returns the path of its weights.
  fs::path checkpoint(const fs::path& data, const std::vector<std::string>& more = {}) {
    place_.must_run(plus(plus(place_.train_arguments(data, "trained"), {"--set", "train.epochs=1"}), more));
    return place_ / "trained/checkpoints/best.safetensors";
  }
  void refused_eval(const fs::path& weights, const fs::path& data, const std::vector<std::string>& parts) {
    expect_refusal(place_.run({"eval", "--checkpoint", weights, "--data", data, "--json", place_ / "eval.json"}),
                   parts);
    EXPECT_FALSE(fs::exists(place_ / "eval.json"));
  }

  Workplace place_;
};

TEST_F(BadInput, missing_files_and_folders) {
  const fs::path data = place_.synth("data", 80);
  refused_train(place_ / "nowhere", {}, {"nowhere"});
  expect_refusal(place_.run({"train", "--recipe", place_ / "none.toml", "--data", data, "--out", place_ / "run"}),
                 {"none.toml"});
  refused_train(data, {"--init", place_ / "none.safetensors", "--init-preset", "xray"}, {"none.safetensors"});
  refused_train(data, {"--model", place_ / "none.txt"}, {"none.txt"});
  refused_eval(place_ / "none.safetensors", data, {"none.safetensors"});
  EXPECT_FALSE(fs::exists(place_ / "run"));
}

TEST_F(BadInput, options_that_are_unknown_or_missing) {
  const std::string help = "; try roentgen train --help";
  expect_refusal(place_.run({"fly"}), {"roentgen: unknown command fly; try roentgen --help"});
  expect_refusal(place_.run({"trian"}), {"roentgen: unknown command trian; did you mean train?"});
  expect_refusal(place_.run({"--fly"}), {"roentgen: unknown option --fly; try roentgen --help"});
  expect_refusal(place_.run({"train", "--epochs", "3"}), {"train: unknown option --epochs" + help});
  expect_refusal(place_.run({"train", "--over"}), {"train: unknown option --over; did you mean --overwrite?"});
  expect_refusal(place_.run({"train", "fast"}), {"train: unexpected argument fast" + help});
  expect_refusal(place_.run({"train", "--out", "x"}), {"train: --recipe FILE is missing" + help});
  expect_refusal(place_.run({"train", "--data"}), {"train: --data DIR needs a value" + help});
  expect_refusal(place_.run({"eval", "--data", "x"}), {"FILE is missing; try roentgen eval --help"});
  expect_refusal(place_.run({"synth", "--images", "3"}), {"synth: DIR is missing"});
  expect_refusal(place_.run({"inspect", "--print"}), {"--model", "--data", "got neither"});
}

TEST_F(BadInput, a_command_line_without_options_shows_common_lines) {
  const Ended none = place_.run({});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, testing::AllOf(testing::HasSubstr("\n  roentgen init DIR "),
                                       testing::HasSubstr("\nroentgen --help lists all commands.\n")));
  for (const char* command : {"train", "eval", "inspect"}) {
    const Ended bare = place_.run({command});
    EXPECT_EQ(bare.code, 2);
    EXPECT_EQ(bare.out, "");
    EXPECT_EQ(std::count(bare.err.begin(), bare.err.end(), '\n'), 5) << bare.err;
    EXPECT_THAT(bare.err, testing::HasSubstr(std::string("\n  roentgen ") + command + " --")) << bare.err;
  }
}

TEST_F(BadInput, options_of_another_type_or_range) {
  expect_refusal(place_.run({"synth", place_ / "s", "--images", "many"}),
                 {"synth --images: expected a whole number, got 'many'; try roentgen synth --help"});
  expect_refusal(place_.run({"synth", place_ / "s", "--images", "3.5"}), {"a whole number, got '3.5'"});
  expect_refusal(place_.run({"synth", place_ / "s", "--label-noise", "loud"}), {"a number, got 'loud'"});
  expect_refusal(place_.run({"synth", place_ / "s", "--seed", "-1"}), {"got -1"});
  expect_refusal(place_.run({"synth", place_ / "s", "--images", "0"}), {"got 0"});
  expect_refusal(place_.run({"synth", place_ / "s", "--threads", "100000"}),
                 {"the cores that this process may use, got 100000"});
  expect_refusal(place_.run({"train", "--stop-after", "-1"}), {"train --stop-after: expected a whole number of at"});
  for (const char* option : {"--workers", "--threads", "--replicates", "--seed"}) {
    expect_refusal(place_.run({"eval", option, "-3"}), {std::string("eval ") + option, "got -3; try roentgen eval"});
  }
  expect_refusal(place_.run({"eval", "--batch", "0"}), {"from 1 to 65536, got 0"});
  expect_refusal(place_.run({"schedule", "--steps-per-epoch", "-1"}), {"from 1 to 1000000000, got -1"});
  expect_refusal(place_.run({"bench", "nothing"}), {"[bench.case]", "data.decode_png", "got nothing"});
  expect_refusal(place_.run({"inspect", "--model", "resnet19"}), {"resnet18", "got 'resnet19'"});
  expect_refusal(place_.run({"inspect", "--model", "resnet18", "--image", "8"}), {"at least 32 px, got 8"});
  expect_refusal(place_.run({"eval", "--checkpoint", "c", "--data", "d", "--split", "tset"}),
                 {"expected one of train, val, test, none, got tset"});
  EXPECT_FALSE(fs::exists(place_ / "s"));
}

TEST_F(BadInput, empty_csv) {
  const fs::path data = csv_data(8, kJpeg, ".jpg");
  place_.write("csv/labels.csv", "");
  expect_stop(place_.run(plus(place_.train_arguments(data, "run"), finding())), {"labels.csv"});
  place_.write("csv/labels.csv", "path,finding\n");
  refused_train(data, finding(), {"labels.csv", "only a header"});
}

TEST_F(BadInput, csv_naming_absent_images) {
  const fs::path data = csv_data(8, kJpeg, ".jpg");
  fs::remove(data / "i3.jpg");
  refused_train(data, finding(), {"i3.jpg"});
  for (int i = 0; i < 8; ++i) fs::remove(data / ("i" + std::to_string(i) + ".jpg"));
  refused_train(data, plus(finding(), {"data.absent=skip"}), {"8 of 8 missing"});
}

TEST_F(BadInput, a_folder_where_an_image_is_due) {
  const fs::path data = csv_data(8, kJpeg, ".jpg");
  fs::remove(data / "i3.jpg");
  fs::create_directories(data / "i3.jpg");
  refused_train(data, finding(), {"labels.csv line 5", "i3.jpg: expected an image file, got a folder"});
  const fs::path nih = place_.synth("nih", 20);
  fs::path image;
  for (const auto& entry : fs::recursive_directory_iterator(nih)) {
    if (entry.path().extension() == ".png") image = entry.path();
  }
  fs::remove(image);
  fs::create_directories(image);
  refused_train(nih, {}, {image.filename().string() + ": expected an image file, got a folder"});
}

TEST_F(BadInput, unknown_label) {
  refused_train(place_.synth("data", 80), {"--set", "data.labels=Pneumonai"}, {"Pneumonai"});
}

TEST_F(BadInput, truncated_png_in_training_and_evaluation) {
  const std::string png = some_png();
  const fs::path data = csv_data(64, png, ".png");
  const fs::path weights = checkpoint(data, finding());
  place_.write("csv/i4.png", png.substr(0, png.size() / 2));
  place_.write("csv/i5.png", png.substr(0, png.size() / 2));
  stopped_train(data, {"i5.png"});
  expect_refusal(place_.run({"eval", "--checkpoint", weights, "--data", data, "--split", "val"}),
                 {"[data.png]", "i4.png", "evaluation reads every image"});
}

TEST_F(BadInput, truncated_jpeg_in_training_and_evaluation) {
  const fs::path data = csv_data(64, kJpeg, ".jpg");
  const fs::path weights = checkpoint(data, finding());
  place_.write("csv/i4.jpg", kJpeg.substr(0, kJpeg.size() - 40));
  place_.write("csv/i5.jpg", kJpeg.substr(0, kJpeg.size() - 40));
  stopped_train(data, {"i5.jpg"});
  expect_refusal(place_.run({"eval", "--checkpoint", weights, "--data", data, "--split", "val"}), {"i4.jpg"});
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

TEST_F(BadInput, a_header_of_100000_by_100000) {
  std::string png = some_png();
  const fs::path data = csv_data(64, png, ".png");
  constexpr std::size_t kWidth = 16;
  constexpr std::size_t kType = 12;
  constexpr std::size_t kCrc = 29;
  png.replace(kWidth, 8, big_endian(100'000) + big_endian(100'000));
  png.replace(kCrc, 4, big_endian(crc32(std::string_view(png).substr(kType, kCrc - kType))));
  place_.write("csv/i5.png", png);
  stopped_train(data, {"i5.png", "100000"});
}

TEST_F(BadInput, a_folder_where_a_file_is_due) {
  const fs::path data = place_.synth("data", 80);
  fs::create_directories(place_ / "folder");
  expect_refusal(place_.run({"train", "--recipe", place_ / "folder", "--data", data, "--out", place_ / "run"}),
                 {"folder"});
  refused_train(data, {"--model", place_ / "folder"}, {"folder"});
  refused_train(data, {"--init", place_ / "folder", "--init-preset", "xray"}, {"folder"});
  refused_eval(place_ / "folder", data, {"folder"});
  const fs::path csv = csv_data(8, kJpeg, ".jpg");
  fs::remove(csv / "labels.csv");
  fs::create_directories(csv / "labels.csv");
  expect_stop(place_.run(plus(place_.train_arguments(csv, "run"), finding())), {"labels.csv"});
}

TEST_F(BadInput, a_file_where_a_folder_is_due) {
  const fs::path data = place_.synth("data", 80);
  place_.write("file", "x");
  expect_refusal(place_.run(place_.train_arguments(data, "file")),
                 {"expected a folder that can be created, got a file: "});
  expect_refusal(place_.run(place_.train_arguments(data, "file/run")), {"file/run: expected", "got a file: "});
  EXPECT_EQ(read_all(place_ / "file"), "x");
  expect_refusal(place_.run(place_.train_arguments(place_ / "file", "run")), {"file"});
  EXPECT_FALSE(fs::exists(place_ / "run"));
}

// Rewrites a checkpoint with changed tensors.
void edit(const fs::path& path, const std::function<void(std::vector<io::TensorToWrite>&)>& change) {
  const auto reader = io::SafetensorsReader::open(path).or_throw();
  std::vector<io::TensorToWrite> tensors;
  for (const io::TensorInfo& info : reader.tensors()) {
    tensors.push_back({.name = info.name, .dtype = info.dtype, .shape = info.shape, .bytes = reader.bytes(info)});
  }
  change(tensors);
  const auto metadata = reader.metadata();
  io::write_safetensors(path.string() + ".new", tensors, metadata);
  fs::rename(path.string() + ".new", path);
}

TEST_F(BadInput, a_checkpoint_with_a_missing_extra_or_misshapen_tensor) {
  const fs::path data = place_.synth("data", 80);
  const fs::path good = checkpoint(data);
  const fs::path bad = place_ / "bad.safetensors";
  const std::array<float, 3> values{};
  const auto try_with = [&](const std::function<void(std::vector<io::TensorToWrite>&)>& change,
                            const std::vector<std::string>& parts) {
    fs::copy_file(good, bad, fs::copy_options::overwrite_existing);
    edit(bad, change);
    refused_eval(bad, data, parts);
    expect_refusal(place_.run(plus(place_.train_arguments(data, "run"), {"--init", bad})), parts);
    EXPECT_FALSE(fs::exists(place_ / "run"));
    place_.must_run({"eval", "--checkpoint", bad, "--data", data, "--partial"});
  };
  try_with([](auto& tensors) { std::erase_if(tensors, [](const auto& t) { return t.name == "conv2.weight"; }); },
           {"bad.safetensors", "1 missing (conv2.weight)", "--partial"});
  try_with(
      [&](auto& tensors) {
        tensors.push_back(
            {.name = "extra", .dtype = DType::F32, .shape = Shape{3}, .bytes = std::as_bytes(std::span(values))});
      },
      {"bad.safetensors", "1 unexpected (extra)"});
  try_with(
      [&](auto& tensors) {
        for (auto& t : tensors) {
          if (t.name != "norm1.weight") continue;
          t.shape = Shape{3};
          t.bytes = std::as_bytes(std::span(values));
        }
      },
      {"bad.safetensors", "norm1.weight: (3), not (16)"});
}

TEST_F(BadInput, a_checkpoint_cut_short) {
  const fs::path data = place_.synth("data", 80);
  const fs::path good = checkpoint(data);
  const std::string whole = read_all(good);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{200}, whole.size() / 2, whole.size() - 1}) {
    refused_eval(place_.write("cut.safetensors", whole.substr(0, size)), data, {"cut.safetensors"});
  }
  const fs::path resume = place_ / "trained/checkpoints/resume.safetensors";
  fs::resize_file(resume, fs::file_size(resume) - 1);
  const std::string weights = read_all(good);
  expect_refusal(place_.run(plus(place_.train_arguments(data, "trained"), {"--resume", "--set", "train.epochs=2"})),
                 {"resume.safetensors"});
  EXPECT_TRUE(read_all(good) == weights) << "a refused resume changes nothing";
}

TEST_F(BadInput, a_recipe_with_an_unknown_key_or_value) {
  const fs::path data = place_.synth("data", 80);
  refused_train(data, {"--set", "train.epoch=3"}, {"train.epoch", "try train.epochs"});
  refused_train(data, {"--set", "optimizer.name=adagrad"}, {"optimizer.name", "sgd, adam, adamw, lars, rmsprop"});
  expect_refusal(
      place_.run({"schedule", "--set", "schedule.name=cosin"}),
      {"schedule.name: expected one of constant, multistep, cosine", "got \"cosin\"; try --set schedule.name=cosine"});
  refused_train(data, {"--set", "train.epochs=soon"}, {"train.epochs", "whole number"});
  refused_train(data, {"--set", "train.epochs=-1"}, {"train.epochs", "1 to", "got -1"});
  refused_train(data, {"--set", "train.epochs.x=1"}, {"--set train.epochs.x"});
  refused_train(data, {"--set", "preprocess.fit=stretch"}, {"stretch"});
  refused_train(data, {"--set", "preprocess.fit=3"}, {"fit: expected a text"});
  refused_train(data, {"--set", "preprocess.mean=dark"}, {"mean: expected a number"});
  refused_train(data, {"--set", "augment.rotate=far"}, {"rotate: expected 0 to 180"});
  refused_train(data, {"--set", "data.split=tset"}, {"data.split: expected one of auto", "got tset"});
  const auto broken = place_.write("broken.toml", "[train]\nepochs = 3\nbatch 16\n");
  expect_refusal(place_.run({"train", "--recipe", broken, "--data", data, "--out", place_ / "run"}),
                 {"broken.toml", "3"});
  EXPECT_FALSE(fs::exists(place_ / "run"));
}

TEST_F(BadInput, a_graph_text_with_an_error_on_line_7) {
  const auto net = place_.write("bad_net.txt",
                                "graph \"bad\"\ninput image (N, C, S, S)\n"
                                "conv1 = conv2d(image, out=8, kernel=3x3, pad=1x1)\nrelu1 = relu(conv1)\n"
                                "pool = global_avg_pool(relu1)\nflat = flatten(pool)\nfc = linaer(flat, out=K)\n"
                                "output logits = fc\n");
  refused_train(place_.synth("data", 80), {"--model", net}, {"bad_net.txt", "7", "linaer"});
  expect_refusal(place_.run({"inspect", "--model", net}), {"bad_net.txt", "7"});
}

TEST_F(BadInput, a_run_folder_inside_the_data) {
  const fs::path data = place_.synth("inside", 4);
  expect_refusal(place_.run(place_.train_arguments(data, "inside/run")), {"[io.place]", "outside the data folder"});
  EXPECT_FALSE(fs::exists(data / "run"));
}

TEST_F(BadInput, a_run_folder_in_use) {
  const fs::path data = place_.synth("data", 80);
  const fs::path weights = checkpoint(data);
  const std::string before = read_all(weights);
  expect_refusal(place_.run(place_.train_arguments(data, "trained")), {"trained", "--resume"});
  EXPECT_TRUE(read_all(weights) == before);
}

// A file system of 300 KB soon has no room for both the resume file of the small network and its best weights.
TEST_F(BadInput, disk_full_while_writing_a_checkpoint) {
  const fs::path data = place_.synth("data", 80);
  const fs::path disk = place_ / "disk";
  fs::create_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=300k") != 0) {
    GTEST_SKIP() << "CANNOT MOUNT A TMPFS (" << std::strerror(errno) << "): DISK FULL IS NOT TESTED";
  }
  const Ended run = place_.run(
      plus(place_.train_arguments(data, "disk/run"),
           {"--set", "train.keep_best=1000", "train.keep_last=1000", "train.epochs=200", "train.checkpoint_steps=1"}));
  expect_nothing_half_written(disk);
  EXPECT_TRUE(fs::exists(disk / "run/checkpoints/resume.safetensors")) << "the last whole one is kept";
  ::umount2(disk.c_str(), MNT_DETACH);
  expect_stop(run, {"No space left on device", "freeing space"});
}

}  // namespace
}  // namespace roentgen::e2e
