# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Hook of mkdocs: a link that leaves docs/, to a source or a folder, becomes its text. On the site it would lead nowhere."""
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def on_page_markdown(markdown, page, **_):
    folder = (DOCS / page.file.src_uri).parent

    def plain(match):
        target = (folder / match[2].split("#")[0]).resolve()
        leads_away = not target.is_relative_to(DOCS) or target.is_dir()
        return match[1] if leads_away and not re.match(r"https?://|#", match[2]) else match[0]
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", plain, markdown)
