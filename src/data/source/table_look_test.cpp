// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/table_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/source/table_files.h"
#include "io/csv.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TableLook look_at(std::string_view text) { return look_at_table(io::parse_csv(text, "t").value()); }

TEST(TableLook, takes_columns_of_ones_and_zeros_as_labels_and_no_facts) {
  const TableLook look = look_at("file;subject;sex;sick;old\na;1;1;1;0\nb;2;0;0;1\nc;2;0;;yes\n");
  EXPECT_THAT(look.labels, ElementsAre("sick", "old"));
  EXPECT_EQ(look.patient, "subject");
  EXPECT_EQ(look.class_column, "");
}

TEST(TableLook, takes_the_values_of_the_column_that_names_a_diagnosis) {
  const TableLook look = look_at(
      "path\tsite\tdiagnosis\tsplit\na\tx\tNormal\ttrain\nb\ty\tPneumonia\ttrain\n"
      "c\tx\tPneumonia|Effusion\ttest\nd\ty\tNo Finding\ttest\ne\tx\tEffusion\ttest\nf\ty\tnormal\ttest\n"
      "g\tx\tEffusion\ttest\nh\ty\tPneumonia\ttest\ni\ty\tNormal\ttest\nj\ty\tNormal\ttest\n");
  EXPECT_EQ(look.class_column, "diagnosis");
  EXPECT_THAT(look.labels, ElementsAre("diagnosis:Effusion", "diagnosis:Pneumonia"));
  EXPECT_THAT(look.normals, ElementsAre("No Finding", "Normal", "normal"));
  EXPECT_THAT(look.unsure, ElementsAre("site"));
  EXPECT_EQ(look.split, "split");
}

TEST(TableLook, leaves_a_comma_within_a_value_unless_there_are_too_many) {
  EXPECT_THAT(look_at("path;dx label\na;mass, left\nb;mass, left\nc;normal\nd;normal\n").labels,
              ElementsAre("dx label:mass, left"));
  EXPECT_THAT(look_at("path;label\na;mass,scar\nb;mass,cyst\nc;scar,cyst\nd;scar\ne;cyst,mass,scar\nf;mass\n").labels,
              ElementsAre("label:cyst", "label:mass", "label:scar"));
}

TEST(TableLook, splits_a_value_at_commas_if_a_part_of_it_is_a_field_of_its_own) {
  const TableLook look = look_at(
      "path;findings\na;mass\nb;mass, effusion\nc;mass, effusion\nd;normal\ne;mass\nf;normal\ng;mass; effusion\n");
  EXPECT_THAT(look.labels, ElementsAre("findings:effusion", "findings:mass"));
}

TEST(TableLook, says_why_a_column_is_no_label) {
  const TableLook look = look_at(
      "path,sick,typo,mark,none,name\na,1,1,x,,p\nb,0,0,,,q\nc,1,1,x,0,r\nd,0,0,,,s\ne,1,1,,,t\nf,0,0,,,u\n"
      "g,1,1,,,v\nh,0,0,,,w\ni,1,1,,,x\n\nj,0,?,,,y\n");
  EXPECT_THAT(look.labels, ElementsAre("sick"));
  EXPECT_THAT(look.nearly, ElementsAre("typo (line 12)"));
  EXPECT_THAT(look.marked, ElementsAre("mark"));
  EXPECT_THAT(look.absent, ElementsAre("none"));
  EXPECT_THAT(look.unsure, IsEmpty());
}

TEST(TableLook, takes_only_one_of_two_values_that_exclude_each_other) {
  const TableLook look = look_at("path,cause\na,virus\nb,bacteria\nc,bacteria\nd,virus\ne,bacteria\n");
  EXPECT_THAT(look.labels, ElementsAre("cause:virus")) << "the rarer";
  EXPECT_EQ(look.opposite, "bacteria");
  const TableLook open = look_at("path,cause\na,virus\nb,bacteria\nc,\nd,virus\ne,bacteria\n");
  EXPECT_THAT(open.labels, ElementsAre("cause:bacteria", "cause:virus")) << "some rows have neither";
  EXPECT_EQ(open.opposite, "");
}

TEST(TableLook, knows_yes_and_no_in_german) {
  const TableLook look =
      look_at("Bild,Pneumonie,Erguss,Stauung\na,ja,WAHR,positiv\nb,nein,FALSCH,negativ\nc,Ja,WAHR,\n");
  EXPECT_THAT(look.labels, ElementsAre("Pneumonie", "Erguss", "Stauung"));
  EXPECT_TRUE(means_no_finding("unauff\xC3\xA4llig"));
  EXPECT_TRUE(means_no_finding("kein Befund"));
}

TEST(TableLook, takes_a_column_with_many_other_values_as_classes) {
  const TableLook look = look_at("path,grade\na,0\nb,1\nc,2\nd,0\ne,1\nf,2\n");
  EXPECT_THAT(look.nearly, IsEmpty());
  EXPECT_EQ(look.class_column, "grade");
}

TEST(TableFiles, drops_the_blank_rows_that_spreadsheets_write) {
  const TestFolder folder;
  folder.write("t.csv", "path;sick\n;\na.png;1\n ; \nb.png;0\n;\n;\n");
  TableFiles files;
  const io::Csv& table = files.table(folder.path() / "t.csv");
  EXPECT_THAT(image_names(table), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(table.lines, ElementsAre(3, 5));
}

TEST(TableLook, chooses_nothing_between_columns_of_classes_that_no_name_tells_apart) {
  const TableLook look = look_at("path,site,side\na,x,l\nb,y,r\nc,x,l\nd,y,r\n");
  EXPECT_THAT(look.labels, IsEmpty());
  EXPECT_THAT(look.unsure, ElementsAre("site", "side"));
  EXPECT_THAT(look_at("path,note\na,x\nb,y\nc,z\n").unsure, IsEmpty()) << "each value once: names";
  EXPECT_THAT(look_at("path;kV\na;80,5\nb;90\nc;80,5\nd;90\n").unsure, IsEmpty()) << "a measurement";
}

TEST(TableLook, finds_the_tables_of_a_folder_that_name_images) {
  const TestFolder folder;
  folder.write("b.csv", "path,Mass\na.png,1\n");
  folder.write("a.tsv", "Mass\tfile\n1\ta.png\n");
  folder.write("other.csv", "name,Mass\nx,1\n");
  folder.write("test_list.txt", "a.png\n");
  EXPECT_THAT(TableFiles().found_in(folder.path()).absent, ElementsAre("a.tsv", "b.csv"));
  EXPECT_THAT(TableFiles().found_in(folder.path() / "none").absent, IsEmpty());
}

/// A folder with the images a.png to f.png, two record files, and a DICOM file without extension.
class FindTables : public testing::Test {
 protected:
  FindTables() {
    for (const char* name : {"a.png", "b.png", "c.png", "d.png", "e.png", "f.png", "x.tfrecord", "y.tfrecord"}) {
      folder_.write(name, "");
    }
    folder_.write("IM1", std::string(128, '\0') + "DICM");
  }
  [[nodiscard]] FoundTables find() const { return TableFiles().found_in(folder_.path()); }
  TestFolder folder_;
};

TEST_F(FindTables, takes_the_one_that_names_most_images_that_are_there) {
  folder_.write("annotations_qc.csv", "path,ok\na.png,1\nb.png,1\nz1.png,0\nz2.png,0\n");
  folder_.write("findings.csv", "file,sick\na.png,1\nb,0\nc.png,0\n");
  EXPECT_THAT(find().read, ElementsAre("findings.csv"));
  EXPECT_THAT(find().others, ElementsAre("annotations_qc.csv"));
  EXPECT_THAT(notes_on(find()), ElementsAre("other tables with a column of images are not read: annotations_qc.csv; "
                                            "set data.csv to choose a table"));
  folder_.write("part1.csv", "path,old\na.png,1\nb.png,1\n");
  folder_.write("part2.csv", "path,old\nc.png,1\nd.png,0\n");
  EXPECT_THAT(find().read, ElementsAre("part1.csv", "part2.csv")) << "tables of one header count together";
}

TEST_F(FindTables, takes_one_with_labels_before_one_without_and_names_ties) {
  folder_.write("ages.csv", "path,patient,age\na.png,1,40\nb.png,2,50\nc.png,3,60\n");
  EXPECT_THAT(find().read, ElementsAre("ages.csv"));
  EXPECT_FALSE(find().may_have_labels);
  folder_.write("second.csv", "path,sick\na.png,1\nb.png,0\n");
  EXPECT_THAT(find().read, ElementsAre("second.csv"));
  EXPECT_TRUE(find().may_have_labels);
  EXPECT_THAT(find().tied, IsEmpty());
  folder_.write("third.csv", "path,old\na.png,1\nb.png,0\n");
  EXPECT_THAT(find().read, ElementsAre("second.csv"));
  EXPECT_THAT(
      notes_on(find()),
      testing::Contains(
          "second.csv is read, although these tables list as many images: third.csv; set data.csv to choose a table"));
}

TEST_F(FindTables, takes_no_file_for_an_image_that_is_none) {
  folder_.write("manifest.csv", "file,ok\nx.tfrecord,1\ny.tfrecord,0\n");
  EXPECT_THAT(find().read, IsEmpty());
  EXPECT_THAT(find().absent, ElementsAre("manifest.csv"));
  folder_.write("part-00000-of-00001", "");
  folder_.write("manifest.csv", "file,ok\npart-00000-of-00001,1\n");
  EXPECT_THAT(find().read, IsEmpty());
  folder_.write("dicom.csv", "file,ok\nIM1,1\n");
  EXPECT_THAT(find().read, ElementsAre("dicom.csv"));
}

TEST_F(FindTables, finds_images_without_their_folders) {
  folder_.write("im/1.png", "");
  folder_.write("own.csv", "path,sick\n1.png,1\n");
  EXPECT_THAT(find().read, ElementsAre("own.csv"));
}

TEST(TableFiles, opens_each_table_once_for_its_rows) {
  const TestFolder folder;
  folder.write("a.csv", "path,sick\nx.png,1\n");
  TableFiles files;
  const io::Csv& first = files.table(folder.path() / "a.csv");
  folder.write("a.csv", "path,old\ny.png,1\n");
  EXPECT_EQ(&files.table(folder.path() / "a.csv"), &first);
  EXPECT_EQ(&files.joined({folder.path() / "a.csv"}), &first);
  EXPECT_THAT(files.header(folder.path() / "a.csv"), ElementsAre("path", "sick"));
}

TEST(TableLook, without_labels_hides_no_folders_of_classes_nor_records) {
  const TestFolder folder;
  for (const char* name : {"sick/a.png", "sick/b.png", "well/c.png", "well/d.png"}) folder.write(name, "");
  folder.write("manifest.csv", "file,sha256\nsick/a.png,12ab\nsick/b.png,34cd\nwell/c.png,56ef\n");
  SourceOptions options{.root = folder.path()};
  EXPECT_EQ(detected_source(options), "class_folders");
  options.labels = {"sha256:12ab"};
  EXPECT_EQ(detected_source(options), "csv") << "data.labels names its column";
  options.labels.clear();
  folder.write("shard.tar", "");
  EXPECT_EQ(detected_source(options), "tar");
  folder.write("findings.csv", "file,old\nsick/a.png,1\n");
  EXPECT_EQ(detected_source(options), "csv");
}

TEST(TableLook, reads_the_separator_of_the_header_though_quoted_fields_hold_others) {
  const auto semicolons = io::parse_csv("\"file, name\";Mass\n\"a,b.png\";1\n\"c;d.png\";0\n", "t").value();
  EXPECT_THAT(semicolons.rows, ElementsAre(ElementsAre("a,b.png", "1"), ElementsAre("c;d.png", "0")));
  const auto commas = io::parse_csv("path,\"Mass; large\"\n\"a;b.png\",1\nc\td.png,0\n", "t").value();
  EXPECT_THAT(commas.header, ElementsAre("path", "Mass; large"));
  EXPECT_THAT(commas.rows, ElementsAre(ElementsAre("a;b.png", "1"), ElementsAre("c\td.png", "0")));
  const auto tabs = io::parse_csv("path\t\"Mass, large\"\n\"a\tb.png\"\t1,5\n", "t").value();
  EXPECT_THAT(tabs.rows, ElementsAre(ElementsAre("a\tb.png", "1,5")));
}

}  // namespace
}  // namespace roentgen::data
