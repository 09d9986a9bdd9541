# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Another distribution with a package of this name in the same folder."""
import pytest

from roentgen import _name_clash


def test_the_other_project_is_refused_by_name(tmp_path):
    (tmp_path / "roentgen_xray-0.1.0.dist-info").mkdir()
    _name_clash.check(tmp_path)
    (tmp_path / "roentgen-2.4.0.dist-info").mkdir()
    with pytest.raises(ImportError, match=r"expected only roentgen-xray, got roentgen-2\.4\.0 in the same folder; try"):
        _name_clash.check(tmp_path)
