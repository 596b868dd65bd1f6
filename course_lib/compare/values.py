"""Tell how a value differs from the right one in a teacher's words: opposite sign, four times too large, transposed.

`compare` walks two values of the same form (numbers, arrays, and tuples, lists and dicts of them) and returns the first
`Difference`, or None; `compare_form` stops before the values. Form comes before content: type, keys, shape, kind of
dtype, finiteness, and only then the values. The visible checks in a student's notebook and the judge of the hidden
checks both speak through this module.

Nothing here trusts the student's objects: a value is taken apart only if its type is exactly one of Python's or NumPy's
own plain types, so that a subclass whose `==` is always true is a wrong type and not a right answer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from course_lib.difference import Difference

__all__ = ["Difference", "Tolerance", "compare", "compare_form", "show", "show_both", "tolerance_for"]


class Tolerance(NamedTuple):
    """How far a right answer may be off: `relative * |wanted| + scaled * max|wanted| + floor`, for each value."""

    relative: float
    scaled: float
    """share of the largest wanted value: what rounding leaves where a sum nearly cancels"""
    floor: float
    """absolute, for arrays that are zero but for rounding"""


# A hundred times what correct programs were seen to differ by (summation order, float32 on the way), and a hundred
# times less than the mildest known mistake.
_TOLERANCES = {
    "float64": Tolerance(1e-5, 1e-6, 1e-9),
    "float32": Tolerance(1e-4, 1e-5, 1e-6),
    "float16": Tolerance(1e-2, 1e-3, 1e-3),
    "bfloat16": Tolerance(4e-2, 1e-2, 1e-2),
}
_THROUGHOUT = {**_TOLERANCES, "float64": Tolerance(1e-9, 1e-12, 1e-14)}
"""where every step was computed in the dtype of the result, as between two frameworks that are given the same arrays"""
_EXACT = Tolerance(0.0, 0.0, 0.0)
_HALF = ("float16", "bfloat16")


def compare(
    name: str,
    got: object,
    wanted: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    names: Sequence[str] | None = None,
    batch: int | None = None,
) -> Difference | None:
    """The first difference between `got` and `wanted`, or None if there is none that matters.

    name: what the student calls the value; `names` names the parts when `wanted` is a tuple or list.
    wanted: number, array, str, bool or None, or a tuple, list or dict of such. Where it is an array, `got` may also be
        a list of numbers; where it is a tuple or list, either will do; a number and a 0-d array are the same.
    rtol, atol: replace the default tolerance, which follows the less precise of the two dtypes.
    batch: number of rows averaged over; a factor of exactly `batch` or `1 / batch` is then called by its name.
    """
    return _compare(name, got, wanted, _Rule(rtol, atol, batch), names)


def compare_form(name: str, got: object, wanted: object, *, names: Sequence[str] | None = None) -> Difference | None:
    """As `compare`, but any finite values will do: type, keys, shape and kind of dtype are those of `wanted`."""
    return _compare(name, got, wanted, _Rule(form_only=True), names)


def tolerance_for(
    *dtypes: np.dtype[Any], rtol: float | None = None, atol: float | None = None, throughout: bool = False
) -> Tolerance:
    """The widest of the tolerances of `dtypes`; `rtol` and `atol` replace it (the one not given is then 0).

    The last of `dtypes` is that of the right value: half precision widens the tolerance only where it is asked for.
    throughout: no step was computed in another dtype, so that float64 may be held to more digits.
    """
    if rtol is not None or atol is not None:
        return Tolerance(rtol or 0.0, 0.0, atol or 0.0)
    if dtypes and _real_name(dtypes[-1]) not in _HALF:
        dtypes = tuple(np.dtype(np.float32) if _real_name(d) in _HALF else d for d in dtypes)
    table = _THROUGHOUT if throughout else _TOLERANCES
    return max((table.get(_real_name(dtype), _EXACT) for dtype in dtypes), default=_EXACT)


def show(value: object, digits: int = 4) -> str:
    """One number the way the messages print it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"{complex(value):.{digits}g}"
    return f"{float(value) + 0.0:.{digits}g}"  # type: ignore[arg-type]  # + 0.0: no minus before a zero


def show_both(mine: object, wanted: object) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see that they differ."""
    for digits in (4, 6, 9, 17):
        shown = show(mine, digits), show(wanted, digits)
        if shown[0] != shown[1]:
            break
    return shown


@dataclass(frozen=True)
class _Rule:
    """How strictly two values are compared."""

    rtol: float | None = None
    atol: float | None = None
    batch: int | None = None
    form_only: bool = False


# --- form -----------------------------------------------------------------------------------------------------------


def _compare(
    name: str, got: object, wanted: object, rule: _Rule, names: Sequence[str] | None = None
) -> Difference | None:
    if isinstance(wanted, dict):
        return _compare_dicts(name, got, wanted, rule)
    if isinstance(wanted, (tuple, list)):
        return _compare_sequences(name, got, wanted, rule, names)
    if wanted is None or isinstance(wanted, (str, bytes, bool)):
        return _compare_exactly(name, got, wanted, rule)
    return _compare_numbers(name, got, np.asarray(wanted), rule)


def _compare_dicts(name: str, got: object, wanted: dict[Any, Any], rule: _Rule) -> Difference | None:
    if type(got) is not dict:
        return _wrong_type(name, got, f"a dict with the keys {_keys(wanted)}")
    missing, extra = [k for k in wanted if k not in got], [k for k in got if k not in wanted]
    if missing or extra:
        found = [f"{_keys(missing)} missing"] * bool(missing) + [f"{_keys(extra)} not expected"] * bool(extra)
        return Difference(
            name, "keys", f"{name} has the wrong keys: {', '.join(found)}.", None, _keys(got), _keys(wanted)
        )
    for key, value in wanted.items():
        place = f'{name}["{key}"]' if isinstance(key, str) else f"{name}[{key!r}]"
        if found_here := _compare(place, got[key], value, rule):
            return found_here
    return None


def _compare_sequences(
    name: str, got: object, wanted: Sequence[Any], rule: _Rule, names: Sequence[str] | None
) -> Difference | None:
    labels = list(names) if names else [f"{name}[{i}]" for i in range(len(wanted))]
    if len(labels) != len(wanted):
        raise ValueError(f"{name}: {len(labels)} names for {len(wanted)} values")
    form = f"a tuple of {len(wanted)} values" + (f" ({', '.join(labels)})" if names else "")
    if not isinstance(got, (tuple, list)) or type(got) not in (tuple, list):
        return _wrong_type(name, got, form)
    if len(got) != len(wanted):
        sentence = f"{name} holds {len(got)} value{'s' * (len(got) != 1)}; it should be {form}."
        return Difference(name, "length", sentence, None, str(len(got)), str(len(wanted)))
    for label, mine, right in zip(labels, got, wanted, strict=True):
        if found := _compare(label, mine, right, rule):
            return found
    return None


def _compare_exactly(name: str, got: object, wanted: str | bytes | bool | None, rule: _Rule) -> Difference | None:
    value = bool(got) if type(got) is np.bool_ else got
    if type(value) is not type(wanted):
        return _wrong_type(name, got, _form(wanted))
    if value == wanted or rule.form_only:
        return None
    return Difference(name, "values", f"{name} is {value!r}; it should be {wanted!r}.", None, repr(value), repr(wanted))


def _compare_numbers(name: str, got: object, wanted: np.ndarray, rule: _Rule) -> Difference | None:
    mine = _as_array(got)
    if mine is None or mine.dtype.kind not in "biufc" + wanted.dtype.kind:
        return _wrong_type(name, got, _form(wanted))
    tolerance = tolerance_for(mine.dtype, wanted.dtype, rtol=rule.rtol, atol=rule.atol)
    if mine.shape != wanted.shape:
        return _wrong_shape(name, mine, wanted, tolerance)
    if wrong := _wrong_dtype(name, mine, wanted):
        return wrong
    # bfloat16 and float16 have no room for the differences: compare where there is.
    wide = np.complex128 if "c" in (mine.dtype.kind, wanted.dtype.kind) else np.float64
    if mine.dtype.kind not in "biu":
        mine = mine.astype(wide)
    if wanted.dtype.kind not in "biu":
        wanted = wanted.astype(wide)
    if wrong := _not_finite(name, mine, wanted):
        return wrong
    bad = _unequal(mine, wanted, tolerance)
    if rule.form_only or not bad.any():
        return None
    return _wrong_values(name, mine, wanted, bad, tolerance, rule.batch)


def _as_array(value: object) -> np.ndarray | None:
    """`value` as an array of numpy's own class, or None if it is not a number, an array or a (nested) list of
    numbers.
    """
    if type(value) in (bool, int, float, complex, np.ndarray) or _is_numpy_scalar(value):
        array = np.array(value)
    elif type(value) in (list, tuple):
        parts = [_as_array(part) for part in value]  # type: ignore[attr-defined]
        if any(part is None or part.shape != parts[0].shape for part in parts):  # type: ignore[union-attr]
            return None
        array = np.array(parts) if parts else np.zeros(0)
    else:
        return None
    return None if array.dtype == object else array


def _is_numpy_scalar(value: object) -> bool:
    return isinstance(value, np.generic) and type(value).__module__ in ("numpy", "ml_dtypes")


def _wrong_type(name: str, got: object, form: str) -> Difference:
    kind = type(got)
    if got is None:
        return Difference(name, "none", f"{name} is None: nothing was returned for it.", None, "None", form)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    yours = f"{module}{kind.__qualname__}"
    if type(got) is np.ndarray:
        yours = f"an array of {got.dtype}" if got.dtype == object else _form(got)
    what = _article(yours)
    if type(got) in (list, tuple) and form.startswith(("a number", "an array")):
        what += " whose parts are not numbers, or differ in shape"
    return Difference(name, "type", f"{name} is {what}; it should be {form}.", None, yours, form)


def _wrong_shape(name: str, mine: np.ndarray, wanted: np.ndarray, tolerance: Tolerance) -> Difference:
    yours, expected = _shape(mine), _shape(wanted)
    sentence = f"{name} has shape {yours}; it should have {expected}."
    if mine.shape == wanted.shape[::-1] and _agree(mine.T, wanted, tolerance):
        sentence = f"{name} is transposed: it has shape {yours} and should have {expected}."
        return Difference(name, "transposed", sentence, None, yours, expected)
    if mine.size == wanted.size and [n for n in mine.shape if n != 1] == [n for n in wanted.shape if n != 1]:
        axes = "too many" if mine.ndim > wanted.ndim else "too few" if mine.ndim < wanted.ndim else "in the wrong place"
        sentence = f"{sentence[:-1]}: an axis of length 1 is {axes}."
    elif mine.ndim == wanted.ndim + 1 and wanted.shape in (mine.shape[1:], mine.shape[:-1]):
        axis = 0 if mine.shape[1:] == wanted.shape else mine.ndim - 1
        sentence = f"{sentence[:-1]}: axis {axis} is still there."
    return Difference(name, "shape", sentence, None, yours, expected)


def _wrong_dtype(name: str, mine: np.ndarray, wanted: np.ndarray) -> Difference | None:
    whole = "biu"
    if wanted.dtype.kind in whole:
        if mine.dtype.kind in whole and (mine.dtype.kind == "b") == (wanted.dtype.kind == "b"):
            return None
        sentence = (
            f"{name} holds {mine.dtype}; it should hold {'True and False' if wanted.dtype.kind == 'b' else 'integers'}."
        )
    # A lone whole number (a loss of exactly 0) loses nothing as an int; an array of them has lost its fractions.
    elif mine.dtype.kind in whole and (mine.ndim or mine.dtype.kind == "b"):
        sentence = (
            f"{name} holds {mine.dtype}; it should hold floating-point numbers, and integers cut the fractions off."
        )
    elif mine.dtype.kind == "c" and wanted.dtype.kind != "c":
        sentence = f"{name} holds complex numbers; it should hold real ones."
    else:
        return None
    return Difference(name, "dtype", sentence, None, str(mine.dtype), str(wanted.dtype))


def _not_finite(name: str, mine: np.ndarray, wanted: np.ndarray) -> Difference | None:
    bad = ~np.isfinite(mine) & np.isfinite(wanted)
    if not bad.any():
        return None
    index = _first(bad)
    of_kind = {"nan": np.isnan(mine), "inf": mine == np.inf, "-inf": mine == -np.inf}
    kinds = " and ".join(kind for kind, found in of_kind.items() if (found & bad).any())
    many = f"{name} is" if mine.ndim == 0 else f"{int(bad.sum())} of the {mine.size} values of {name} are"
    sentence = f"{many} not finite ({kinds})."
    return Difference(name, "not finite", sentence, index, show(mine[index]), show(wanted[index]))


# --- values ---------------------------------------------------------------------------------------------------------


def _wrong_values(
    name: str, mine: np.ndarray, wanted: np.ndarray, bad: np.ndarray, tolerance: Tolerance, batch: int | None
) -> Difference:
    """Both are finite where it matters and of one shape; say how they differ, the simplest explanation first."""
    index = _largest(mine, wanted, bad)
    kind, sentence = _explain(name, mine, wanted, bad, tolerance, batch)
    return Difference(name, kind, sentence, index, *show_both(mine[index], wanted[index]))


def _explain(
    name: str, mine: np.ndarray, wanted: np.ndarray, bad: np.ndarray, tolerance: Tolerance, batch: int | None
) -> tuple[str, str]:
    everywhere = "" if mine.ndim == 0 else " everywhere"
    if mine.dtype.kind in "iu":
        mine = mine.astype(np.float64)  # -1 of an unsigned integer is not minus one
    if np.isfinite(mine).all() and np.isfinite(wanted).all() and wanted.dtype.kind != "b":
        if not mine.any():
            return "zero", f"{name} is zero{everywhere}."
        if mine.ndim > 1 and mine.shape == mine.shape[::-1] and _agree(mine.T, wanted, tolerance):
            return "transposed", f"{name} is transposed: rows and columns are swapped."
        if _agree(-mine, wanted, tolerance):
            return "sign", f"{name} has the opposite sign{everywhere}."
        if (factor := _constant_factor(mine, wanted, tolerance, batch)) is not None:
            return "factor", f"{name} is {_times(factor, batch)} the right value{everywhere}."
        if mine.size > 1 and (offset := _constant_offset(mine, wanted, tolerance)) is not None:
            way = "too large" if offset > 0 else "too small"
            return (
                "offset",
                f"{name} is {way} by {show(abs(offset))} everywhere{_mean_note(offset, wanted, tolerance)}.",
            )
    if mine.size == 1:
        yours, expected = show_both(mine.item(), wanted.item())
        return "values", f"{name} is {yours}; it should be {expected}."
    count = int(bad.sum())
    if count == mine.size:
        return "values", f"{name}: all {mine.size} values are wrong."
    return (
        "values",
        f"{name}: {count} of {mine.size} values are wrong{_pattern(mine, wanted, bad)}; the others are right.",
    )


def _constant_factor(mine: np.ndarray, wanted: np.ndarray, tolerance: Tolerance, batch: int | None) -> float | None:
    """k with mine = k * wanted, if there is one that is worth telling."""
    square = float(np.vdot(wanted, wanted).real)
    if square == 0 or "c" in (mine.dtype.kind, wanted.dtype.kind):
        return None
    factor = float(np.vdot(wanted, mine).real) / square
    if factor == 0 or not _agree(mine / factor, wanted, tolerance):
        return None
    if math.isclose(factor, 1, rel_tol=0.01):
        return None  # a little off everywhere: not by a factor, as far as anybody reads it
    # Any two numbers have a ratio: with one value (or several equal ones) only a telling ratio is an explanation.
    few = np.ptp(wanted) <= 1e-12 * np.abs(wanted).max()
    return None if few and not _telling(factor, batch) else factor


def _telling(factor: float, batch: int | None) -> bool:
    named = {2.0, 0.5, -2.0, -0.5} | ({float(batch), 1.0 / batch, -float(batch), -1.0 / batch} if batch else set())
    return any(math.isclose(factor, one, rel_tol=1e-4) for one in named)


def _times(factor: float, batch: int | None) -> str:
    sign, size = ("minus ", -factor) if factor < 0 else ("", factor)
    if batch and batch > 1 and math.isclose(size, batch, rel_tol=1e-4):
        return f"{sign}{batch} times (the number of rows, N = {batch})"
    if batch and batch > 1 and math.isclose(size, 1 / batch, rel_tol=1e-4):
        return f"{sign}1/{batch} times (one over the number of rows, N = {batch})"
    inverse = round(min(1 / size, 1000))
    if size < 1 and math.isclose(size * inverse, 1, rel_tol=1e-4):
        return f"{sign}1/{inverse} times"
    return f"{sign}{show(size)} times"


def _constant_offset(mine: np.ndarray, wanted: np.ndarray, tolerance: Tolerance) -> float | None:
    if "c" in (mine.dtype.kind, wanted.dtype.kind):
        return None
    offset = float(np.mean(mine - wanted.astype(np.float64)))
    return offset if offset and _agree(mine - offset, wanted, tolerance) else None


def _mean_note(offset: float, wanted: np.ndarray, tolerance: Tolerance) -> str:
    mean = float(np.mean(wanted))
    return (
        " (that is the mean of the right values)"
        if mean and _agree(np.asarray(abs(offset)), np.asarray(abs(mean)), tolerance)
        else ""
    )


def _pattern(mine: np.ndarray, wanted: np.ndarray, bad: np.ndarray) -> str:
    """Where the wrong values lie, if they lie together."""
    if int(bad.sum()) > 1 and mine.ndim == 2:
        rows, columns = np.flatnonzero(bad.any(axis=1)), np.flatnonzero(bad.any(axis=0))
        if len(rows) == 1 < mine.shape[0]:
            return f", all in row {rows[0]}"
        if len(columns) == 1 < mine.shape[1]:
            return f", all in column {columns[0]}"
    if not wanted[bad].any():
        return ", all where it should be 0"
    return ", all where you have 0" if not mine[bad].any() else ""


def _agree(mine: np.ndarray, wanted: np.ndarray, tolerance: Tolerance) -> bool:
    return mine.shape == wanted.shape and not _unequal(mine, wanted, tolerance).any()


def _unequal(mine: np.ndarray, wanted: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """True where the two differ by more than the tolerance. inf equals inf of the same sign, nan equals nan."""
    if tolerance == _EXACT:
        return np.asarray((mine != wanted) & ~(np.isnan(mine) & np.isnan(wanted)))
    finite = np.abs(wanted[np.isfinite(wanted)])
    allowed = tolerance.relative * np.abs(wanted) + (tolerance.scaled * finite.max(initial=0.0) + tolerance.floor)
    with np.errstate(invalid="ignore"):
        near = np.abs(mine - wanted) <= allowed
    near &= np.isfinite(mine) & np.isfinite(wanted)
    return np.asarray(~(near | (mine == wanted) | (np.isnan(mine) & np.isnan(wanted))))


def _largest(mine: np.ndarray, wanted: np.ndarray, bad: np.ndarray) -> tuple[int, ...]:
    with np.errstate(invalid="ignore"):
        size = np.where(bad, np.abs(mine.astype(np.complex128) - wanted), -1.0)
    size = np.where(np.isnan(size), np.inf, size)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), size.shape))


def _first(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])


# --- words ----------------------------------------------------------------------------------------------------------


def _form(value: object) -> str:
    """The form of a right value: `a number`, `an array of shape (2, 3)`."""
    if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) > 0:
        return f"an array of shape {_shape(np.asarray(value))}"
    if isinstance(value, str):
        return "a str"
    if value is None or isinstance(value, bool):
        return repr(value)
    return "a number"


def _shape(array: np.ndarray) -> str:
    return str(tuple(int(n) for n in array.shape)) if array.ndim else "() (a single number)"


def _keys(keys: Sequence[Any] | dict[Any, Any]) -> str:
    shown = [str(key)[:40] for key in list(keys)[:12]]
    return ", ".join([*shown, "..."] if len(keys) > len(shown) else shown) or "none"


def _article(words: str) -> str:
    if words.startswith(("a ", "an ")):
        return words
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}"


@functools.lru_cache(maxsize=64)
def _real_name(dtype: np.dtype[Any]) -> str:
    return {"complex128": "float64", "complex64": "float32", "longdouble": "float64"}.get(dtype.name, dtype.name)
