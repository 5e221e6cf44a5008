"""What users bring, as answers to the three questions of `cutpoints._data.source`.

===================  ==========================================================================
kind of data         where to look
===================  ==========================================================================
whatever it is       `given`, the door: arrays, counted rows, or names of columns
arrays in memory     `arrays`; `probabilities` for those without labels; `_input`, `_labels`
files                `files`, which finds them (`_paths`), reads them (`_formats`), filters them
                     (`where`), and hands large ones to `batches`
streams              `batches`: DuckDB relations (`_duckdb`) and Polars lazy frames (`_polars`)
other lazy frames    `frames`, by GROUP BY: what is grouped by (`_expressions`, `_pieces`), what
                     is added up (`_frame_masses`, `_frame_labels`), what comes back (`_groups`)
rows with segments   `segmented`: `_keys`, `_keyed`, `_cells`
===================  ==========================================================================

Below them all: `blocks`, the kernel that counts; `_buckets` and `_steps`, the functions from scores
to buckets; `progress`; `_faults`, which says what is wrong with a stream.
"""
