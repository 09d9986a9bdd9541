// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of dataset readers, in the order of detection. Readers of record files have a separate list. To add a
// reader, write a file x.cpp with `bool probe_x(...)` and `Listing list_x(...)` (see source.h) and add a line here.
//   X(name, typical content of its folder)
#pragma once

#define RG_SOURCES(X)                                                                               \
  X(nih, "a csv with the columns \"Image Index\" and \"Finding Labels\" (Data_Entry_2017*.csv)")    \
  X(chexpert, "train.csv, valid.csv or test.csv with \"Path\" and \"Frontal/Lateral\"")             \
  X(mimic, "...-metadata.csv with \"dicom_id\" and ...-chexpert.csv or ...-negbio.csv, or .csv.gz") \
  X(padchest, "PADCHEST...csv with \"ImageID\", \"ImageDir\" and \"Labels\"")                       \
  X(csv, "labels.csv, or another table, with a column \"path\" or \"file\"")                        \
  RG_RECORD_SOURCES(X)                                                                              \
  X(dicom, "DICOM files")                                                                           \
  X(class_folders, "nothing but a folder of images for each class, or such folders in train, val and test")

#define RG_RECORD_SOURCES(X)                                                       \
  X(tfrecord, "*.tfrecord or train-00000-of-00010, ...: TFRecord files of images") \
  X(tar, "*.tar: WebDataset shards")                                               \
  X(recordio, "*.rec: MXNet's RecordIO of images")                                 \
  X(lmdb, "data.mdb, train_lmdb/data.mdb, ...: Caffe's LMDB of images")
