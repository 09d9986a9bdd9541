# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Hooks of mkdocs. Links that leave docs/ become text, since they lead nowhere on the site. Notebooks become pages."""
import json
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def on_files(files, config):
    # Imported here and not at the top, because the tests of this file run without mkdocs.
    from mkdocs.structure.files import File
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(json.loads(path.read_text("utf-8")))))
    return files


def on_page_markdown(markdown, page, **_):
    folder = (DOCS / page.file.src_uri).parent

    def plain(match):
        target = (folder / match[2].split("#")[0]).resolve()
        leads_away = not target.is_relative_to(DOCS) or target.is_dir()
        if leads_away and not re.match(r"https?://|#", match[2]):
            return match[1]
        return f"[{match[1]}]({re.sub(r'[.]ipynb$', '.md', match[2])})"
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", plain, markdown)


def notebook_page(notebook):
    """Markdown of a notebook: its texts, its code, and text and pictures of the outputs."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            text = "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n")
            if "image/png" in data:
                parts.append(f'<img alt="output of the cell above" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">')
            elif text:
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"
