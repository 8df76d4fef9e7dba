"""The published curves that searches are held to."""

from symscale.simulator.sparse_mlp.shapes import SPARSE, Rules

CURVES = {
    "batch-No-scaling": ("h100-sxm", Rules(batch="none")),
    "dense-A100-SXM": ("a100-sxm", Rules()),
    "dense-H100-SXM": ("h100-sxm", Rules()),
    "dense-H100-SXM-Global-NVLink": ("h100-sxm-global-nvlink", Rules()),
    "dense-H100-SXM-Infinite-Network-and-LL": ("h100-sxm-infinite-network-and-ll", Rules()),
    "dense-V100-SXM": ("v100-sxm", Rules()),
    "sparse-H100-SXM": ("h100-sxm", Rules(experts=SPARSE)),
    "sparse-H100-SXM-Low-Latency": ("h100-sxm-low-latency", Rules(experts=SPARSE)),
    "sparse-V100-SXM": ("v100-sxm", Rules(experts=SPARSE)),
}
