"""Figures of the documentation, drawn while the site is built.

A page draws with a block that markdown-exec runs, in the folder of the repository::

    ```python exec="on" html="on"
    from tools.figures import svg
    print(svg(display))
    ```
"""

from __future__ import annotations

import io
import re
import zlib
from typing import Any


def svg(figure: Any, alt: str) -> str:
    """Return a figure of matplotlib, or a display of cutpoints, as SVG to stand in a page."""
    if hasattr(figure, "plot"):
        figure = figure.plot().figure_
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    drawn = re.search(r"<svg.*</svg>", buffer.getvalue(), flags=re.DOTALL)
    assert drawn is not None
    # A page has several figures, and matplotlib names its parts the same in each.
    mark = f"f{zlib.crc32(alt.encode()):x}"
    named = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{mark}-", drawn[0])
    return f'<figure class="drawn" role="img" aria-label="{alt}">{named}</figure>'
