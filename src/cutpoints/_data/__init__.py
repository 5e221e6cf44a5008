"""What users bring, as answers to the three questions of `cutpoints._data.source`.

===================  ==========================================================================
kind of data         where to look
===================  ==========================================================================
whatever it is       `read`, the door, makes a `data.Data`: arrays, counted rows, or names of columns
arrays in memory     `arrays`; `probabilities` for those without labels; `array_input`, `labels`
files                `files`, which finds them (`paths`), reads them (`formats`), filters them
                     (`where`), and hands large ones to `streaming`
streams              `streaming`: DuckDB relations (`duckdb_reader`) and Polars lazy frames
                     (`polars_reader`); `faults` says what is wrong with their rows
other lazy frames    `frames`, and `groupby` for those too large to collect: what is grouped by
                     (`expressions`, `bins`), what is added up (`groupby_sums`, `groupby_labels`)
rows with segments   `segment_keys`; `segments` in memory, `groupby_segments` in an engine
===================  ==========================================================================
"""
