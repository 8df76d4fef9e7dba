"""Mixed parallelism: how to divide devices between sharded data and tensor parallelism.

More of one makes less traffic of the other; the best division balances the two.
"""

import sympy as sp

from symscale.algebra.certify.theorems import certify
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Program
from symscale.algebra.products.solve import solve
from symscale.algebra.rewrites.least import least
from symscale.algebra.rewrites.rewrite import drop_ones, substitute
from symscale.costs.cost import cost
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import SCALING_BOOK, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.mesh.costs import data_time, mesh_mlp, pass_time, tensor_time
from symscale.studies.training.constraints import below, quantity, same

QUESTION = (
    "N devices run a dense MLP with sharded data parallelism (FSDP) of degree N_DP and tensor "
    "parallelism of degree N_TP, on mesh axes of their own. In a forward pass weights are "
    "gathered and activations all-reduced. Which N_DP takes the least time, and how many tokens "
    "must a device have so that arithmetic takes longer than communication: where the two "
    "collectives follow one another, and where they overlap? Both degrees are at least 1. In the "
    "letters of the scaling book: B = b, D = d_model, F = d_ff, X = N_DP, Y = N_TP, M_X = M_DP, "
    "M_Y = M_TP; its W counts bytes, two to a word, so its A = C/W is C/(2 W_axis) here; its "
    "T_math, T_FSDP and T_TP are t_math, t_DP and t_TP, for L blocks."
)

C, W_axis = symbols("C W_axis")
FIGURES = {C: 459 * 10**12, W_axis: 9 * 10**10}
"""The scaling book's figures of a TPU v5p: FLOP/s, and words/s along a mesh axis."""
FEW = 8
"""So few of them that the degrees which balance both collectives leave N_DP below 1."""


def derive() -> Derivation:
    """Derive the best degrees, the ratio of times there, and the least batch."""
    b, N, N_DP, N_TP, t_DP, t_TP, t_math = symbols("b N N_DP N_TP t_DP t_TP t_math")
    d_ff, M_DP, M_TP = symbols("d_ff M_DP M_TP")
    model = mesh_mlp()
    gather, reduce = data_time(model.gather_words), tensor_time(model.reduction_words("forward"))
    arithmetic = pass_time(model, "forward")
    data = drop_ones(gather.expr, [N_DP])
    tensor = drop_ones(reduce.expr, [N_TP])
    build = DerivationBuilder(
        "mixed-parallelism", "Mixed parallelism: sharded data and tensor parallelism", QUESTION
    )
    overlapped = [
        same("devices", quantity("N"), cost(N_DP * N_TP, "1"),
             "each pair of the two degrees has a device of its own"),
        same("arithmetic", quantity("t_math"), arithmetic,
             "the products of a forward pass, at the peak rate of all devices"),
        same("gather", quantity("t_DP"), gather.with_expr(data.after),
             "the all-gather of weights, its N_DP - 1 written N_DP", SCALING_BOOK),
        same("reduction", quantity("t_TP"), reduce.with_expr(tensor.after),
             "the all-reduce of outputs, its N_TP - 1 written N_TP", SCALING_BOOK),
        below("gather hides", quantity("t_DP"), quantity("t_math"),
              "if the collectives overlap with each other: each hides behind the arithmetic"),
        below("reduction hides", quantity("t_TP"), quantity("t_math"),
              "and so does the other"),
        below("one group", cost(sp.Integer(1), "1"), quantity("N_DP"),
              "there is a group of devices at least"),
        below("one device", cost(sp.Integer(1), "1"), quantity("N_TP"),
              "and a device in a group at least"),
    ]
    for constraint in overlapped:
        build.assume_constraint(constraint)
    build.assume(
        "sum hides", quantity("t_DP") + quantity("t_TP"), "<=", quantity("t_math"),
        "if they follow one another: their sum hides behind the arithmetic", SCALING_BOOK,
    )
    build.rewrite(
        "without -1", drop_ones(gather.expr + reduce.expr, [N_DP, N_TP]),
        "what writing N - 1 as N costs: the time of both collectives as it is, and as it is taken",
    )
    times = {t_DP: data.after, t_TP: tensor.after}
    added = build.replace(
        "sum", "sum hides",
        substitute(t_DP + t_TP, times, "the times of the collectives"),
        "put in the times of the collectives", facts=["gather", "reduction"],
    ).statement.lhs
    on_devices = build.replace(
        "sum on N devices", "sum",
        substitute(added, {N_TP: N / N_DP}, "N_TP is what is left"),
        "N devices leave N/N_DP to tensor parallelism", facts=["devices"],
    ).statement.lhs
    build.replace(
        "least sum", "sum on N devices",
        least(on_devices, [N_DP], "N_DP is free", bounds=[1 / N_DP, N_DP / N]),
        "choose N_DP so that the sum is least",
    )
    best = build.choose(
        "best N_DP", "least sum", N_DP, "the choice that makes the sum least"
    ).statement.rhs
    build.product(
        "best N_TP", {"devices": 1, "best N_DP": 1}, "what is left to tensor parallelism",
        solve_for=N_TP,
    )
    balanced = {
        time: build.product(
            f"best {time}", {given: 1, of: 1}, reason, solve_for=time
        ).statement.rhs
        for time, given, of, reason in (
            (t_DP, "gather", "best N_DP", "the gather at the best degrees"),
            (t_TP, "reduction", "best N_TP", "the reduction there takes equally long"),
        )
    }
    build.rewrite(
        "ratio",
        substitute(
            t_math / (t_DP + t_TP), {t_math: arithmetic.expr, **balanced},
            "arithmetic over communication at the best degrees",
        ),
        premises=["arithmetic", *(f"best {time}" for time in balanced)],
    )
    bound = build.product(
        "least batch, added", {"least sum": 2, "arithmetic": 2},
        "square, and solve for the batch", solve_for=b,
    ).statement.rhs
    program = Program(
        "overlapped", "Collectives that overlap with each other", "minimize", Monomial.of(b),
        (b, N_DP, N_TP, t_DP, t_TP, t_math), tuple(overlapped),
        piece_names={
            frozenset({"gather hides", "reduction hides"}): "overlapped",
            frozenset({"gather hides", "one group"}): "one group only",
        },
    )
    limit = solve(program)
    proofs = certify(limit)
    reasons = {
        "overlapped": (
            "the constraints of overlapping collectives multiply to a bound without N_DP and N_TP",
            "it is attained, at the degrees at which both collectives take as long as the "
            "arithmetic",
        ),
        "one group only": (
            "so do those of the gather alone, since there is a group at least",
            "on fewer devices tensor parallelism is all there is, and the gather, whose traffic is "
            "overstated most here, takes as long as the arithmetic",
        ),
    }
    (wide_enough,) = (c for c in limit.feasibility if "reduction hides" in c.binding)
    build.product(
        "least width", wide_enough.multipliers,
        "with a device in a group at least, the reduction hides behind no arithmetic of a smaller "
        "hidden layer, whatever the batch",
        solve_for=d_ff,
    )
    for piece in sorted(limit.pieces, key=lambda p: p.name == "overlapped"):
        bounds, attains = reasons[piece.name]
        build.product(f"least batch, {piece.name}", piece.multipliers, bounds, solve_for=b)
        build.attain(f"least batch, {piece.name}, attained", proofs[piece.name], attains)
    mesh = {N: 64, b: 48000, d_ff: 32768, M_DP: 2, M_TP: 1}
    least_batch = limit.piece("overlapped").expr
    few = {s: sp.Integer(v) for s, v in (FIGURES | mesh | {N: FEW}).items()}
    rows = (
        ("N_DP on 64 devices, 48000 tokens", Number(_number(best, mesh), "", 7)),
        ("b/N, one after the other", Number(_number(bound / N, mesh), "token", 7)),
        ("b/N, overlapped", Number(_number(least_batch / N, mesh), "token", 7)),
        (f"b/N, overlapped, {FEW} devices: N_DP = 1",
         Number(sp.Float(limit.at(few) / FEW, 25), "token", 7)),
    )
    return build.finish(
        "The best N_DP is the root of (b/d_ff) (M_DP/M_TP) N: it grows with the batch, and both "
        "collectives take equally long there. The ratio of arithmetic to communication is the "
        "book's sqrt(B F M_X M_Y/N)/(2 A); it grows as the square root of the batch. Where that "
        "N_DP is below 1 or above N, the nearer of the two is best, and only one kind of "
        "parallelism is left (derivation 'compute-bound'). One after the other, a pass is "
        "compute-bound, at the best degrees, if b/N >= C^2/(W_axis^2 M_DP M_TP d_ff), the book's "
        "4 A^2/(M_X M_Y F). Where they overlap with each other a quarter of that will do, from "
        "N = 2 M_TP W_axis d_ff/C devices on. On fewer, N_DP would be below 1: then N_DP = 1, and "
        "what is taken for the gather asks for C/(2 M_DP W_axis) tokens, though a single group "
        "gathers nothing. Degrees are real numbers here, and the times overstated, since every "
        "N - 1 is written N: so these batches suffice, and are not necessary. Where both degrees "
        "are at least 2 the times are overstated by at most a factor 2, and the least batches, "
        "which are quadratic in them, are at most 4 times the least with which any such degrees "
        "are compute-bound.",
        (
            NumbersTable(
                f"On a TPU v5p, with the scaling book's figures ({FIGURES[C] / 1e14:g}e14 FLOP/s, "
                f"{2 * FIGURES[W_axis] / 1e11:g}e11 byte/s a mesh axis, 2 bytes a word), "
                f"d_ff = {mesh[d_ff]}, M_DP = {mesh[M_DP]}, M_TP = {mesh[M_TP]}",
                ("quantity", "value"), rows,
            ),
        ),
        limit,
    )


def _number(formula: sp.Expr, values: dict[sp.Symbol, int]) -> sp.Float:
    at = {s: sp.Integer(v) for s, v in (FIGURES | values).items()}
    return sp.Float(sp.N(formula.xreplace(at), 25), 25)


if __name__ == "__main__":
    show(derive())
