// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of dataset sources; order = order of detection. A new source is one file x.cpp with `bool probe_x(...)`
// and `Listing list_x(...)` (see source.h) plus one line here.
//   X(name, what a folder of it has)
#pragma once

#define RG_SOURCES(X)                                                                               \
  X(nih, "a csv with the columns \"Image Index\" and \"Finding Labels\" (Data_Entry_2017*.csv)")    \
  X(chexpert, "train.csv, valid.csv or test.csv with \"Path\" and \"Frontal/Lateral\"")             \
  X(mimic, "...-metadata.csv with \"dicom_id\" and ...-chexpert.csv or ...-negbio.csv, or .csv.gz") \
  X(padchest, "PADCHEST...csv with \"ImageID\", \"ImageDir\" and \"Labels\"")                       \
  X(csv, "labels.csv with a column \"path\" or \"file\"")                                           \
  X(tfrecord, "*.tfrecord or train-00000-of-00010, ...: TFRecord files of images")                  \
  X(dicom, "DICOM files")
