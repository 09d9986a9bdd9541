// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/dictionary.h"

#include <dcmtk/config/osconfig.h>

#include <array>
#include <memory>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcdicent.h>
#include <dcmtk/dcmdata/dcdict.h>

namespace roentgen::data {
namespace {

struct Element {
  DcmTagKey tag;
  DcmEVR vr;
  const char* name;
  /// Value multiplicity; DcmVariableVM: any number of values.
  int values = 1;
};

// Elements as in DICOM PS3.6, chapter 6. EVR_xs means US or SS, EVR_lt US, SS or OW, EVR_px OB or OW.
const std::array kElements{
    Element{DCM_SOPClassUID, EVR_UI, "SOPClassUID"},
    Element{DCM_SOPInstanceUID, EVR_UI, "SOPInstanceUID"},
    Element{DCM_Modality, EVR_CS, "Modality"},
    Element{DCM_PresentationIntentType, EVR_CS, "PresentationIntentType"},
    Element{DCM_CodeMeaning, EVR_LO, "CodeMeaning"},
    Element{DCM_PatientID, EVR_LO, "PatientID"},
    Element{DCM_PatientSex, EVR_CS, "PatientSex"},
    Element{DCM_PatientAge, EVR_AS, "PatientAge"},
    Element{DCM_BodyPartExamined, EVR_CS, "BodyPartExamined"},
    Element{DCM_ViewPosition, EVR_CS, "ViewPosition"},
    Element{DCM_SamplesPerPixel, EVR_US, "SamplesPerPixel"},
    Element{DCM_PhotometricInterpretation, EVR_CS, "PhotometricInterpretation"},
    Element{DCM_NumberOfFrames, EVR_IS, "NumberOfFrames"},
    Element{DCM_Rows, EVR_US, "Rows"},
    Element{DCM_Columns, EVR_US, "Columns"},
    Element{DCM_BitsAllocated, EVR_US, "BitsAllocated"},
    Element{DCM_BitsStored, EVR_US, "BitsStored"},
    Element{DCM_HighBit, EVR_US, "HighBit"},
    Element{DCM_PixelRepresentation, EVR_US, "PixelRepresentation"},
    Element{DCM_PixelPaddingValue, EVR_xs, "PixelPaddingValue"},
    Element{DCM_PixelPaddingRangeLimit, EVR_xs, "PixelPaddingRangeLimit"},
    Element{DCM_WindowCenter, EVR_DS, "WindowCenter", DcmVariableVM},
    Element{DCM_WindowWidth, EVR_DS, "WindowWidth", DcmVariableVM},
    Element{DCM_RescaleIntercept, EVR_DS, "RescaleIntercept"},
    Element{DCM_RescaleSlope, EVR_DS, "RescaleSlope"},
    Element{DCM_VOILUTFunction, EVR_CS, "VOILUTFunction"},
    Element{DCM_ModalityLUTSequence, EVR_SQ, "ModalityLUTSequence"},
    Element{DCM_LUTDescriptor, EVR_xs, "LUTDescriptor", 3},
    Element{DCM_LUTData, EVR_lt, "LUTData", DcmVariableVM},
    Element{DCM_VOILUTSequence, EVR_SQ, "VOILUTSequence"},
    Element{DCM_ViewCodeSequence, EVR_SQ, "ViewCodeSequence"},
    Element{DCM_PresentationLUTShape, EVR_CS, "PresentationLUTShape"},
    Element{DCM_PixelData, EVR_px, "PixelData"},
};

}  // namespace

void complete_dictionary() {
  DcmDataDictionary& dictionary = dcmDataDict.wrlock();
  for (const Element& element : kElements) {
    if (dictionary.findEntry(element.tag, nullptr) != nullptr) continue;
    auto entry = std::make_unique<DcmDictEntry>(element.tag.getGroup(), element.tag.getElement(), DcmVR(element.vr),
                                                element.name, 1, element.values, "DICOM", OFFalse, nullptr);
    dictionary.addEntry(entry.release());  // the dictionary owns it
  }
  dcmDataDict.wrunlock();
}

}  // namespace roentgen::data
