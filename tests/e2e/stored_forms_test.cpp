// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that one checkpoint gives the same metrics, to the last digit, for all lossless storage formats of the same
// pixels, with one thread and two. Formats: PNG as gray, RGB and RGBA, with 8 and 16 bits, plain and interlaced; DICOM
// with 8 and 16 bits, plain and inverted. (JPEG does not keep pixels.)
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "data/codec/codec.h"
#include "data/codec/codec_testing.h"
#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"
#include "io/io_testing.h"
#include "io/png_writer.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

struct Form {
  const char* name;
  int channels = 1;
  int bits = 8;
  bool is_interlaced = false;
  // "MONOCHROME1" or "MONOCHROME2".
  const char* dicom = nullptr;
};
constexpr Form kForms[] = {{.name = "gray8"},
                           {.name = "rgb8", .channels = 3},
                           {.name = "rgba8", .channels = 4},
                           {.name = "gray16", .bits = 16},
                           {.name = "rgb16", .channels = 3, .bits = 16},
                           {.name = "interlaced8", .is_interlaced = true},
                           {.name = "interlaced16", .bits = 16, .is_interlaced = true},
                           {.name = "dicom8", .dicom = "MONOCHROME2"},
                           {.name = "dicom16", .bits = 16, .dicom = "MONOCHROME2"},
                           {.name = "dicom16 inverted", .bits = 16, .dicom = "MONOCHROME1"}};

bool is_readable(const Form& form) { return form.dicom == nullptr || data::dicom_support().is_built; }

// Gray levels as samples of the format: multiplied by 257 for 16 bits, opaque if there is alpha.
std::vector<std::byte> samples_of(std::span<const std::uint8_t> gray, const Form& form) {
  std::vector<std::byte> samples;
  for (const std::uint8_t level : gray) {
    for (int channel = 0; channel < form.channels; ++channel) {
      const auto value = std::byte{channel == 3 ? std::uint8_t{255} : level};
      samples.insert(samples.end(), static_cast<std::size_t>(form.bits / 8), value);
    }
  }
  return samples;
}

std::vector<std::byte> encode_dicom(const data::Image& image, const Form& form) {
  data::TestDicom dicom{.width_px = static_cast<std::uint16_t>(image.width_px()),
                        .height_px = static_cast<std::uint16_t>(image.height_px()),
                        .bits_allocated = static_cast<std::uint16_t>(form.bits),
                        .bits_stored = static_cast<std::uint16_t>(form.bits),
                        .photometric = form.dicom,
                        .samples = {}};
  const int factor = form.bits == 8 ? 1 : 257;
  for (const std::uint8_t level : image.samples<std::uint8_t>()) {
    const int seen = dicom.photometric == "MONOCHROME1" ? 255 - level : level;
    dicom.samples.push_back(static_cast<std::uint16_t>(factor * seen));
  }
  return data::as_bytes(data::encode_test_dicom(dicom));
}

std::vector<std::byte> encode(const data::Image& image, const Form& form) {
  if (form.dicom != nullptr) return encode_dicom(image, form);
  const std::vector<std::byte> samples = samples_of(image.samples<std::uint8_t>(), form);
  if (!form.is_interlaced) {
    return io::encode_png({.width_px = image.width_px(),
                           .height_px = image.height_px(),
                           .channels = form.channels,
                           .bits = form.bits,
                           .pixels = samples});
  }
  return data::encode_test_png({.width_px = static_cast<std::uint32_t>(image.width_px()),
                                .height_px = static_cast<std::uint32_t>(image.height_px()),
                                .bit_depth = static_cast<std::uint8_t>(form.bits),
                                .interlace = SPNG_INTERLACE_ADAM7,
                                .samples = samples});
}

// Copies the folder `data` with its images in this format.
fs::path store(const fs::path& data, const fs::path& folder, const Form& form) {
  fs::create_directories(folder / "images");
  for (const fs::directory_entry& entry : fs::directory_iterator(data)) {
    if (entry.is_regular_file()) fs::copy_file(entry.path(), folder / entry.path().filename());
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(data / "images")) {
    const std::string file = read_all(entry.path());
    data::Image image;
    static_cast<void>(data::Decoder()
                          .decode(std::as_bytes(std::span(file)), "image", {.channels = data::Channels::Gray}, image)
                          .or_throw());
    const std::vector<std::byte> bytes = encode(image, form);
    io::testing::put_file(folder / "images" / entry.path().filename(),
                          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return folder;
}

struct Evaluation {
  std::string json;
  std::string predictions;
  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

Evaluation evaluate(const Workplace& place, const std::string& run, const fs::path& data, const char* threads) {
  place.must_run({"eval", "--checkpoint", (place / run / "checkpoints/best.safetensors").string(), "--data", data,
                  "--metrics", "all", "--replicates", "50", "--threads", threads, "--workers", threads, "--json",
                  place / "e.json", "--preds", place / "e.csv"});
  return {read_all(place / "e.json"), read_all(place / "e.csv")};
}

TEST(StoredForms, give_the_same_figures_to_the_last_digit) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  std::map<std::string, fs::path> folders;
  for (const Form& form : kForms) {
    if (is_readable(form)) folders[form.name] = store(data, place / form.name, form);
  }
  // Resizes 32 pixels to 25, so that every pixel is a weighted mean. Tests networks with one and with three channels.
  for (const char* channels : {"1", "3"}) {
    const std::string run = std::string("run") + channels;
    place.must_run(plus(place.train_arguments(data, run), {"--set", "train.epochs=1", "preprocess.size=25",
                                                           std::string("preprocess.channels=") + channels}));
    const Evaluation first = evaluate(place, run, data, "1");
    ASSERT_NE(first.json.find("\"auprc\""), std::string::npos);
    for (const auto& [name, folder] : folders) {
      for (const char* threads : {"1", "2"}) {
        const Evaluation other = evaluate(place, run, folder, threads);
        EXPECT_EQ(other.predictions, first.predictions) << name << ", " << threads << " threads, " << run;
        EXPECT_TRUE(other.json == first.json) << name << ", " << threads << " threads, " << run;
      }
    }
    EXPECT_EQ(evaluate(place, run, data, "2"), first) << "and once more";
  }
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::istringstream text(read_all(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// A training image must also be recognised if it is stored in another format.
TEST(StoredForms, of_images_trained_on_are_known_again) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  const std::vector<std::string> test = lines_of(data / "test_list.txt"), seen = lines_of(data / "train_val_list.txt");
  for (const char* channels : {"1", "3"}) {
    const std::string run = std::string("run") + channels;
    place.must_run(plus(place.train_arguments(data, run),
                        {"--set", "train.epochs=1", std::string("preprocess.channels=") + channels}));
  }
  for (const Form& form : kForms) {
    if (!is_readable(form)) continue;
    const fs::path folder = store(data, place / form.name, form);
    for (std::size_t i = 0; i < 10; ++i) {  // one of them is no validation image
      fs::copy_file(folder / "images" / seen[i], folder / "images" / test[i], fs::copy_options::overwrite_existing);
    }
    for (const char* run : {"run1", "run3"}) {
      const Ended refused = place.run({"eval", "--checkpoint", (place / run / "checkpoints/best.safetensors").string(),
                                       "--data", folder, "--replicates", "0"});
      EXPECT_EQ(refused.code, 2) << form.name << ", " << run;
      EXPECT_NE(refused.err.find("test images with the pixels of one of the "), std::string::npos) << refused.err;
    }
  }
}

}  // namespace
}  // namespace roentgen::e2e
