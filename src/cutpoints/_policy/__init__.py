"""The deployable rule: a policy file, its decisions everywhere, and whether it still holds.

- `policy` is the class, `rules` what it decides by, `record` what it knows of the data it was found on;
  `format` reads and writes the file, whose fields and schema `typed_json` takes from the dataclasses.
- Decisions are written once for each place: `decisions` for arrays and frames, `files` (with `file_segments`,
  and `ndjson` for JSON lines), `sql`, `python` and `onnx_graph`.
- `checks` asks whether it still performs, and says so in words. `tally` counts the new rows, `shift` tells
  whether scores have moved, `outcome` what labels say, by the goal as `judge` reads it, and `evidence` what
  repeated checks say together.
"""

from cutpoints._policy.checks import Check
from cutpoints._policy.policy import Policy
from cutpoints._policy.record import Distribution, FoundOn

__all__ = ["Check", "Distribution", "FoundOn", "Policy"]
