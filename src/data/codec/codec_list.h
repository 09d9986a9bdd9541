// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of image codecs; order = order of probing. A new codec is one file x.cpp that defines
// `const Codec& codec_x()` (see codec_table.h) plus one line here.
//   X(name, how messages call it)
#pragma once

#define RG_CODECS(X) \
  X(png, "PNG")      \
  X(jpeg, "JPEG")    \
  X(dicom, "DICOM")
