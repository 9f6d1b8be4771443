"""The methods a practitioner would reach for instead, each as its authors describe it.

Long series are binned to a size each method can bear; averaging removes autocorrelation, so binning only helps a peer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import ruptures
from scipy.fft import dct
from scipy.optimize import curve_fit
from scipy.special import expit
from scipy.stats import norm, rankdata, t
from shapes import Array, facts
from simulate import clock
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.statespace.structural import UnobservedComponents


@dataclass(frozen=True, slots=True)
class Direction:
    """A signed statistic (positive: rising) and what the method decides at its nominal 5 %: -1, 0 or +1."""

    statistic: float
    decision: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """A normal forecast of the level of the true curve."""

    mean: float
    sd: float

    def interval(self) -> tuple[float, float]:
        """The central 80 %."""
        reach = norm.ppf(0.9) * self.sd
        return self.mean - reach, self.mean + reach

    def samples(self, count: int = 500) -> Array:
        """Evenly spread quantiles: a sample without sampling error."""
        return norm.ppf((np.arange(count) + 0.5) / count) * self.sd + self.mean


def binned(values: Array, most: int) -> Array:
    """Means of equal neighbouring groups, at most `most` of them."""
    if values.size <= most:
        return values
    return np.array([part.mean() for part in np.array_split(values, most)])


def _decide(statistic: float, bar: float) -> Direction:
    if not np.isfinite(statistic):
        return Direction(0.0, 0)
    return Direction(float(statistic), int(np.sign(statistic)) if abs(statistic) > bar else 0)


def _slope_and_scores(values: Array) -> tuple[float, Array, float]:
    """Least-squares slope, its score series (regressor times residual) and the sum of squares of the regressor."""
    time = np.arange(values.size) - (values.size - 1) / 2
    square = float(time @ time)
    slope = float(time @ values) / square
    return slope, time * (values - values.mean() - slope * time), square


def newey_west(values: Array) -> Direction:
    """Slope test with Bartlett-kernel errors and the usual 4(n/100)^(2/9) lags (Newey & West 1987, 1994)."""
    slope, scores, square = _slope_and_scores(values)
    lags = int(4 * (values.size / 100) ** (2 / 9))
    spread = scores @ scores
    for lag in range(1, lags + 1):
        spread += 2 * (1 - lag / (lags + 1)) * (scores[lag:] @ scores[:-lag])
    return _decide(slope * square / np.sqrt(max(spread, 1e-300)), norm.ppf(0.975))


def equal_weighted_cosine(values: Array) -> Direction:
    """Slope test with B = .4 n^(2/3) equally weighted cosines and t(B) critical values (Lazarus et al. 2018)."""
    slope, scores, square = _slope_and_scores(values)
    count = max(int(0.4 * values.size ** (2 / 3)), 1)
    weights = dct(scores, type=2)[1 : count + 1] / np.sqrt(2.0)  # sqrt(2) times the sum of score times cosine
    return _decide(slope * square / np.sqrt(max(np.mean(weights**2), 1e-300)), t.ppf(0.975, count))


def _pairwise(values: Array) -> tuple[float, float]:
    """Kendall's S and Sen's slope from all pairs."""
    later, earlier = np.triu_indices(values.size, 1)[::-1]
    change = values[later] - values[earlier]
    return float(np.sign(change).sum()), float(np.median(change / (later - earlier)))


def _kendall_z(score: float, variance: float) -> float:
    return (score - np.sign(score)) / np.sqrt(max(variance, 1e-300))


def hamed_rao(values: Array) -> Direction:
    """Mann-Kendall, variance corrected for significant rank autocorrelation (Hamed & Rao 1998); <= 500 bins."""
    values = binned(values, 500)
    n = values.size
    score, slope = _pairwise(values)
    ranks = rankdata(values - slope * np.arange(n))
    ranks -= ranks.mean()
    spectrum = np.abs(np.fft.rfft(ranks, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[1 : n - 1] / max(float(ranks @ ranks), 1e-300)
    lag = np.arange(1, n - 1)
    significant = np.abs(correlation) > norm.ppf(0.975) / np.sqrt(n)
    terms = (n - lag) * (n - lag - 1.0) * (n - lag - 2.0) * correlation * significant
    correction = 1 + 2 * terms.sum() / (n * (n - 1.0) * (n - 2.0))
    variance = n * (n - 1.0) * (2 * n + 5.0) / 18
    # A negative correction is a known defect of the method; we then keep the plain variance.
    return _decide(_kendall_z(score, variance * (correction if correction > 0 else 1.0)), norm.ppf(0.975))


def trend_free_prewhitening(values: Array) -> Direction:
    """Mann-Kendall after trend-free prewhitening (Yue et al. 2002); <= 500 bins."""
    values = binned(values, 500)
    _, slope = _pairwise(values)
    time = np.arange(values.size)
    flat = values - slope * time
    flat = flat - flat.mean()
    lag_one = float(flat[1:] @ flat[:-1]) / max(float(flat @ flat), 1e-300)
    n = values.size - 1
    score, _ = _pairwise(flat[1:] - lag_one * flat[:-1] + slope * time[1:])
    return _decide(_kendall_z(score, n * (n - 1.0) * (2 * n + 5.0) / 18), norm.ppf(0.975))


def local_linear_trend(values: Array) -> Direction:
    """Filtered slope now over its standard error in a local linear trend (Harvey 1989; statsmodels); <= 256 bins."""
    values = binned(values, 256)
    values = (values - values.mean()) / max(float(values.std()), 1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = UnobservedComponents(values, "lltrend").fit(disp=False, maxiter=50)
    slope, variance = fit.filtered_state[1, -1], fit.filtered_state_cov[1, 1, -1]
    return _decide(slope / np.sqrt(max(variance, 1e-300)), norm.ppf(0.975))


DIRECTIONS: dict[str, Callable[[Array], Direction]] = {
    "Newey-West": newey_west,
    "EWC": equal_weighted_cosine,
    "Hamed-Rao": hamed_rao,
    "TFPW": trend_free_prewhitening,
    "local linear trend": local_linear_trend,
}


def _long_run(residuals: Array) -> tuple[float, float]:
    """Variance and long-run variance of residuals, the latter by a first-order autoregression."""
    variance = float(residuals @ residuals) / residuals.size
    phi = float(residuals[1:] @ residuals[:-1]) / max(float(residuals @ residuals), 1e-300)
    phi = float(np.clip(phi, 0.0, 0.97))
    return variance, variance * (1 + phi) / (1 - phi)


def _line_fit(part: Array) -> Array:
    time = np.arange(part.size)
    return np.polyval(np.polyfit(time, part, 1), time) if part.size > 2 else np.full(part.size, part.mean())


def _detrended(values: Array, pieces: int = 8) -> Array:
    """Residuals of lines over equal pieces: what is left has no break big enough to pass for autocorrelation."""
    parts = np.array_split(values, min(pieces, max(values.size // 12, 1)))
    return np.concatenate([part - _line_fit(part) for part in parts])


def piecewise_linear(values: Array) -> str:
    """One of the five shapes from free piecewise lines (ruptures PELT; <= 512 bins, long-run-variance penalty).

    The fitted curve is read by the very definitions that the truth is read by.
    """
    values = binned(values, 512)
    m = values.size
    _, long_run = _long_run(_detrended(values))
    columns = np.column_stack([values, np.arange(m) / m, np.ones(m)])
    gap = max(m // 64, 1)
    search = ruptures.Pelt(model="linear", min_size=max(m // 20, 5), jump=gap).fit(columns)
    ends = _refined(values, search.predict(pen=3 * long_run * np.log(m)), gap)
    fitted = np.concatenate([_line_fit(part) for part in np.split(values, ends[:-1])])
    gain = float(np.sum((values - values.mean()) ** 2) - np.sum((values - fitted) ** 2))
    if len(ends) == 1 and gain < 3.84 * long_run:
        return "noise"
    if len(ends) == 2 and _is_step(fitted[: ends[0]], fitted[ends[0] :], long_run):
        return "step"
    if len(ends) == 3 and ends[1] - ends[0] <= m // 8 and _is_step(fitted[: ends[0]], fitted[ends[1] :], long_run):
        return "step"
    seen = facts(lambda u: np.interp(u, clock(m), fitted))
    return {"rising": "rising", "flat": "plateau"}.get(seen.state, "peaked")


def _refined(values: Array, ends: list[int], gap: int) -> list[int]:
    """Break points moved to where two lines fit best nearby (the search looks only at every gap-th point)."""
    for k, place in enumerate(ends[:-1]):
        low, high = ([0, *ends][k], ends[k + 1])

        def cost(at: int, low: int = low, high: int = high) -> float:
            return sum(float(np.sum((part - _line_fit(part)) ** 2)) for part in (values[low:at], values[at:high]))

        near = range(max(place - gap, low + 3), min(place + gap, high - 3) + 1)
        ends = [*ends[:k], min(near, key=cost, default=place), *ends[k + 1 :]]
    return ends


def _is_step(before: Array, after: Array, long_run: float) -> bool:
    """Two pieces that do not move by themselves: no significant slope, or less than 15 % of the jump between them."""
    jump = abs(float(after[0] - before[-1]))

    def still(part: Array) -> bool:
        return float(np.sum((part - part.mean()) ** 2)) < 3.84 * long_run or float(np.ptp(part)) < 0.15 * jump

    return still(before) and still(after)


def damped_trend(values: Array, at: Array) -> list[Forecast]:
    """Damped additive trend (Gardner & McKenzie 1985; statsmodels) on <= 200 bins.

    The spread is that of the level: the innovations' recursion, plus the steady-state error of the level now, and
    without the noise of the point that would be logged.
    """
    values = binned(values, 200)
    m = values.size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ExponentialSmoothing(values, trend="add", damped_trend=True, initialization_method="heuristic").fit()
        ahead = np.maximum(np.round((at - 1) * m).astype(int), 1)
        means = fit.forecast(int(ahead.max()))
    alpha, beta, damping = (float(fit.params[k]) for k in ("smoothing_level", "smoothing_trend", "damping_trend"))
    variance = float(np.mean(fit.resid**2))
    weights = alpha + alpha * beta * np.cumsum(damping ** np.arange(1, int(ahead.max()) + 1))
    growth = np.concatenate([[0.0], np.cumsum(weights**2)])
    return [Forecast(float(means[h - 1]), float(np.sqrt(variance * (alpha + growth[h - 1])))) for h in ahead]


def _sigmoid(u: Array, base: float, height: float, centre: float, width: float) -> Array:
    return base + height * expit((u - centre) / width)


def sigmoid_fit(values: Array, at: Array) -> list[Forecast]:
    """Least-squares sigmoid on <= 256 bins; normal errors by the delta method, widened for autocorrelated residuals."""
    values = binned(values, 256)
    u, span = clock(values.size), max(float(np.ptp(values)), 1e-12)
    limits = ([-np.inf, -10 * span, -1.0, 0.01], [np.inf, 10 * span, 3.0, 2.0])
    height = span if values[-(values.size // 3) :].mean() > values[: values.size // 3].mean() else -span
    best, cost = None, np.inf
    for centre in (0.2, 0.6, 1.2):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = (values[0], height, centre, 0.2)
                found, spread = curve_fit(_sigmoid, u, values, start, bounds=limits, max_nfev=200)
        except RuntimeError:  # no convergence from this start
            continue
        error = float(np.sum((values - _sigmoid(u, *found)) ** 2))
        if error < cost:
            best, cost = (found, spread), error
    if best is None:
        return [Forecast(float(values[-1]), span) for _ in at]
    found, spread = best
    variance, long_run = _long_run(values - _sigmoid(u, *found))
    return [_delta(found, spread * long_run / max(variance, 1e-300), float(where), 3 * span) for where in at]


def _delta(found: Array, spread: Array, where: float, widest: float) -> Forecast:
    nudge = 1e-5 * np.maximum(np.abs(found), 1e-3)
    mean = float(_sigmoid(np.array(where), *found))
    slope = np.array([(float(_sigmoid(np.array(where), *(found + h))) - mean) / h.sum() for h in np.diag(nudge)])
    variance = float(slope @ spread @ slope)
    return Forecast(mean, min(float(np.sqrt(max(variance, 0.0))), widest) if np.isfinite(variance) else widest)


def no_change(values: Array, at: Array) -> list[Forecast]:
    """The mean of the last tenth stays as it is; its error is the long-run one. The forecast anyone can make by eye."""
    tail = values[-max(values.size // 10, 3) :]
    _, long_run = _long_run(_detrended(values))
    sd = np.sqrt(long_run / tail.size)
    return [Forecast(float(tail.mean()), float(sd)) for _ in at]


FORECASTS: dict[str, Callable[[Array, Array], list[Forecast]]] = {
    "damped ETS": damped_trend,
    "sigmoid": sigmoid_fit,
    "no change": no_change,
}


def _isotonic_errors(values: Array) -> tuple[Array, list[tuple[int, int]]]:
    """Sum of squared errors of the rising fit to each prefix, and the extent of that fit's last (highest) block."""
    blocks: list[tuple[float, int, float]] = []  # total, count, squared error saved (count * mean^2)
    errors, extents, squares, saved = np.zeros(values.size), [], 0.0, 0.0
    for i, value in enumerate(values):
        squares += value**2
        total, count = float(value), 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before, size, kept = blocks.pop()
            total, count, saved = total + before, count + size, saved - kept
        kept = total**2 / count
        blocks.append((total, count, kept))
        saved += kept
        errors[i] = squares - saved
        extents.append((i - count + 1, i))
    return errors, extents


def unimodal_peak(values: Array) -> float:
    """Peak location (as u) of the least-squares up-then-down fit (Frisen 1986); <= 512 bins."""
    values = binned(values, 512)
    values = values - values.mean()
    m = values.size
    rising, up = _isotonic_errors(values)
    falling, down = _isotonic_errors(values[::-1])
    split = int(np.argmin(rising[:-1] + falling[::-1][1:]))
    left, right = up[split], down[m - 2 - split]
    right = (m - 1 - right[1], m - 1 - right[0])
    higher = values[left[0] : left[1] + 1].mean() >= values[right[0] : right[1] + 1].mean()
    first, last = left if higher else right
    return float((first + last) / 2 + 1) / m


def raw_maximum(values: Array, places: Array) -> tuple[int, float]:
    """The checkpoint with the highest logged value, and that value as its estimate."""
    seen = values[places]
    return int(seen.argmax()), float(seen.max())


def smoothed_maximum(values: Array, places: Array, weight: float = 0.9) -> tuple[int, float]:
    """The checkpoint with the highest exponential moving average (weight .9, debiased as in TensorBoard)."""
    average, smooth = 0.0, np.empty(values.size)
    for i, value in enumerate(values):
        average = weight * average + (1 - weight) * value
        smooth[i] = average / (1 - weight ** (i + 1))
    return raw_maximum(smooth, places)


def _pelt(values: Array, penalty: float) -> Array:
    search = ruptures.KernelCPD(kernel="linear", min_size=3).fit(values[:, None])
    return np.array(search.predict(pen=penalty)[:-1], dtype=float) / values.size


def pelt_iid(values: Array) -> Array:
    """Mean breaks (as u) by PELT (Killick 2012), penalty 2 s^2 log n as for independent noise; <= 1000 bins."""
    values = binned(values, 1000)
    variance, _ = _long_run(_detrended(values, 16))
    return _pelt(values, 2 * variance * np.log(values.size))


def pelt_long_run(values: Array) -> Array:
    """Mean breaks (as u) by PELT, penalty with the long-run variance (methods.md pitfall 3); <= 1000 bins."""
    values = binned(values, 1000)
    _, long_run = _long_run(_detrended(values, 16))
    return _pelt(values, 2 * long_run * np.log(values.size))


def cusum(values: Array) -> Array:
    """Alarms (as u) of Page's two-sided CUSUM (1954) with a slack of .5 sd, restarted after each alarm.

    Level and sd come from the first tenth of each stretch; the bar gives 10 n points between false alarms if the noise
    were independent (Siegmund 1985).
    """
    found, start, n = [], 0, values.size
    warm, bar = max(n // 10, 20), np.log(10 * n) - 1.166
    while start + warm < n:
        base = values[start : start + warm]
        alarm = _first_alarm((values[start + warm :] - base.mean()) / max(float(base.std()), 1e-300), bar)
        if alarm is None:
            break
        start += warm + alarm
        found.append(start / n)
    return np.array(found)


def _first_alarm(scaled: Array, bar: float, slack: float = 0.5) -> int | None:
    """The first point at which either one-sided sum passes the bar; a one-sided sum is a walk above its own minimum."""
    alarms = []
    for side in (scaled, -scaled):
        walk = np.cumsum(side - slack)
        over = walk - np.minimum(np.minimum.accumulate(walk), 0.0) > bar
        if over.any():
            alarms.append(int(over.argmax()))
    return min(alarms, default=None)


BREAKS: dict[str, Callable[[Array], Array]] = {
    "PELT, iid penalty": pelt_iid,
    "PELT, long-run penalty": pelt_long_run,
    "CUSUM": cusum,
}
