// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of image codecs, in the order in which they probe a file. To add a codec, write a file x.cpp that
// defines `const Codec& codec_x()` (see codec_table.h) and add a line here.
//   X(name, name in messages)
#pragma once

#define RG_CODECS(X) \
  X(png, "PNG")      \
  X(jpeg, "JPEG")    \
  X(dicom, "DICOM")
