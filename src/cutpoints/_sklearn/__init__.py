"""scikit-learn: an estimator that tunes its threshold, and nested cross-validation around it.

`estimator` with its warnings of `leakage` and the `columns` that its goal adds up, `nested` with its
answer in `nested_result`, and `scoring`, which turns goals into scorers and back.
"""
