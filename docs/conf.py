"""Sphinx configuration: `pip install -e '.[docs]' && python -m sphinx -W docs build/site` builds the site, offline."""

from __future__ import annotations

project = "Leadline"
html_title = "Leadline"
extensions = ["myst_parser"]
exclude_patterns = ["service", "screenshots"]
myst_heading_anchors = 3  # so that a link may name a heading of another page
myst_enable_extensions = ["html_image"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
