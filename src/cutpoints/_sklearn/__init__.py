"""scikit-learn: an estimator that tunes its threshold, and nested cross-validation around it."""
