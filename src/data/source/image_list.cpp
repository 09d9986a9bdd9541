// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "data/codec/codec.h"
#include "data/source/image_index.h"
#include "data/source/linked_files.h"
#include "data/source/record_source.h"
#include "data/source/table_files.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw DataError(error_text("cli.images", what, expected, got, remedy));
}

// Adds the images below a folder to `list`, named by their relative paths. Excluded DICOM files are counted. Unreadable
// files are added as well, so that the prediction reports them.
void add_folder(const fs::path& folder, ImageList& list) {
  FolderWalk walk(WalkOrder::Mixed, [&folder, &list](const fs::path& path) {
    const bool is_dicom = may_be_dicom(path) && starts_as_dicom(path);
    if (!is_dicom && !has_image_extension(path)) return false;
    if (is_dicom) {
      const auto study = read_dicom_header(path);
      const std::string exclusion = study ? exclusion_of(study.value()) : std::string();
      if (!exclusion.empty()) {
        list.dicom.add(exclusion);
        return true;
      }
    }
    list.dataset.samples.push_back({.id = path.lexically_relative(folder).string(), .path = path});
    return true;
  });
  walk.walk(folder);
  list.left_out += walk.left_out();
}

std::string links_note(const std::vector<Sample>& samples) {
  LinkedFiles links;
  std::int64_t again = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) again += links.add(samples[i].path, i) ? 1 : 0;
  return again == 0 ? std::string() : fmt::format("files listed more than once because of links: {}", again);
}

// Describes the content of a folder that has no images.
std::string contents(const ImageList& list) {
  if (const std::string dicom = exclusions_text(list.dicom); !dicom.empty()) return "DICOM files " + dicom;
  const LeftOut& left_out = list.left_out;
  if (!left_out.dangling.empty()) return counted(std::ssize(left_out.dangling), "link") + " without target";
  if (left_out.companions > 0) return "only folders called masks or pairs, which are ignored";
  if (left_out.files.is_empty()) return "no files";
  return fmt::format("{} ({})", counted(left_out.files.total(), "other file"), left_out.files.text());
}

// First name that occurs twice; null if all differ.
const std::string* repeated(const std::vector<Sample>& samples) {
  std::unordered_set<std::string_view> seen;
  for (const Sample& sample : samples) {
    if (!seen.insert(sample.id).second) return &sample.id;
  }
  return nullptr;
}

}  // namespace

ImageList list_images(const std::vector<std::string>& arguments) {
  ImageList list;
  list.dataset.source = "files";
  std::vector<Sample>& samples = list.dataset.samples;
  const std::string expected = codec_names() + " files, or a folder of them";
  for (const std::string& argument : arguments) {
    const fs::path path(argument);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      refuse(argument, expected, fs::is_symlink(path, error) ? "a broken link" : "no such file", "checking the path");
    }
    if (!fs::is_directory(status)) {
      samples.push_back({.id = path.filename().string(), .path = path});
      continue;
    }
    const std::size_t before = samples.size();
    add_folder(path, list);
    if (samples.size() > before) {
      list.folders.emplace_back(path, std::ssize(samples) - static_cast<std::int64_t>(before));
      continue;
    }
    refuse(argument, "PNG or JPEG files (.png, .jpg, .jpeg) or frontal DICOM chest radiographs in this folder",
           contents(list), "another folder, or naming single files");
  }
  if (repeated(samples) != nullptr) {
    for (Sample& sample : samples) sample.id = sample.path.lexically_normal().string();
  }
  if (const std::string* name = repeated(samples)) {
    refuse(*name, "each image once", "this one twice", "leaving out one of them");
  }
  if (std::string note = links_note(samples); !note.empty()) list.notes.push_back(std::move(note));
  return list;
}

std::vector<std::string> class_folder_notes(const ImageList& list, const SourceOptions& source) {
  std::vector<std::string> notes;
  for (const auto& [folder, taken] : list.folders) {
    SourceOptions options{.root = folder, .absent = Absent::Skip};
    TableFiles tables;
    options.split.mode = SplitMode::Whole;
    if (source.source == "class_folders") {
      options.source = source.source;
      options.labels = source.labels;
      options.unknown_labels = UnknownLabels::Mask;
    }
    try {
      if (options.source == "auto" &&
          (!fits_source(options, tables) || detected_source(options, tables) != "class_folders"))
        continue;
      const std::int64_t images = std::ssize(load_dataset(options, tables).samples);
      if (images == taken) continue;
      notes.push_back(
          fmt::format("a folder of classes: {} taken here; inspect, train and eval take only the {} in class folders",
                      counted(taken, "image"), images));
    } catch (const Error&) {  // the dataset reader refuses the folder, but as a list of images it is valid
    }
  }
  return notes;
}

Dataset images_or_records(const std::vector<std::string>& arguments) {
  if (!std::ranges::all_of(arguments, [](const std::string& folder) { return has_records(folder); })) {
    return list_images(arguments).dataset;
  }
  Dataset all;
  for (const std::string& folder : arguments) {
    SourceOptions records{.root = folder, .source = std::string(*record_source(folder))};
    records.split.mode = SplitMode::Whole;
    Dataset one = load_dataset(records);
    if (arguments.size() == 1) return one;
    for (Sample& sample : one.samples) {
      sample.labels.clear();
      all.samples.push_back(std::move(sample));
    }
  }
  return all;
}

}  // namespace roentgen::data
