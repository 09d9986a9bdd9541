# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Closed formulas for weights, batches and projections of the parity tests; C++ twin: tests/parity/formula.h.

Everything is a pure function of a name and an index, made of integer hashing and exactly rounded float64 operations,
so Python and C++ get the same bits. All arithmetic is modulo 2^64.

  key(name)  = FNV-1a, 64 bit, of the UTF-8 bytes
  mix(k, i)  = the i-th output of SplitMix64 started at k (Steele, Lea, Flood 2014):
               z = k + (i + 1) * 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
               z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31
  u(name, i) = ((mix(key(name), i) >> 40) - 2^23) / 2^23, in [-1, 1)

Parameters, rounded to float32 after one float64 operation each; n = row-major index:
  weight of a convolution  (OC, IC/groups, KH, KW)   sqrt(6 / (IC/groups * KH * KW)) * u   (He et al. 2015, uniform)
  weight of a linear layer (OC, IC)                  sqrt(1 / IC) * u                      (torch's default range)
  bias of either                                     0.1 * u
  scale of a batch norm                              0.75 + 0.25 * u
  its shift                                          0.1 * u
  its running mean / running variance                0.1 * u  /  1 + 0.25 * u
Batch b (names "image#b", "coarse#b", "label#b", "mask#b"):
  image  (N, C, H, W)   0.5 * u("image#b", n) + u("coarse#b", ((sample * C + c) * (H / 8) + h / 8) * (W / 8) + w / 8)
  labels (N, K)         1 where u("label#b", n) > 0.5, else 0
  mask   (N, K)         0 (unknown) where u("mask#b", n) > 0.8, else 1
Projection k < 64 of a tensor t: sum over n of +-t[n], minus where bit k of mix(key(name + "#projection"), n) is set.
For a difference d of two tensors, the mean over k of projection_k(d)^2 is an unbiased estimate of |d|^2, with a
relative standard deviation of sqrt(2 / K) (Johnson and Lindenstrauss 1984; Achlioptas 2003 for signs).
"""
import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def key(name):
    value = 14695981039346656037
    for byte in name.encode():
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return value


def mix(start, indices):
    with np.errstate(over="ignore"):
        z = np.uint64(start) + (indices.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(name, indices):
    return ((mix(key(name), indices) >> np.uint64(40)).astype(np.float64) - 8388608.0) / 8388608.0


def parameter(name, shape):
    """float32 value of a parameter or running statistic with this torchvision name and shape."""
    u = uniform(name, np.arange(int(np.prod(shape))))
    leaf = name.rsplit(".", 1)[-1]
    if len(shape) == 4:
        values = np.sqrt(6.0 / float(np.prod(shape[1:]))) * u
    elif len(shape) == 2:
        values = np.sqrt(1.0 / float(shape[1])) * u
    elif leaf == "running_var":
        values = 1.0 + 0.25 * u
    elif leaf == "weight":
        values = 0.75 + 0.25 * u
    else:
        values = 0.1 * u
    return values.astype(np.float32).reshape(shape)


def batch(index, shape, labels):
    """Batch as (image, labels, mask), float32."""
    n, c, h, w = shape
    image = 0.5 * uniform(f"image#{index}", np.arange(n * c * h * w)).reshape(shape)
    coarse = uniform(f"coarse#{index}", np.arange(n * c * (h // 8) * (w // 8))).reshape(n, c, h // 8, w // 8)
    image = image + coarse.repeat(8, axis=2).repeat(8, axis=3)
    cells = np.arange(n * labels)
    target = (uniform(f"label#{index}", cells) > 0.5).astype(np.float32).reshape(n, labels)
    mask = (uniform(f"mask#{index}", cells) <= 0.8).astype(np.float32).reshape(n, labels)
    return image.astype(np.float32), target, mask


def project(name, tensor, count):
    """First `count` projections of a float64 tensor."""
    flat = tensor.astype(np.float64).reshape(-1)
    start = key(name + "#projection")
    sums = np.zeros(count)
    for begin in range(0, flat.size, 1 << 18):
        part = flat[begin : begin + (1 << 18)]
        bits = mix(start, np.arange(begin, begin + part.size))
        for k in range(count):
            sign = 1.0 - 2.0 * ((bits >> np.uint64(k)) & np.uint64(1)).astype(np.float64)
            sums[k] += sign @ part
    return sums
