"""What collectives move: words over the links, summed over the participants."""

import sympy as sp


def reduce_scatter_words(payload: sp.Expr, participants: sp.Expr) -> sp.Expr:
    """Words sent, in all, when each of p participants ends with its share of a sum.

    Each holds a full tensor of `payload` words and ends with 1/p of the sum. Every
    share is sent, and added, along p - 1 links: (p - 1) W words.

    Example:
        >>> reduce_scatter_words(sp.Integer(100), sp.Integer(1))
        0
    """
    return (participants - 1) * payload


def all_gather_words(payload: sp.Expr, participants: sp.Expr) -> sp.Expr:
    """Words sent, in all, when each of p participants ends with the whole tensor.

    Every share of W/p words reaches p - 1 others: (p - 1) W words.
    """
    return (participants - 1) * payload


def all_reduce_words(payload: sp.Expr, participants: sp.Expr) -> sp.Expr:
    """Words sent, in all, when each of p participants ends with the whole sum.

    A reduce-scatter and an all-gather: 2 (p - 1) W words. No algorithm moves fewer
    without reductions inside the network (each participant must send and receive all
    but its own share, in both phases).

    Example:
        >>> all_reduce_words(sp.Integer(100), sp.Integer(4))
        600
    """
    return reduce_scatter_words(payload, participants) + all_gather_words(payload, participants)


def all_to_all_words(payload: sp.Expr, participants: sp.Expr) -> sp.Expr:
    """Words sent, in all, when each of p participants has a share for every other.

    Each holds W words, an equal part for each of the p, and keeps its own: of the p W
    words (p - 1) W are sent.

    Example:
        >>> all_to_all_words(sp.Integer(100), sp.Integer(4))
        300
    """
    return (participants - 1) * payload
