# SPDX-License-Identifier: MIT
"""Sphinx's settings for the site; tools/docs runs it over the pages that pages.py writes."""

import garner

project = "garner"
author = "the authors of garner"
version = release = garner.__version__

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"garner {release}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
pygments_dark_style = "github-dark"
