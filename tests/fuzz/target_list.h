// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of fuzz targets: all parsers of bytes from outside. A new target needs a file targets/x.cpp with `void
// fuzz_x(Input)` (fuzz.h), one line here, and one or two small files in corpus/x.
//   X(name, globs of the test data files with which `make fuzz` begins)
#pragma once

#define RG_FUZZ_TARGETS(X)                                                                    \
  X(png, "corrupt/png/**/*.png corrupt/made/*.png nih/png64/*.png")                           \
  X(jpeg, "corrupt/jpeg/**/*.jp* corrupt/made/*.jpeg jpeg_folder/**/*.jpg kermany/**/*.jpeg") \
  X(dicom, "corrupt/made/*.dcm dicom/**/*.dcm")                                               \
  X(dicom_rle, "")                                                                            \
  X(dicom_jpeg, "")                                                                           \
  X(csv, "corrupt/expected.csv dicom/labels.csv jpeg_folder/labels.csv nih/extra/*.csv")      \
  X(label_tables, "jpeg_folder/labels.csv nih/labels_64.csv")                                 \
  X(name_lists, "nih/*_list.txt jpeg_folder/image_list.txt")                                  \
  X(foreign_text, "")                                                                         \
  X(toml, "")                                                                                 \
  X(recipe, "")                                                                               \
  X(json, "")                                                                                 \
  X(pipeline, "")                                                                             \
  X(graph, "")                                                                                \
  X(safetensors, "")                                                                          \
  X(torch, "")                                                                                \
  X(gzip, "records/tfrecord/**/*.gz")                                                         \
  X(tfrecord, "records/tfrecord/**/*.tfrecord")                                               \
  X(tar, "records/webdataset/*.tar")                                                          \
  X(recordio, "")                                                                             \
  X(lmdb, "records/lmdb/*.mdb")                                                               \
  X(example, "")                                                                              \
  X(record_index, "")
