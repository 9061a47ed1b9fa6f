"""Fitted models as plain data: what predictions need and nothing else, with NumPy alone.

A family of estimators says once what it is (a `PlainForm`: scores, and how they decide). The small predictor, JSON,
ONNX, the model files of LIBLINEAR and LIBSVM, and scikit-learn's classes are all made from that.
"""
