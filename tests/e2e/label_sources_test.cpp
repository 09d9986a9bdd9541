// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that `eval --predictions`, `compare` and `report` read label tables as `train` and `eval` read the data. Each
// published data set's layout is filled with synthetic radiographs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr int kImages = 120;
constexpr int kFindings = 3;
// Names of the findings in CheXpert and MIMIC, in NIH (for the second one) and in PadChest.
constexpr std::array<const char*, kFindings> kOfChexpert{"Edema", "Pleural Effusion", "Cardiomegaly"};
constexpr std::array<const char*, kFindings> kOfNih{"Edema", "Effusion", "Cardiomegaly"};
constexpr std::array<const char*, kFindings> kOfPadchest{"pulmonary edema", "pleural effusion", "cardiomegaly"};

/// One synthetic image. A patient has three images, two of them in one study.
struct Drawn {
  fs::path file;
  int patient = 0;
  int study = 0;
  int picture = 0;
  /// (kFindings) 1 or 0; data sets that support it also have -1 (uncertain) and -2 (blank).
  std::array<int, kFindings> labels{};
  [[nodiscard]] const char* split() const { return patient % 10 < 5 ? "train" : patient % 10 < 7 ? "val" : "test"; }
};

std::vector<Drawn> drawn(const fs::path& folder) {
  std::vector<Drawn> images;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) images.push_back({.file = entry.path()});
  std::ranges::sort(images, {}, &Drawn::file);
  for (int i = 0; i < static_cast<int>(images.size()); ++i) {
    Drawn& image = images[static_cast<std::size_t>(i)];
    image.patient = i / 3;
    image.study = i % 3 / 2 + 1;
    image.picture = i % 3;
    for (int k = 0; k < kFindings; ++k) {
      // All images of a study have the same label, as in reports.
      const int draw = (image.patient * 7919 + image.study * 104729 + k * 1299709) % 11;
      image.labels[static_cast<std::size_t>(k)] = draw < 4 ? 1 : draw < 7 ? 0 : draw < 9 ? -2 : -1;
    }
  }
  return images;
}

std::string cell(int label) { return label == -2 ? "" : std::to_string(label) + ".0"; }

// First field of each row, one per line.
std::string first_fields(const std::string& csv) {
  std::istringstream lines(csv);
  std::string fields, line;
  for (std::getline(lines, line); std::getline(lines, line);) fields += line.substr(0, line.find(',')) + "\n";
  return fields;
}

void place(const Drawn& image, const fs::path& path) {
  fs::create_directories(path.parent_path());
  fs::copy_file(image.file, path);
}

class LabelSources : public testing::Test {
 protected:
  LabelSources() : images_(drawn(place_.synth("drawn", kImages) / "images")), root_(place_ / "set") {}

  void write(const std::string& name, const std::string& text) const { place_.write("set/" + name, text); }

  fs::path nih() {
    std::string table = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position\n";
    std::array<std::string, 2> lists;
    for (const Drawn& image : images_) {
      std::string findings;
      for (std::size_t k = 0; k < kFindings; ++k) {
        if (image.labels[k] == 1) findings += (findings.empty() ? "" : "|") + std::string(kOfNih[k]);
      }
      const std::string name = image.file.filename().string();
      table += name + "," + (findings.empty() ? "No Finding" : findings) + "," + std::to_string(image.study) + "," +
               std::to_string(image.patient) + ",50," + (image.patient % 2 == 0 ? "M" : "F") + "," +
               (image.picture == 0 ? "PA" : "AP") + "\n";
      lists[image.split() == std::string("test") ? 1 : 0] += name + "\n";
      place(image, root_ / "images" / name);
    }
    write("Data_Entry_2017_v2020.csv", table);
    write("train_val_list.txt", lists[0]);
    write("test_list.txt", lists[1]);
    return root_ / "Data_Entry_2017_v2020.csv";
  }

  fs::path chexpert() {
    for (const char* split : {"train", "valid", "test"}) {
      std::string table = "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding";
      for (const char* finding : kOfChexpert) table += "," + std::string(finding);
      table += "\n";
      for (const Drawn& image : images_) {
        if (!std::string_view(split).starts_with(image.split())) continue;
        const bool is_lateral = image.picture == 1;
        const std::string path = std::string(split) + "/patient" + std::to_string(10000 + image.patient) + "/study" +
                                 std::to_string(image.study) + (is_lateral ? "/view2_lateral" : "/view1_frontal") +
                                 ".png";
        // A study without a positive finding is marked "no finding", so that its blanks count as negative.
        const bool is_normal = std::ranges::count(image.labels, 1) == 0 && image.patient % 3 == 0;
        table += "CheXpert-v1.0-small/" + path + (image.patient % 2 == 0 ? ",Male" : ",Female") + ",50," +
                 (is_lateral ? "Lateral," : "Frontal,AP") + (is_normal ? ",1.0" : ",");
        for (const int label : image.labels) table += "," + (is_normal && label == -1 ? std::string() : cell(label));
        table += "\n";
        place(image, root_ / path);
      }
      write(std::string(split) + ".csv", table);
    }
    return root_ / "test.csv";
  }

  fs::path mimic() {
    std::string metadata = "dicom_id,subject_id,study_id,ViewPosition\n",
                splits = "dicom_id,study_id,subject_id,split\n";
    std::string labels = "subject_id,study_id,No Finding";
    for (const char* finding : kOfChexpert) labels += "," + std::string(finding);
    labels += "\n";
    for (const Drawn& image : images_) {
      const std::string subject = std::to_string(10000000 + image.patient);
      const std::string study = std::to_string(50000000 + 10 * image.patient + image.study);
      const std::string name = image.file.stem().string();
      metadata += name + "," + subject + "," + study + (image.picture == 0 ? ",PA\n" : ",AP\n");
      splits += name + "," + study + "," + subject + "," +
                (image.split() == std::string("val") ? "validate" : image.split()) + "\n";
      if (image.picture != 1) {
        labels += subject + "," + study + ",";
        for (const int label : image.labels) labels += "," + cell(label);
        labels += "\n";
      }
      place(image, root_ / "files/p10" / ("p" + subject) / ("s" + study) / (name + ".png"));
    }
    write("mimic-cxr-2.0.0-metadata.csv", metadata);
    write("mimic-cxr-2.0.0-split.csv", splits);
    write("mimic-cxr-2.0.0-chexpert.csv", labels);
    return root_ / "mimic-cxr-2.0.0-chexpert.csv";
  }

  fs::path padchest() {
    std::string table =
        "ImageID,ImageDir,StudyDate_DICOM,StudyID,PatientID,PatientBirth,PatientSex_DICOM,Projection,"
        "Labels\n";
    for (const Drawn& image : images_) {
      std::string list;
      for (std::size_t k = 0; k < kFindings; ++k) {
        if (image.labels[k] == 1) list += (list.empty() ? "'" : ", '") + std::string(kOfPadchest[k]) + "'";
      }
      const std::string name = image.file.filename().string();
      table += name + ",0,20140101,st" + std::to_string(image.study) + ",p" + std::to_string(image.patient) + ",1960," +
               (image.patient % 2 == 0 ? "M" : "F") + (image.picture == 0 ? ",PA," : ",AP,") + "\"[" +
               (list.empty() ? "'normal'" : list) + "]\"\n";
      place(image, root_ / "0" / name);
    }
    write("PADCHEST_chest_x_ray_images_labels_160K_01.02.19.csv", table);
    return root_ / "PADCHEST_chest_x_ray_images_labels_160K_01.02.19.csv";
  }

  // Trains on the layout. Expects equal metrics from the checkpoint, and from its predictions with `labels`.
  void expect_equal_figures(const std::vector<fs::path>& all_labels) const {
    const std::vector<std::string> policy{"--set", "data.label_policy={Edema = {blank = \"negative\"}}", "--set",
                                          "data.uncertain=one"};
    place_.must_run(plus(plus(place_.train_arguments(root_, "run"), policy),
                         {"--set", "train.epochs=1", "--set", "data.labels=[\"Edema\", \"Effusion\", \"Cardiomegaly\"]",
                          "--set", "data.test_fraction=0.4"}));
    const std::vector<std::string> checkpoint{
        "eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", root_, "--replicates", "20"};
    place_.must_run(plus(checkpoint, {"--split", "val", "--preds", place_ / "val.csv"}));
    for (const std::string by : {"view,sex", "study"}) {
      const std::vector<std::string> asked{"--by", by, "--metrics", "all", "--json"};
      place_.must_run(plus(plus(checkpoint, asked), {place_ / "own.json", "--preds", place_ / "preds.csv"}));
      const Value own = read_json(place_ / "own.json");
      for (const fs::path& labels : all_labels) {
        const Ended run =
            place_.must_run(plus(plus(plus({"eval", "--predictions", place_ / "preds.csv", "--labels", labels,
                                            "--validation", place_ / "val.csv", "--replicates", "20"},
                                           policy),
                                      asked),
                                 {place_ / "files.json"}));
        EXPECT_THAT(run.out, Not(HasSubstr("unknown patient")));
        const Value files = read_json(place_ / "files.json");
        for (const char* key : {"auroc", "metrics", "points", "bootstrap", "unit"}) {
          EXPECT_EQ(own.at(key), files.at(key)) << key << " of " << labels << " by " << by;
        }
        EXPECT_EQ(own.at("split").at("list_sha256"), files.at("predictions").at("list_sha256"));
        if (by != "study") {
          EXPECT_EQ(own.at("by"), files.at("by"));
        }
      }
    }
    // The run's own recipe is used without --set.
    const fs::path& labels = all_labels.front();
    const Ended run = place_.must_run({"compare", place_ / "run", place_ / "run/preds.csv", "--labels", labels,
                                       "--replicates", "20", "--json", place_ / "compare.json"});
    EXPECT_THAT(run.out, Not(HasSubstr("unknown patient")));
    EXPECT_EQ(run.err, "") << "no other version of the labels";
    place_.must_run(plus(checkpoint, {"--split", "val", "--json", place_ / "val.json"}));
    const Value own = read_json(place_ / "val.json"), compared = read_json(place_ / "compare.json");
    EXPECT_EQ(compared.at("patients"), own.at("split").at("patients"));
    for (const auto& [label, row] : own.at("auroc").at("labels").as_table()) {
      EXPECT_EQ(compared.at("labels").at(label).at("a").at("value"), row.at("auroc")) << label;
      EXPECT_EQ(compared.at("labels").at(label).at("n"), row.at("n")) << label;
    }
    for (const std::vector<std::string>& into :
         {std::vector<std::string>{"eval", "--predictions", place_ / "preds.csv", "--aucs"},
          {"compare", place_ / "preds.csv", place_ / "preds.csv", "--csv"},
          {"report", place_ / "run", "--out"}}) {
      expect_refusal(place_.run(plus(into, {root_ / "out.csv", "--labels", root_})),
                     {"a path outside the data folder"});
    }
    place_.must_run({"report", place_ / "run", "--preds", place_ / "preds.csv", "--labels", labels, "--data", root_,
                     "--gallery", "1", "--out", place_ / "report.html"});
    const std::string page = read_all(place_ / "report.html");
    EXPECT_THAT(page, HasSubstr("split &quot;test&quot; of the run"));
    EXPECT_THAT(page, HasSubstr("<figure>"));
  }

  Workplace place_;
  std::vector<Drawn> images_;
  fs::path root_;
};

TEST_F(LabelSources, of_nih_give_the_figures_of_the_checkpoints_evaluation) {
  const fs::path table = nih();
  expect_equal_figures({root_, table});
}

TEST_F(LabelSources, of_chexpert_give_the_figures_of_the_checkpoints_evaluation) {
  const fs::path test = chexpert();
  expect_equal_figures({root_});
  // Label table of one part of the data, with the image names that listing the folder gives.
  const std::vector<std::string> scored{"eval",         "--labels", test,    "--set", "data.uncertain=one",
                                        "--replicates", "0",        "--json"};
  place_.must_run(plus(scored, {place_ / "table.json", "--predictions", place_ / "preds.csv"}));
  place_.must_run({"eval", "--labels", test, "--replicates", "0", "--predictions", place_ / "preds.csv", "--json",
                   place_ / "ignored.json"});
  EXPECT_NE(read_json(place_ / "ignored.json").at("auroc"), read_json(place_ / "table.json").at("auroc"))
      << "what -1 means counts";
  place_.must_run(
      {"predict", "--checkpoint", place_ / "run/checkpoints/best.safetensors", root_, "--preds", place_ / "walk.csv"});
  const fs::path list = place_.write("list.txt", first_fields(read_all(place_ / "preds.csv")));
  place_.must_run(plus(scored, {place_ / "walk.json", "--predictions", place_ / "walk.csv", "--list", list}));
  const Value walk = read_json(place_ / "walk.json"), own = read_json(place_ / "table.json");
  EXPECT_EQ(walk.at("auroc"), own.at("auroc"));
  EXPECT_EQ(walk.at("predictions").at("list_sha256"), own.at("predictions").at("list_sha256"));
  place_.must_run({"compare", place_ / "preds.csv", place_ / "preds.csv", "--labels", root_, "--replicates", "0"});
}

// All images have the same names, view1_frontal or view2_lateral, in different folders.
TEST_F(LabelSources, of_chexpert_have_a_list_a_part) {
  chexpert();
  place_.must_run({"inspect", "--data", root_, "--set", "data.labels=[\"Edema\"]", "--json", place_ / "set.json"});
  const Value json = read_json(place_ / "set.json");
  const Value& splits = json.at("splits");
  EXPECT_NE(splits.at("train").at("list_sha256"), splits.at("val").at("list_sha256"));
  EXPECT_NE(splits.at("val").at("list_sha256"), splits.at("test").at("list_sha256"));
}

// val/0.png and test/0.png have the same base name but belong to two parts.
TEST_F(LabelSources, of_parts_with_the_same_base_names_have_thresholds_from_validation) {
  std::string table = "path,patient,split,Edema\n";
  std::map<std::string, int> counts;
  for (const Drawn& image : images_) {
    if (image.patient % 10 == 9) continue;  // as many test patients as validation patients
    const std::string split = image.split();
    const std::string path = split + "/" + std::to_string(counts[split]++) + ".png";
    table += path + "," + std::to_string(image.patient) + "," + split + "," + std::to_string(image.picture % 2) + "\n";
    place(image, root_ / path);
  }
  ASSERT_EQ(counts.at("val"), counts.at("test"));
  write("labels.csv", table);
  place_.must_run(
      plus(place_.train_arguments(root_, "run"), {"--set", "train.epochs=1", "--set", "data.labels=[\"Edema\"]"}));
  place_.must_run({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", root_, "--replicates",
                   "0", "--save-points", place_ / "points.json"});
  EXPECT_TRUE(fs::exists(place_ / "points.json"));
}

TEST_F(LabelSources, of_mimic_give_the_figures_of_the_checkpoints_evaluation) {
  const fs::path table = mimic();
  expect_equal_figures({root_, table});
}

TEST_F(LabelSources, of_padchest_give_the_figures_of_the_checkpoints_evaluation) {
  const fs::path table = padchest();
  expect_equal_figures({root_, table});
}

}  // namespace
}  // namespace roentgen::e2e
