"""Random score sets, and minima of their cross-entropy under affine maps by other ways than the product's."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.optimize import brentq, minimize

LARGEST = np.finfo(float).max
POOL = np.array([-1e15, -1e6, -750.0, -1.0, 0.0, 1e-12, 0.1, 700.0, 1e6, 1e15])
PRIORS = (0.5, 0.1, 0.0148, 1e-4, 0.9)
Wide = np.longdouble


def _near(random, size):
    return random.normal(0, 3, size)


def _decades(random, size, most=15):
    return random.choice([-1.0, 1.0], size) * 10.0 ** random.uniform(-most, most, size)


def _cluster(random, size):
    scores = 1e15 + random.integers(-40, 40, size) / 8
    return np.where(random.random(size) < 0.2, _decades(random, size), scores)


def _extreme(random, size):
    ends = random.choice([LARGEST, -LARGEST, 1e308, -1e308, 5e-324, -5e-324, 0.0, 1e-300], size)
    return np.where(random.random(size) < 0.5, ends, random.normal(0, 1, size))


SHAPES = {
    "near": _near,
    "ties": lambda random, size: random.integers(-3, 4, size).astype(float),
    "decimals": lambda random, size: _near(random, size).round(1),
    "one side": lambda random, size: random.exponential(1.0, size),
    "heavy tails": lambda random, size: random.standard_cauchy(size),
    "pool": lambda random, size: random.choice(POOL, size),
    "decades": _decades,
    "hundreds of decades": lambda random, size: _decades(random, size, 300),
    "cluster": _cluster,
    "extreme": _extreme,
    "tiny": lambda random, size: random.integers(-9, 10, size) * 5e-324,
    "huge": lambda random, size: random.uniform(-1, 1, size) * LARGEST,
}


def binary_case(seed):
    """``(score, n_target, n_nontarget, prior)``: distinct ascending scores with weights of both classes."""
    random = np.random.default_rng(seed)
    shape, size = random.choice(list(SHAPES)), int(random.choice([2, 3, 4, 6, 10, 40, 300]))
    drawn = SHAPES[shape](random, size) + 0.0
    if random.random() < 0.15:
        drawn[random.random(size) < 0.2] = math.inf
    if random.random() < 0.15:
        drawn[random.random(size) < 0.2] = -math.inf
    order = np.argsort(drawn)
    better = random.random()  # how well scores tell targets
    noise = random.normal(0, 1, size)
    rank = np.empty(size)
    rank[order] = np.linspace(-2, 2, size)
    target = better * rank + (1 - better) * noise > random.choice([0.0, 1.0])
    if random.random() < 0.9:
        target = np.where(drawn == math.inf, True, np.where(drawn == -math.inf, False, target))
    target[order[-1]] |= not target.any()
    target[order[0]] &= not target.all()
    score, row = np.unique(drawn, return_inverse=True)
    weight = random.choice([1.0, 1.0, 2.0, 1000.0], size)
    n_target = np.bincount(row, target * weight, score.size)
    n_nontarget = np.bincount(row, ~target * weight, score.size)
    if random.random() < 0.6:  # what nobody submitted has the lowest score, or one of its own
        place = 0 if random.random() < 0.8 else random.integers(score.size)
        n_nontarget[place] += random.choice([14374.0, 1e8 + 1 / 3, 10794.5, 0.25])
        n_target[place] += float(random.integers(0, 3))
    return score, n_target, n_nontarget, float(random.choice(PRIORS))


def class_case(seed):
    """``(llh, labels, prior, multiplicity or None)`` of two to five classes, every one of which has a trial."""
    random = np.random.default_rng(seed)
    shape, k = random.choice(list(SHAPES)), int(random.integers(2, 6))
    size = int(random.choice([k, k + 2, 3 * k, 12 * k, 60 * k]))
    labels = np.append(np.arange(k), random.integers(0, k, size - k))
    llh = SHAPES[shape](random, (size, k)) + 0.0
    if random.random() < 0.7:  # the true class is often above the others
        best = np.where(random.random(size) < random.random(), llh.max(axis=1), llh[np.arange(size), labels])
        top = llh.argmax(axis=1)
        moved = best == llh.max(axis=1)
        llh[moved, top[moved]] = llh[moved, labels[moved]]
        llh[np.arange(size), labels] = best
    if random.random() < 0.2:
        llh = -llh
    prior = random.dirichlet(np.ones(k)) if random.random() < 0.5 else np.full(k, 1 / k)
    repeats = random.choice([1.0, 2.0, 50_000.0], size) if random.random() < 0.3 else None
    return llh, labels, tuple(prior.tolist()), repeats


def loss_of_tie(a, b):
    return sum(w * math.log1p(v / w) for w, v in ((a, b), (b, a)) if w > 0)


def binary_minimum(score, n_target, n_nontarget, prior):
    """inf over gamma >= 0 and delta, nats: nested root searches on the derivatives, in extended precision."""
    a, b = prior * n_target / n_target.sum(), (1 - prior) * n_nontarget / n_nontarget.sum()
    if (n_target[score == -math.inf] > 0).any() or (n_nontarget[score == math.inf] > 0).any():
        return loss_of_tie(prior, 1 - prior)
    kept = np.isfinite(score)
    s, a, b = score[kept].astype(Wide), a[kept], b[kept]
    if not (a > 0).any() or not (b > 0).any():
        return 0.0
    low, high = s[a > 0].min(), s[b > 0].max()
    if low >= high:
        return loss_of_tie(a[s == low].sum(), b[s == low].sum()) if low == high else 0.0
    constant = loss_of_tie(a.sum(), b.sum())
    if (a * (s - s[0])).sum() * b.sum() <= (b * (s - s[0])).sum() * a.sum():
        return constant
    return min(constant, _least_of_profile(s, a, b))


def _least_of_profile(s, a, b):
    gaps, best = np.diff(s), [math.inf]
    low, high = math.log(1e-6) - float(np.log(s[-1] - s[0])), math.log(1e5) - float(np.log(gaps.min()))
    middle = math.log(a.sum() / b.sum())

    def residual(z):
        with np.errstate(over="ignore"):
            return b / (1 + np.exp(-z)) - a / (1 + np.exp(z))

    def slope(log_gamma):
        gamma = np.exp(Wide(log_gamma))
        first, last = 0, s.size - 1
        while last - first > 1:
            half = (first + last) // 2
            first, last = (half, last) if residual(gamma * (s - s[half]) + middle).sum() >= 0 else (first, half)
        width = float(min(gamma * gaps[first], Wide(2e4)))
        near, far = middle, middle - width
        pivot = s[first]
        if residual(gamma * (s - pivot) + (middle - width / 2)).sum() > 0:  # nearer to the upper of both scores
            pivot, near, far = s[last], middle, middle + width
        edges = sorted((near, far))

        def balance(offset):
            return float(residual(gamma * (s - pivot) + offset).sum())

        ends = balance(edges[0]), balance(edges[1])
        offset = edges[int(abs(ends[1]) < abs(ends[0]))]
        if ends[0] * ends[1] < 0:
            offset = brentq(balance, *edges, maxiter=500)
        z = gamma * (s - pivot) + offset
        best[0] = min(best[0], float((a * np.logaddexp(0, -z) + b * np.logaddexp(0, z)).sum()))
        return (residual(z) * (s - pivot)).sum()

    while high - low > 1e-8:
        half = (low + high) / 2
        low, high = (half, high) if slope(half) < 0 else (low, half)
    return best[0]


def class_minimum(llh, labels, prior, repeats):
    """The least cross-entropy that scipy finds from many starts over all scales of the scores, nats."""
    rows = np.arange(labels.size)
    count = np.ones(labels.size) if repeats is None else repeats
    weight = (np.array(prior) / np.bincount(labels, count))[labels] * count
    llh = llh * (0.25 if np.abs(llh).max() > 1e300 else 1.0)
    d = llh - llh[rows, labels][:, None]
    sizes = np.unique(np.abs(d[d != 0]))
    if not sizes.size:
        return -math.fsum(p * math.log(p) for p in prior)
    scales = sizes[np.unique(np.linspace(0, sizes.size - 1, 5).astype(int))]
    return min(_from_start(d, labels, weight, np.log(prior), scale, sign) for scale in scales for sign in (1, -1))


def _from_start(d, labels, weight, log_prior, scale, sign):
    rows = np.arange(labels.size)
    with np.errstate(over="ignore"):
        x = d / scale
    if not np.isfinite(x).all():
        return math.inf

    def cost(theta):
        odds = theta[0] * x + theta[1:] + log_prior - (theta[1:] + log_prior)[labels][:, None]
        odds[rows, labels] = 0.0
        top = odds.max(axis=1)
        shares = np.exp(odds - top[:, None])
        total = shares.sum(axis=1)
        p = shares / total[:, None] * weight[:, None]
        p[rows, labels] -= weight
        return (weight * (top + np.log(total))).sum(), np.append((p * x).sum(), p.sum(axis=0))

    start = np.append(0.1 * sign, np.zeros(len(log_prior)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores that are many decades apart: another start does better
        found = minimize(cost, start, jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 300})
    return found.fun if math.isfinite(found.fun) else math.inf
