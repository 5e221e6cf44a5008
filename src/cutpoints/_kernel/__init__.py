"""Sums of rows: fixed-point weights, bins, histograms, distinct scores and cuts."""
