"""The notation: every symbol that symscale uses, made once, here.

Two SymPy symbols of one name with different assumptions look alike and do not
cancel, so symbols are never made elsewhere. All are positive but the exponents
`alpha` and `alpha_L`, which are real.

Example:
    >>> from symscale.language.symbols import notation, symbol
    >>> symbol("W_net")
    W_net
    >>> notation("W_net").unit
    'word/s'
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import sympy as sp

from symscale.errors import unknown_name

DATA_MOVEMENT = "erdil-schneider-joseph-2024"
PROGRAM = "erdil-schneider-joseph-program"
CHINCHILLA = "hoffmann-2022"
TWO_CS = "pati-2023"
KORTHIKANTI = "korthikanti-2022"
SCALING_BOOK = "austin-2025"
MEGATRON = "megatron-2021"
YOUNG = "young-1974"
DALY = "daly-2006"


@dataclass(frozen=True)
class Notation:
    r"""One symbol of the notation.

    Attributes:
        name: The name that users type and JSON carries, such as `W_net`.
        unit: Its unit, as `symscale.language.units.parse_unit` reads it; "1" for a pure number.
        latex: How LaTeX shows it, such as `W_{\mathrm{net}}`.
        meaning: What it is, in a few words.
        source: Key of `language/sources.toml` where the quantity is defined, or "".
        group: Under which heading a notation table lists it.
        lower: Least value that makes sense, where there is one above zero.
        exponent: Whether it stands in exponents; such a symbol is real, not positive.
        positive: Whether an exponent is positive all the same.
    """

    name: str
    unit: str
    latex: str
    meaning: str
    source: str = ""
    group: str = "model"
    lower: int | None = None
    exponent: bool = False
    positive: bool = False

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol."""
        if self.exponent and not self.positive:
            return sp.Symbol(self.name, real=True)
        return sp.Symbol(self.name, positive=True)


def _sub(base: str, text: str) -> str:
    return rf"{base}_{{\mathrm{{{text}}}}}"


_MODEL = [
    Notation("d_model", "1", _sub("d", "model"), "width of the residual stream", lower=1),
    Notation("d_ff", "1", _sub("d", "ff"), "width of the hidden layer of the MLP", lower=1),
    Notation("L", "1", "L", "number of blocks", lower=1),
    Notation("E", "1", "E", "sparsity factor: experts, one of them active for a token", lower=1),
    Notation("P", "1", "P", "parameters"),
    Notation("r_ff", "1", _sub("r", "ff"), "ratio of d_ff to d_model"),
    Notation("n_ctx", "token", _sub("n", "ctx"), "length of a sequence", lower=1),
    Notation("n_heads", "1", _sub("n", "heads"), "query heads of an attention", lower=1),
    Notation("n_kv", "1", _sub("n", "kv"), "key and value heads of an attention", lower=1),
    Notation("d_head", "1", _sub("d", "head"), "width of an attention head", lower=1),
    Notation("n_vocab", "1", _sub("n", "vocab"), "entries of the vocabulary", lower=1),
    Notation("E_k", "1", "E_k", "experts that are active for a token", lower=1),
]
_TRAINING = [
    Notation("b", "token", "b", "batch size, in tokens"),
    Notation("n_seq", "1", _sub("n", "seq"), "sequences in a batch", lower=1),
    Notation("D", "token", "D", "tokens of the training run"),
    Notation("r_D", "token", "r_D", "training tokens for each parameter", CHINCHILLA),
    Notation("T", "FLOP", "T", "training compute"),
    Notation("t_d", "s", "t_d", "wall-clock time allowed for the run"),
    Notation("t_step", "s", _sub("t", "step"), "time of one optimizer step"),
    Notation("U", "1", "U", "utilization of the peak arithmetic rate"),
    Notation("b_0", "token", "b_0", "critical batch size at the compute T_0", DATA_MOVEMENT),
    Notation("L_0", "1", "L_0", "number of blocks at the compute T_0", DATA_MOVEMENT),
    Notation("T_0", "FLOP", "T_0", "compute at which b_0 and L_0 hold", DATA_MOVEMENT),
    Notation(
        "alpha",
        "1",
        r"\alpha",
        "growth of the critical batch less growth of the depth: b/L grows as the power alpha of T",
        DATA_MOVEMENT,
        exponent=True,
    ),
    Notation(
        "alpha_L", "1", r"\alpha_L", "growth of the depth: L grows as the power alpha_L of T",
        DATA_MOVEMENT, exponent=True,
    ),
    Notation("R", "1", "R", "reducible loss: what more parameters and tokens remove", CHINCHILLA),
    Notation("A_P", "1", "A_P", "scale of the loss that parameters remove", CHINCHILLA),
    Notation("A_D", "1", "A_D", "scale of the loss that tokens remove", CHINCHILLA),
    Notation(
        "gamma_P", "1", r"\gamma_P", "power by which loss falls with the parameters",
        CHINCHILLA, exponent=True, positive=True,
    ),
    Notation(
        "gamma_D", "1", r"\gamma_D", "power by which loss falls with the tokens",
        CHINCHILLA, exponent=True, positive=True,
    ),
    Notation("T_min", "FLOP", _sub("T", "min"), "compute that a run needs at least"),
    Notation("N_0", "1", "N_0", "devices that can be bought"),
    Notation("J_0", "J", "J_0", "energy allowed for the run"),
]
_PARALLEL = [
    Notation("N", "1", "N", "number of devices", lower=1),
    Notation("N_DP", "1", _sub("N", "DP"), "degree of data parallelism", lower=1),
    Notation("N_TP", "1", _sub("N", "TP"), "degree of tensor parallelism", lower=1),
    Notation("N_TP_model", "1", _sub("N", "TP,model"), "tensor-parallel split of d_model", lower=1),
    Notation("N_TP_ff", "1", _sub("N", "TP,ff"), "tensor-parallel split of d_ff", lower=1),
    Notation("N_PP", "1", _sub("N", "PP"), "degree of pipeline parallelism", lower=1),
    Notation("N_EP", "1", _sub("N", "EP"), "degree of expert parallelism", lower=1),
    Notation("N_CP", "1", _sub("N", "CP"), "degree of context parallelism", lower=1),
    Notation("m", "1", "m", "microbatches of a pipeline in one step", lower=1),
    Notation("v", "1", "v", "interleaving: model chunks on each pipeline stage", lower=1),
    Notation("t_math", "s", _sub("t", "math"), "time of a pass's arithmetic on a device"),
    Notation("t_DP", "s", _sub("t", "DP"), "time of a pass's data-parallel traffic"),
    Notation("t_TP", "s", _sub("t", "TP"), "time of a pass's tensor-parallel traffic"),
    Notation("t_pass", "s", _sub("t", "pass"), "time of a pass through a pipeline"),
    Notation("t_o", "s", "t_o", "overhead of a microbatch on a stage, whatever its size"),
]
_TRANSFORMER = [
    Notation("F_qkv", "FLOP", _sub("F", "qkv"), "forward FLOP of queries, keys and values"),
    Notation("F_core", "FLOP", _sub("F", "core"), "forward FLOP of attention's scores and context"),
    Notation("F_out", "FLOP", _sub("F", "out"), "forward FLOP of attention's output projection"),
    Notation("F_mlp", "FLOP", _sub("F", "mlp"), "forward FLOP of the MLP's products"),
    Notation("F_logits", "FLOP", _sub("F", "logits"), "forward FLOP of the logits"),
    Notation("F_device", "FLOP", _sub("F", "device"), "FLOP of a device's blocks in a step"),
    Notation("F_behind", "FLOP", _sub("F", "behind"), "backward FLOP of a product on a device"),
    Notation("Q_ser", "word", _sub("Q", "ser"), "payload of a device that all else waits for"),
    Notation("Q_grad", "word", _sub("Q", "grad"), "gradient of a product's weights on a device"),
    Notation("t_comp", "s", _sub("t", "comp"), "time of a device's arithmetic in a step"),
    Notation("t_comm", "s", _sub("t", "comm"), "time of a device's serialized communication"),
    Notation("r_comm", "1", _sub("r", "comm"),
             "time of serialized communication over time of arithmetic", TWO_CS),
    Notation("s_comm", "1", _sub("s", "comm"),
             "share of serialized communication in arithmetic and itself", TWO_CS),
    Notation("K_whole", "byte", _sub("K", "whole"),
             "bytes kept of a block that tensor parallelism leaves whole", KORTHIKANTI),
    Notation("K_split", "byte", _sub("K", "split"),
             "bytes kept of a block that tensor parallelism splits, scores apart", KORTHIKANTI),
    Notation("K_core", "byte", _sub("K", "core"), "bytes kept of a block's scores", KORTHIKANTI),
    Notation("M_split", "byte", _sub("M", "split"),
             "memory of a block that tensor parallelism splits"),
    Notation("M_whole", "byte", _sub("M", "whole"),
             "memory of a block that tensor parallelism leaves whole"),
    Notation("M_free", "byte", _sub("M", "free"), "memory of a device for what is split"),
    Notation("M_base", "byte", _sub("M", "base"), "memory of the base model's devices", TWO_CS),
    Notation("P_base", "1", _sub("P", "base"), "parameters of the base model", TWO_CS),
    Notation("N_base", "1", _sub("N", "base"), "tensor-parallel degree of the base model", TWO_CS),
    Notation("c_P", "byte", _sub("c", "P"), "memory that tensor parallelism splits, a parameter"),
]
_HARDWARE = [
    Notation(
        "C", "FLOP/s", "C",
        "arithmetic rate of a device: its peak, where nothing says sustained", DATA_MOVEMENT,
    ),
    Notation(
        "W_net", "word/s", _sub("W", "net"),
        "network bandwidth of a device, one direction", DATA_MOVEMENT,
    ),
    Notation(
        "W_DP", "word/s", _sub("W", "DP"),
        "network bandwidth of a device between replicas, one direction",
    ),
    Notation(
        "W_mem", "word/s", _sub("W", "mem"),
        "memory bandwidth of a device, one direction: half of what reads and writes share",
        DATA_MOVEMENT,
    ),
    Notation(
        "W_axis", "word/s", _sub("W", "axis"),
        "network bandwidth of a device along one mesh axis, one direction", SCALING_BOOK,
    ),
    Notation("M_DP", "1", _sub("M", "DP"), "mesh axes that data parallelism uses", SCALING_BOOK,
             lower=1),
    Notation("M_TP", "1", _sub("M", "TP"), "mesh axes that tensor parallelism uses", SCALING_BOOK,
             lower=1),
    Notation(
        "tau", "s", r"\tau", "latency of a matrix product together with its collective",
        DATA_MOVEMENT,
    ),
    Notation("w", "byte/word", "w", "bytes of a word"),
    Notation("M_cap", "byte", _sub("M", "cap"), "memory capacity of a device"),
    Notation(
        "k", "1", "k", "how many times faster than the network arithmetic has become", TWO_CS
    ),
    Notation("e_op", "J/FLOP", _sub("e", "op"), "energy of an operation"),
    Notation("t_save", "s", _sub("t", "save"), "time to write a checkpoint", YOUNG),
    Notation("t_fail", "s", _sub("t", "fail"), "mean time between failures", YOUNG),
    Notation("t_ckpt", "s", _sub("t", "ckpt"), "computation between two checkpoints", YOUNG),
    Notation("f_lost", "1", _sub("f", "lost"), "time lost, as a share of the computation", DALY),
    Notation("a", "1", "a", "width of the activation shard that hides its traffic", DATA_MOVEMENT),
    Notation("n", "token", "n", "tokens of a nanobatch and expert", DATA_MOVEMENT),
]
_SIMULATION = [
    Notation("d_out", "1", _sub("d", "out"), "rows of a weight matrix on one device", lower=1),
    Notation("d_in", "1", _sub("d", "in"), "columns of a weight matrix on one device", lower=1),
    Notation("C_s", "FLOP/s", "C_s", "sustained arithmetic rate of a device", PROGRAM),
    Notation("k_MP", "1", _sub("k", "MP"), "multiprocessors of a device", PROGRAM),
    Notation("k_PB", "1", _sub("k", "PB"), "processing blocks of a multiprocessor", PROGRAM),
    Notation("S_R", "word", "S_R", "words of registers of a processing block", PROGRAM),
    Notation("S_L2", "word", _sub("S", "L2"), "words of the shared cache",
             PROGRAM),
    Notation("S_mem", "word", _sub("S", "mem"), "words of memory of a device"),
    Notation("W_L2", "word/s", _sub("W", "L2"), "bandwidth of the shared cache, both ways",
             PROGRAM),
    Notation("W_sh", "word/s", _sub("W", "sh"), "bandwidth of multiprocessors' memories",
             PROGRAM),
    Notation("tau_mm", "s", r"\tau_{\mathrm{mm}}", "latency of a matrix product", PROGRAM),
    Notation("tau_net", "s", r"\tau_{\mathrm{net}}", "latency of one phase of a collective",
             PROGRAM),
    Notation("t_block", "s", _sub("t", "block"), "time of a block's products, one microbatch",
             PROGRAM),
    Notation("t_mm", "s", _sub("t", "mm"), "time of the products of a step", PROGRAM),
    Notation("t_PP", "s", _sub("t", "PP"), "transfers between blocks in a step", PROGRAM),
    Notation("l_TP", "s", _sub("l", "TP"), "latency of tensor parallelism", PROGRAM),
    Notation("l_PP", "s", _sub("l", "PP"), "latency of those transfers",
             PROGRAM),
    Notation("l_DP", "s", _sub("l", "DP"), "latency of data parallelism", PROGRAM),
    Notation("f_idle", "1", _sub("f", "idle"), "share of a step that a pipeline waits",
             PROGRAM),
]
_GENERIC = [
    Notation(name, "1", name, f"length of dimension {name} of a matrix product", group="generic")
    for name in ("I", "J", "K")
] + [
    Notation(f"N_{x}", "1", f"N_{x}", f"ways in which dimension {x} is split", group="generic",
             lower=1)
    for x in ("I", "J", "K")
]


_GENERIC += [
    Notation(f"Q_{x}", "word", f"Q_{x}", f"words of the all-reduce of {what}")
    for x, what in (("A", "the gradient of A"), ("B", "the gradient of B"), ("C", "C"))
] + [Notation("F", "FLOP", "F", "FLOP of one product")]


def _grouped(group: str, entries: Iterable[Notation]) -> list[Notation]:
    return [
        replace(e, group=group)
        for e in entries
    ]


NOTATION: Mapping[str, Notation] = MappingProxyType(
    {
        entry.name: entry
        for entry in [
            *_grouped("model", _MODEL),
            *_grouped("training", _TRAINING),
            *_grouped("parallelism", _PARALLEL),
            *_grouped("transformer", _TRANSFORMER),
            *_grouped("hardware", _HARDWARE),
            *_grouped("simulation", _SIMULATION),
            *_grouped("matrix product", _GENERIC),
        ]
    }
)
"""Every symbol by its name."""

PATH_EXPONENT = Notation(
    "p", "1", "p", "exponent of a path along which symbols grow", exponent=True
)
"""The exponent that a path may leave open, as in N_TP = d_model^p; it is on no list."""

_SYMBOLS = {name: entry.symbol for name, entry in NOTATION.items()}


def symbol(name: str) -> sp.Symbol:
    """Return the symbol called `name`.

    Raises:
        UnknownNameError: If there is none; the text offers the nearest names.
    """
    try:
        return _SYMBOLS[name]
    except KeyError:
        raise unknown_name("symbol", name, _SYMBOLS, see="symscale symbols") from None


def symbols(names: str) -> tuple[sp.Symbol, ...]:
    """Return the symbols of several names, separated by spaces.

    Example:
        >>> symbols("d_model d_ff")
        (d_model, d_ff)
    """
    return tuple(symbol(name) for name in names.split())


def notation(name: str | sp.Expr) -> Notation:
    """Return the entry of a symbol or of its name.

    Raises:
        UnknownNameError: If there is none.
    """
    text = str(name)
    if text not in NOTATION:
        raise unknown_name("symbol", text, NOTATION, see="symscale symbols")
    return NOTATION[text]


MOST_TIERS = 8
"""Tiers that a network may have, as many as a machine's file may state."""

TIERED = ("N_DP", "N_TP_model", "N_TP_ff", "N_PP", "N_EP", "W_net", "tau_net")
"""The names that have a value for each tier of a network."""


@lru_cache(maxsize=256)
def tier_notation(name: str, tier: int) -> Notation:
    r"""Return the entry of a symbol's value at one tier of a network.

    Args:
        name: One of `TIERED`.
        tier: Which tier, from 1, the lowest.

    Raises:
        UnknownNameError: If the name has no values by tier.

    Example:
        >>> tier_notation("N_DP", 2).name, tier_notation("N_DP", 2).latex
        ('N_DP_2', 'N_{\\mathrm{DP},2}')
    """
    if name not in TIERED:
        raise unknown_name("symbol with a value at each tier", name, TIERED)
    entry = NOTATION[name]
    return Notation(
        f"{name}_{tier}", entry.unit, f"{entry.latex[:-1]},{tier}}}",
        f"{entry.meaning}, at tier {tier}", entry.source, entry.group, entry.lower,
    )


def tier_symbol(name: str, tier: int) -> sp.Symbol:
    """Return the symbol of a name's value at one tier of a network, 1 the lowest.

    Raises:
        UnknownNameError: If the name has no values by tier.

    Example:
        >>> tier_symbol("N_DP", 2)
        N_DP_2
    """
    return tier_notation(name, tier).symbol


@lru_cache(maxsize=1)
def latex_names() -> dict[sp.Symbol, str]:
    """Return the table of symbols to their LaTeX, for SymPy's `symbol_names`."""
    by_tier = [tier_notation(name, tier) for name in TIERED for tier in range(1, MOST_TIERS + 1)]
    return {entry.symbol: entry.latex for entry in [*NOTATION.values(), *by_tier]}
