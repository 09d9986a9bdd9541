# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks the types of arguments by the annotations of public functions. An error names the argument of another type.
The code that uses a value checks its range or its name."""
from __future__ import annotations

import collections.abc
import functools
import inspect
import operator
import os
import types
import typing
from typing import Any, Callable, Sequence

from roentgen import _native

_LONGEST = 60
_Function = typing.TypeVar("_Function", bound=Callable[..., Any])


def refuse(place: str, name: str, expected: str, got: str, remedy: str, kind: type = _native.ConfigError):
    """Raises an error in the common form of all errors."""
    raise kind(f"[python.{place}] {name}: expected {expected}, got {got}; try {remedy}")


def described(value: Any) -> str:
    """Short text of a value for an error, on one line. It never shows the contents of a table."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number of {value.bit_length()} bits"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, os.PathLike)):
        text = repr(value)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type):
        return f"{type(value).__name__} of shape {tuple(value.shape)} and type {value.dtype}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([described(item) for item in value[:3]] + ['...'] * (len(value) > 3))}]"
    return f"an object of type {type(value).__name__}"


def _integer(value: Any) -> int:
    number = operator.index(value)
    if isinstance(value, bool) or not -2**63 <= number < 2**63:
        raise TypeError
    return number


def _number(value: Any) -> float:
    if isinstance(value, (bool, str, bytes)):
        raise TypeError
    return float(value)


def _flag(value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # types of Python and numpy
        raise TypeError
    return bool(value)


_READERS: dict[Any, Callable[[Any], Any]] = {int: _integer, float: _number, bool: _flag}
_NOUNS = {int: "a whole number below 2**63", float: "a number", bool: "True or False", str: "a string",
          os.PathLike: "a path", type(None): "None"}


def _choices(kind: Any) -> tuple:
    """Alternatives of a union annotation, or the annotation alone."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def _read(value: Any, kind: Any) -> Any:
    """Converts `value` to the type of an annotation. Raises TypeError or ValueError if it has another type."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return value
    if len(_choices(kind)) > 1:
        for choice in _choices(kind):
            try:
                return _read(value, choice)
            except (TypeError, ValueError):
                continue
    elif origin is collections.abc.Sequence:
        if not isinstance(value, (str, bytes, collections.abc.Mapping, collections.abc.Set)):  # a set has no order
            return [_read(item, typing.get_args(kind)[0]) for item in value]
    elif kind in _READERS:
        return _READERS[kind](value)
    elif isinstance(value, origin or kind):
        return dict(value) if origin is collections.abc.Mapping else value
    raise TypeError


def _noun(kind: Any) -> str:
    """Describes an annotation in words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if len(_choices(kind)) > 1:
        # A path may be written as a string.
        return " or ".join(_noun(one) for one in arguments if not (one is str and os.PathLike in arguments))
    if origin is collections.abc.Sequence:
        return f"a list of {_noun(arguments[0]).removeprefix('a ')}s"
    if origin is collections.abc.Mapping:
        return "a dict"
    if origin is collections.abc.Callable:
        return "a function"
    return _NOUNS.get(kind) or f"a {kind.__name__}"


def _remedy(name: str, kind: Any, value: Any, default: Any) -> str:
    """Suggests a replacement for a value of the wrong type."""
    if isinstance(value, str) and Sequence[str] in _choices(kind):
        return f"{name}=[{described(value)}]"
    if isinstance(value, (str, os.PathLike)) and getattr(kind, "__name__", "") == "Dataset":
        return f"roentgen.Dataset({described(value)})"
    return "another value" if default in (inspect.Parameter.empty, None) else f"{name}={default!r}"


def arguments(function: _Function) -> _Function:
    """Decorator: converts arguments to their annotated types. Numpy numbers become Python numbers, sequences lists.

    Raises:
        ConfigError: An argument has another type; the error names it.
    """
    place = function.__module__.rpartition(".")[2].lstrip("_")
    signature = inspect.signature(function)
    kinds = {name: eval(parameter.annotation, function.__globals__)
             for name, parameter in signature.parameters.items()
             if parameter.annotation is not parameter.empty and parameter.kind is not parameter.VAR_KEYWORD}

    @functools.wraps(function)
    def checked(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__qualname__}() {error}") from None
        for name, value in bound.arguments.items():
            try:
                bound.arguments[name] = _read(value, kinds.get(name, Any))
            except (TypeError, ValueError):
                remedy = _remedy(name, kinds[name], value, signature.parameters[name].default)
                refuse(place, name, _noun(kinds[name]), described(value), remedy)
        return function(*bound.args, **bound.kwargs)

    return checked
