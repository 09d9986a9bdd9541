// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <unordered_set>

#include "cli/eval_part.h"
#include "core/error.h"
#include "core/plural.h"
#include "data/codec/codec.h"
#include "data/source/image_index.h"
#include "data/source/record_source.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw DataError(error_text("cli.images", what, expected, got, remedy));
}

class Walk {
 public:
  Walk(fs::path root, std::vector<data::Sample>& samples) : root_(std::move(root)), samples_(samples) {}

  void folder(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (!error && !visited_.insert(real.string()).second) return;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (!it->path().filename().string().starts_with('.')) entries.push_back(*it);
    }
    if (error) refuse(path.string(), "a readable folder", error.message(), "other permissions there");
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      std::error_code ignored;
      if (entry.is_directory(ignored)) {
        if (data::is_companion_folder(entry.path().filename().string())) {
          ++companions_;
        } else {
          folder(entry.path());
        }
      } else if (data::may_be_dicom(entry.path()) && data::starts_as_dicom(entry.path())) {
        choose(entry.path());
      } else if (data::has_image_extension(entry.path())) {
        add(entry.path());
      } else {
        ++others_;
      }
    }
  }
  [[nodiscard]] std::int64_t others() const { return others_; }
  [[nodiscard]] std::int64_t companions() const { return companions_; }
  [[nodiscard]] const data::DicomTally& dicom() const { return dicom_; }

 private:
  void add(const fs::path& path) { samples_.push_back({.id = path.lexically_relative(root_).string(), .path = path}); }
  // What cannot be read is taken all the same: the prediction names it.
  void choose(const fs::path& path) {
    const auto study = data::read_dicom_header(path);
    const std::string exclusion = study ? data::exclusion_of(study.value()) : std::string();
    if (exclusion.empty()) {
      add(path);
    } else {
      dicom_.add(exclusion);
    }
  }

  fs::path root_;
  std::vector<data::Sample>& samples_;
  std::set<std::string> visited_;
  std::int64_t others_ = 0;
  std::int64_t companions_ = 0;
  data::DicomTally dicom_;
};

// What lies in a folder without images.
std::string contents(const Walk& walk) {
  if (const std::string dicom = walk.dicom().text(); !dicom.empty()) return "DICOM files " + dicom;
  if (walk.companions() > 0) return "only folders called masks or pairs, which are passed over";
  return walk.others() == 0 ? std::string("no files") : counted(walk.others(), "other file");
}

// A name that comes twice, or nothing.
const std::string* repeated(const std::vector<data::Sample>& samples) {
  std::unordered_set<std::string_view> seen;
  for (const data::Sample& sample : samples) {
    if (!seen.insert(sample.id).second) return &sample.id;
  }
  return nullptr;
}

}  // namespace

ImageList list_images(const std::vector<std::string>& arguments) {
  ImageList list;
  list.dataset.source = "files";
  std::vector<data::Sample>& samples = list.dataset.samples;
  const std::string expected = data::codec_names() + " files, or a folder of them";
  for (const std::string& argument : arguments) {
    const fs::path path(argument);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      refuse(argument, expected, fs::is_symlink(path, error) ? "a link to nothing" : "nothing there",
             "checking the path");
    }
    if (!fs::is_directory(status)) {
      samples.push_back({.id = path.filename().string(), .path = path});
      continue;
    }
    const std::size_t before = samples.size();
    Walk walk(path, samples);
    walk.folder(path);
    list.others += walk.others();
    list.companions += walk.companions();
    list.dicom += walk.dicom();
    if (samples.size() > before) continue;
    refuse(argument, "files that end in .png, .jpg or .jpeg, or frontal chest radiographs as DICOM, below it",
           contents(walk), "another folder, or naming the files themselves");
  }
  if (repeated(samples) != nullptr) {
    for (data::Sample& sample : samples) sample.id = sample.path.lexically_normal().string();
  }
  if (const std::string* name = repeated(samples)) {
    refuse(*name, "each image once", "this one twice", "leaving out one of them");
  }
  return list;
}

data::Dataset images_or_records(const std::vector<std::string>& arguments) {
  if (!std::ranges::all_of(arguments, [](const std::string& folder) { return data::has_records(folder); })) {
    return list_images(arguments).dataset;
  }
  data::Dataset all;
  for (const std::string& folder : arguments) {
    data::SourceOptions records{.root = folder, .source = std::string(*data::record_source(folder))};
    records.split.mode = data::SplitMode::Whole;
    data::Dataset one = data::load_dataset(records);
    if (arguments.size() == 1) return one;
    for (data::Sample& sample : one.samples) {
      sample.labels.clear();
      all.samples.push_back(std::move(sample));
    }
  }
  return all;
}

void keep_listed(ImageList& images, const fs::path& list) {
  std::vector<data::Sample> kept;
  for (const std::uint32_t row : list_part(images.dataset, read_list(list), "the images named").samples) {
    kept.push_back(std::move(images.dataset.samples[row]));
  }
  images.dataset.samples = std::move(kept);
}

}  // namespace roentgen::cli
