#!/usr/bin/env python3
"""Writes vectors of decimal128 arithmetic, computed by Python's decimal module (the General Decimal Arithmetic reference
model) in a context of the format: `generate-vectors.py COUNT SEED > DecimalVectors.txt`.

A line: operation, left, right, result, separated by spaces.
"""
import decimal
import random
import sys

context = decimal.Context(
    prec=34, rounding=decimal.ROUND_HALF_EVEN, Emin=-6143, Emax=6144, capitals=1, clamp=1, traps=[]
)


def number(source):
    kind = source.random()
    if kind < 0.03:
        return source.choice(["Infinity", "-Infinity", "NaN"])
    if kind < 0.08:
        return source.choice(["0", "-0", "0E+3", "0E-7", "1", "-1", "10", "0.1"])
    digits = source.choice([1, 2, 5, 16, 17, 33, 34, 34])
    coefficient = source.randrange(10 ** (digits - 1), 10**digits)
    if source.random() < 0.2:
        coefficient = coefficient // 10 ** (digits // 2) * 10 ** (digits // 2)
    exponent = source.choice(
        [0, 0, -2, source.randint(-40, 40), source.randint(-80, 80), source.randint(-6176, 6111)]
    )
    return ("-" if source.random() < 0.4 else "") + f"{coefficient}E{exponent}"


def main():
    count = int(sys.argv[1])
    source = random.Random(int(sys.argv[2]))
    for _ in range(count):
        operation = source.choice(["add", "subtract", "multiply", "divide", "compare", "parse"])
        left, right = number(source), number(source)
        if operation == "parse":
            digits = source.randint(1, 45)
            left = "".join(source.choice("0123456789") for _ in range(digits))
            point = source.randint(0, digits)
            left = left[:point] + "." + left[point:] + f"E{source.choice([0, 5, -30, -6170, 6100])}"
            result = context.create_decimal(left)
            right = "0"
        else:
            one, other = context.create_decimal(left), context.create_decimal(right)
            result = getattr(context, operation)(one, other)
        text = str(result).replace("Infinity", "Inf").replace("-NaN", "NaN")
        print(operation, left, right, text)


main()
