"""Tiny Transformers to be counted, with the products that the papers define them by.

Each product is written down from the published definition of its layer, a formula of the
paper a line, and shares nothing with what `symscale.costs` makes of the same sizes. The
letters: s sequences, t tokens, u the tokens they look at, d the stream, g key and value
heads, r query heads of each, k a head's width, f an MLP's width, j that of a shared
expert, e experts, c tokens of each, x experts to choose from; of latent attention p the
queries' latent, q that of keys and values, h the part of a head that carries positions,
z a head's value.
"""

from dataclasses import dataclass, replace
from itertools import product as every

import sympy as sp

from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    Experts,
    FeedForward,
    Latent,
    Stack,
)
from transformer_counting import Grid, Product

I = sp.Integer  # noqa: E741

SIZES = {
    "s": 4, "t": 2, "u": 2, "d": 2, "k": 1, "f": 4, "j": 8, "x": 4, "e": 4, "p": 3, "q": 5,
    "h": 2, "z": 3, "y": 4,
}  # fmt: skip
ACTIVE, ROOM = 2, 2  # experts of a token; places of an expert over its even share
SIZES["c"] = SIZES["s"] * SIZES["t"] * ACTIVE * ROOM // SIZES["e"]
HEADS = 4


# Attention Is All You Need (1706.03762), 3.2; keys and values shared by r query heads as in
# Shazeer (1911.02150) and Ainslie et al. (2305.13245); without their own keys for r = 1.


def attention(
    tag: str = "", read: str = "x", source: str = "x", output: str = "attended"
) -> list[Product]:
    """Queries of what is read, keys and values of the source: of its own input, or another's."""
    q, k, v, scores, context = (f"{name}{tag}" for name in ("q", "k", "v", "scores", "context"))
    return [
        Product(("std", "dgrk"), "stgrk", (read, f"Wq{tag}", q)),
        Product(("std", "dgk"), "stgk", (source, f"Wk{tag}", k)),
        Product(("std", "dgk"), "stgk", (source, f"Wv{tag}", v)),
        Product(("stgrk", "sugk"), "stgru", (q, k, scores)),
        Product(("stgru", "sugk"), "stgrk", (scores, v, context)),
        Product(("stgrk", "grkd"), "std", (context, f"Wo{tag}", output)),
    ]


# Transformer-XL (1901.02860), 3.3: term (b) of a score is E_x W_q^T W_{k,R} R, and (d) the same
# with v, a vector added to the queries; the sinusoids R of the positions are not learned.

RELATIVE = [
    Product(("ud", "dgrk"), "ugrk", ("R", "WkR", "position keys")),
    Product(("stgrk", "ugrk"), "stgru", ("q", "position keys", "position scores")),
]


# DeepSeek-V2 (2405.04434), 2.1.2 and 2.1.3, or its appendix C line by line. What a line gives
# is one tensor where the paper puts its parts side by side: [k^C; k^R] is k. The products of
# the same input are stored side by side too (W^DKV and W^KR, W^UK and W^UV, W^UQ and W^QR),
# as in the published weights: kv_a_proj_with_mqa, kv_b_proj, q_b_proj.


def latent_attention(queries_latent: bool) -> list[Product]:
    """With the queries' latent or, as in DeepSeek-V2-Lite, without."""
    down = [Product(("std", "dp"), "stp", ("x", "WDQ", "cQ"))]  # c^Q = W^DQ h
    queries = [
        Product(("stp", "pgrk"), "stgrk", ("cQ", "WUQ", "q")),  # q^C = W^UQ c^Q
        Product(("stp", "pgrh"), "stgrh", ("cQ", "WUQ", "q")),  # q^R = RoPE(W^QR c^Q)
    ]
    if not queries_latent:
        down = []
        queries = [
            Product(("std", "dgrk"), "stgrk", ("x", "WQ", "q")),
            Product(("std", "dgrh"), "stgrh", ("x", "WQ", "q")),
        ]
    return [
        *down,
        *queries,
        Product(("std", "dq"), "stq", ("x", "WDKV", "cKV")),  # c^KV = W^DKV h
        Product(("stq", "qgk"), "stgk", ("cKV", "WUKV", "k")),  # k^C = W^UK c^KV
        Product(("std", "dh"), "sth", ("x", "WDKV", "kR")),  # k^R = RoPE(W^KR h)
        Product(("sth",), "stgh", ("kR", "k")),  # k_i = [k_i^C; k^R], k^R the same for all i
        Product(("stq", "qgz"), "stgz", ("cKV", "WUKV", "v")),  # v^C = W^UV c^KV
        Product(("stgrk", "sugk"), "stgru", ("q", "k", "scores")),  # q_i k_i, both halves
        Product(("stgrh", "sugh"), "stgru", ("q", "k", "scores")),
        Product(("stgru", "sugz"), "stgrz", ("scores", "v", "context")),
        Product(("stgrz", "grzd"), "std", ("context", "WO", "attended")),  # u = W^O [o_1; ...]
    ]


# The MLP of Vaswani et al., and gated of Shazeer (2002.05202): (act(x Wg) * x Wu) Wd.


def mlp(
    gated: bool, read: str = "z", output: str = "o", tag: str = "", width: str = "f"
) -> list[Product]:
    """Dense, of every token."""
    ups = ["Wg", "Wu"] if gated else ["Wu"]
    return [
        *(Product(("std", f"d{width}"), f"st{width}", (read, f"{w}{tag}", f"{w[1]}{tag}"))
          for w in ups),
        Product((f"st{width}", f"{width}d"), "std", (f"hidden{tag}", f"Wd{tag}", output)),
    ]  # fmt: skip


# Shazeer et al. (1701.06538): a router scores every expert for every token, and each expert is
# an MLP of the tokens that it gets; with the shared experts of DeepSeekMoE (2401.06066), 3.2,
# an MLP of every token besides.


def experts(gated: bool = False) -> list[Product]:
    """The router and the routed experts."""
    ups = ["Wge", "Wue"] if gated else ["Wue"]
    return [
        Product(("std", "dx"), "stx", ("z", "Wr", "affinity")),
        *(Product(("ecd", "edf"), "ecf", ("dispatched", w, w[1:])) for w in ups),
        Product(("ecf", "efd"), "ecd", ("hidden", "Wde", "returned")),
    ]


@dataclass(frozen=True)
class Case:
    """A tiny Transformer, one block of each kind.

    Attributes:
        architecture: Its sizes.
        blocks: The products of each stack's block.
        kv: Key and value heads.
        vectors: Parameters of all blocks that no product uses: gains and shifts of norms.
    """

    architecture: Architecture
    blocks: tuple[list[Product], ...]
    kv: int = HEADS
    vectors: int = 2 * 2 * SIZES["d"]

    @property
    def experts(self) -> bool:
        """Whether there are experts to split."""
        return any(isinstance(s.block.mlp, Experts) for s in self.architecture.stacks)

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each letter."""
        return {**SIZES, "g": self.kv, "r": HEADS // self.kv}

    def fits(self, grid: Grid) -> bool:
        """Whether a grid splits no experts where there are none."""
        return self.experts or grid.ep == 1


def of_stacks(*stacks: Stack) -> Architecture:
    return Architecture("tiny", "Tiny", I(SIZES["d"]), I(SIZES["y"]), I(SIZES["t"]), stacks)


def tiny(
    mlp: FeedForward | Experts, kv: int = HEADS, latent: Latent | None = None,
    relative: bool = False, **more: object,
) -> Architecture:
    """Return a Transformer of one block."""
    values = None if latent is None else I(SIZES["z"])
    attention = Attention(
        I(HEADS), I(kv), I(SIZES["k"]), values, position_product=relative, latent=latent
    )
    return of_stacks(Stack("", I(1), Block(attention, mlp, **more)))  # type: ignore[arg-type]


def encoder_decoder(kv: int = HEADS) -> Architecture:
    """Return one block of an encoder and one of a decoder, as in Vaswani et al. and T5."""
    attention, mlp = Attention(I(HEADS), I(kv), I(SIZES["k"])), FeedForward(PLAIN.width)
    return of_stacks(
        Stack("encoder", I(1), Block(attention, mlp, causal=False), encoder=True),
        Stack("decoder", I(1), Block(attention, mlp, norms=3, cross=attention)),
    )


PLAIN, GATED = FeedForward(I(SIZES["f"])), FeedForward(I(SIZES["f"]), gated=True)
ROUTED = Experts(I(SIZES["e"]), I(ACTIVE), PLAIN, capacity=I(ROOM))
SHARED = replace(ROUTED, expert=GATED, shared=FeedForward(I(SIZES["j"]), gated=True))
WIDTHS = I(SIZES["q"]), I(SIZES["h"])
LATENT, NARROW = Latent(None, *WIDTHS), Latent(I(SIZES["p"]), *WIDTHS)
# An encoder's block, then a decoder's, whose keys and values come from the encoder's output.
SIDES = (
    attention() + mlp(False),
    attention() + attention("c", "y", "encoded", "crossed") + mlp(False),
)
NORMS = 2 * SIZES["d"]  # gain and shift

CASES = {
    "plain": Case(tiny(PLAIN), (attention() + mlp(False),)),
    "gated": Case(tiny(GATED), (attention() + mlp(True),)),
    "grouped": Case(tiny(PLAIN, 2), (attention() + mlp(False),), 2),
    "multi-query": Case(tiny(PLAIN, 1), (attention() + mlp(False),), 1),
    "parallel": Case(
        tiny(PLAIN, parallel=True), (attention(output="sum") + mlp(False, "x", "sum"),)
    ),
    "relative positions": Case(
        tiny(PLAIN, relative=True), (attention() + RELATIVE + mlp(False),)
    ),
    "experts": Case(tiny(ROUTED), (attention() + experts(),)),
    "shared expert": Case(
        tiny(SHARED), (attention() + experts(True) + mlp(True, "z", "shared", "s", "j"),)
    ),
    # Each latent has a norm with a gain: of p and of q entries.
    "latent": Case(
        tiny(GATED, latent=NARROW), (latent_attention(True) + mlp(True),),
        vectors=2 * NORMS + SIZES["p"] + SIZES["q"],
    ),
    "latent of keys and values only": Case(
        tiny(GATED, latent=LATENT), (latent_attention(False) + mlp(True),),
        vectors=2 * NORMS + SIZES["q"],
    ),
    "cross-attention": Case(encoder_decoder(), SIDES, vectors=(2 + 3) * NORMS),
    "grouped cross-attention": Case(encoder_decoder(2), SIDES, 2, vectors=(2 + 3) * NORMS),
}  # fmt: skip
GRIDS = [
    Grid(dp, tp, cp, ep)
    for dp, tp, cp, ep in every((1, 2, 4), (1, 2, 4), (1, 2), (1, 2, 4))
    if dp % ep == 0 and dp * tp * cp <= 8
]
PLANS = [(name, grid) for name, case in CASES.items() for grid in GRIDS if case.fits(grid)]
