"""One file per rival; each answers (threshold, value) for the best F1, or raises."""
