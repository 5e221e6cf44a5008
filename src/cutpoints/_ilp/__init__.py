"""The 0-1 program of the best threshold: its matrices, its solver, and the recount of its answer.

- `forms`: the goal and its constraints as exact linear forms in TP and FP;
- `margin`: the scores as the program sees them, and the margin of its strict inequality;
- `program`: the matrices, in the form of the document and as a chain;
- `highs`: the solver, the only module that knows it;
- `time_limit`: the solver in a process of its own, where its time is limited;
- `run`: one or several solves, each answer recounted in integers;
- `files`: the program as an LP or MPS file.

`cutpoints.ilp` is the public face.
"""
