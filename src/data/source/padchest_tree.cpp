// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/padchest_tree.h"

#include <algorithm>
#include <array>
#include <string>

#include "data/source/finding_names.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

/// Labels related to a finding, in small letters; unused entries at the end are empty.
struct Family {
  /// finding_key() of the finding, compared by spelling_key().
  std::string_view finding;
  /// All labels below it in the tree, which imply it.
  std::array<std::string_view, 16> narrower;
  /// Other labels with which the finding may be present. Labels above it in the tree always count as such.
  std::array<std::string_view, 8> open;
};

/// NIH's findings that have relatives in the tree, followed by other labels that have labels below them.
constexpr std::array kFamilies{
    Family{"atelectasis",
           {"total atelectasis", "lobar atelectasis", "segmental atelectasis", "laminar atelectasis",
            "round atelectasis", "atelectasis basal"},
           {"volume loss", "hypoexpansion", "hypoexpansion basal", "increased density"}},
    Family{"cardiomegaly", {}, {"pericardial effusion"}},
    Family{"effusion",
           {"loculated pleural effusion", "loculated fissural effusion", "hydropneumothorax", "empyema", "hemothorax"},
           {"costophrenic angle blunting"}},
    // NIH distinguishes Consolidation and Infiltration. So labels below consolidation in the tree only make
    // Infiltration possible.
    Family{"infiltration",
           {"interstitial pattern", "ground glass pattern", "reticular interstitial pattern",
            "reticulonodular interstitial pattern", "miliary opacities", "alveolar pattern"},
           {"consolidation", "air bronchogram", "increased density"}},
    // A mass in the tree can be in any structure of the thorax, NIH's Mass is in the lung.
    Family{"mass",
           {},
           {"mass", "mediastinal mass", "pleural mass", "breast mass", "soft tissue mass", "lung metastasis",
            "lepidic adenocarcinoma"}},
    Family{"nodule",
           {"multiple nodules"},
           {"pseudonodule", "granuloma", "calcified granuloma", "lung metastasis", "lepidic adenocarcinoma"}},
    Family{"pneumonia",
           {"atypical pneumonia", "viral pneumonia", "covid 19"},
           {"covid 19 uncertain", "tuberculosis", "abscess"}},
    Family{"pneumothorax", {"hydropneumothorax"}, {}},
    // The tree has air bronchograms both below consolidation and next to it.
    Family{"consolidation", {}, {"air bronchogram", "alveolar pattern", "infiltrates", "increased density"}},
    Family{"edema",
           {},
           {"kerley lines", "hilar congestion", "heart insufficiency", "vascular redistribution",
            "central vascular redistribution", "pulmonary venous hypertension", "respiratory distress"}},
    Family{
        "emphysema",
        {},
        {"copd signs", "hyperinflated lung", "air trapping", "bullas", "flattened diaphragm", "lung vascular paucity"}},
    Family{"fibrosis",
           {"post radiotherapy changes", "asbestosis signs"},
           {"fibrotic band", "reticular interstitial pattern", "tuberculosis sequelae", "chronic changes"}},
    Family{"pleural thickening",
           {"apical pleural thickening", "calcified pleural thickening"},
           {"pleural plaques", "calcified pleural plaques", "costophrenic angle blunting", "fissure thickening",
            "minor fissure thickening", "major fissure thickening"}},

    Family{"interstitial pattern",
           {"ground glass pattern", "reticular interstitial pattern", "reticulonodular interstitial pattern",
            "miliary opacities"},
           {"infiltrates"}},
    Family{"alveolar pattern", {"consolidation", "air bronchogram"}, {"infiltrates"}},
    Family{"calcified densities",
           {"calcified granuloma", "calcified adenopathy", "calcified mediastinal adenopathy",
            "calcified pleural thickening", "calcified pleural plaques", "heart valve calcified",
            "calcified fibroadenoma"},
           {}},
    Family{"granuloma", {"calcified granuloma"}, {}},
    Family{"adenopathy", {"calcified adenopathy", "calcified mediastinal adenopathy"}, {}},
    Family{"calcified adenopathy", {"calcified mediastinal adenopathy"}, {}},
    Family{"pseudonodule", {"nipple shadow", "end on vessel"}, {}},
    Family{"fissure thickening",
           {"minor fissure thickening", "major fissure thickening", "loculated fissural effusion"},
           {}},
    Family{"pleural plaques", {"calcified pleural plaques"}, {}},
    Family{"vascular redistribution", {"central vascular redistribution"}, {}},
    Family{"hilar enlargement",
           {"adenopathy", "calcified adenopathy", "calcified mediastinal adenopathy", "vascular hilar enlargement",
            "pulmonary artery enlargement"},
           {}},
    Family{"vascular hilar enlargement", {"pulmonary artery enlargement"}, {}},
    Family{"aortic elongation",
           {"descendent aortic elongation", "ascendent aortic elongation", "aortic button enlargement",
            "supra aortic elongation"},
           {}},
    Family{"mediastinal enlargement",
           {"superior mediastinal enlargement", "goiter", "supra aortic elongation", "descendent aortic elongation",
            "ascendent aortic elongation", "aortic aneurysm", "mediastinal mass", "hiatal hernia"},
           {}},
    Family{"superior mediastinal enlargement", {"goiter", "supra aortic elongation"}, {}},
    Family{"thoracic cage deformation",
           {"scoliosis", "kyphosis", "pectum excavatum", "pectum carinatum", "cervical rib"},
           {}},
    Family{"vertebral degenerative changes", {"vertebral compression", "vertebral anterior compression"}, {}},
    Family{"vertebral compression", {"vertebral anterior compression"}, {}},
    Family{"sclerotic bone lesion", {"blastic bone lesion"}, {}},
    Family{"fracture",
           {"clavicle fracture", "humeral fracture", "vertebral fracture", "rib fracture", "callus rib fracture"},
           {}},
    Family{"rib fracture", {"callus rib fracture"}, {}},
    Family{"tuberculosis", {"tuberculosis sequelae"}, {}},
    Family{"atypical pneumonia", {"viral pneumonia", "covid 19"}, {"covid 19 uncertain"}},
    Family{"viral pneumonia", {"covid 19"}, {"covid 19 uncertain"}},
    Family{"pulmonary hypertension", {"pulmonary artery hypertension", "pulmonary venous hypertension"}, {}},
    Family{"catheter",
           {"central venous catheter", "central venous catheter via subclavian vein",
            "central venous catheter via jugular vein", "reservoir central venous catheter",
            "central venous catheter via umbilical vein"},
           {}},
    Family{"central venous catheter",
           {"central venous catheter via subclavian vein", "central venous catheter via jugular vein",
            "reservoir central venous catheter", "central venous catheter via umbilical vein"},
           {}},
    Family{"electrical device", {"dual chamber device", "single chamber device", "pacemaker", "dai"}, {}},
    Family{"artificial heart valve", {"artificial mitral heart valve", "artificial aortic heart valve"}, {}},
    Family{"surgery",
           {"metal", "osteosynthesis material", "sternotomy", "suture material", "bone cement", "prosthesis",
            "humeral prosthesis", "mammary prosthesis", "endoprosthesis", "aortic endoprosthesis", "surgery breast",
            "mastectomy", "surgery neck", "surgery lung", "surgery heart", "surgery humeral"},
           {}},
    Family{"metal", {"osteosynthesis material", "sternotomy", "suture material"}, {}},
    Family{"prosthesis", {"humeral prosthesis", "mammary prosthesis", "endoprosthesis", "aortic endoprosthesis"}, {}},
    Family{"endoprosthesis", {"aortic endoprosthesis"}, {}},
    Family{"surgery breast", {"mastectomy"}, {}},
};

bool is_spelled(std::string_view one, std::string_view other) { return spelling_key(one) == spelling_key(other); }

template <std::size_t Count>
bool has(const std::array<std::string_view, Count>& names, std::string_view name) {
  return std::ranges::any_of(names, [name](std::string_view one) { return !one.empty() && is_spelled(one, name); });
}

const Family* family_of(std::string_view key) {
  const auto* found =
      std::ranges::find_if(kFamilies, [key](const Family& one) { return is_spelled(one.finding, key); });
  return found == kFamilies.end() ? nullptr : found;
}

}  // namespace

PadchestRelation padchest_relation(std::string_view finding, std::string_view named) {
  const std::string_view name = stripped(named);
  if (name.empty()) return PadchestRelation::None;
  if (name == stripped(finding)) return PadchestRelation::Means;
  const std::string key = finding_text_key(finding), named_key = finding_text_key(name);
  if (const Family* family = family_of(key)) {
    // Tested before equal keys, because "mass" has the key of NIH's Mass but only makes it possible.
    if (has(family->open, name)) return PadchestRelation::Open;
    if (has(family->narrower, name)) return PadchestRelation::Means;
  }
  if (key == named_key) return PadchestRelation::Means;
  const Family* wider = family_of(named_key);
  const bool is_below = wider != nullptr && std::ranges::any_of(wider->narrower, [&key](std::string_view below) {
                          return !below.empty() && finding_text_key(below) == key;
                        });
  return is_below ? PadchestRelation::Open : PadchestRelation::None;
}

}  // namespace roentgen::data
