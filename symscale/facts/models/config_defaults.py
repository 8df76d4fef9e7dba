"""The keys of each family of Hugging Face models, with the defaults of `transformers` 4.56.2."""

from collections.abc import Mapping
from types import MappingProxyType

from symscale.facts.models.config_keys import Keys, names
from symscale.language.tables import TypedNumber

_DROPOUT = TypedNumber("0.1")

_ROTARY = names("""
    hidden_act initializer_range max_sequence_length pretraining_tp rms_norm_eps
    rope_interleave rope_parameters rope_scaling rope_theta
""")
_ROUTING = names("norm_topk_prob output_router_logits router_aux_loss_coef router_jitter_noise")

_LLAMA = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": None,
    "head_dim": None, "max_position_embeddings": 2048, "tie_word_embeddings": False,
    "attention_bias": False, "mlp_bias": False, "attention_dropout": 0,
}
_MISTRAL = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "head_dim": None, "max_position_embeddings": 131072, "tie_word_embeddings": False,
    "sliding_window": 4096, "attention_dropout": 0,
}
_QWEN = {
    "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
    "head_dim": None, "max_position_embeddings": 32768, "tie_word_embeddings": False,
    "use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28,
    "layer_types": None, "attention_dropout": 0,
}
_QWEN_MOE = {
    "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 24,
    "max_position_embeddings": 32768, "tie_word_embeddings": False,
    "use_sliding_window": False, "sliding_window": 4096, "attention_dropout": 0,
    "decoder_sparse_step": 1, "mlp_only_layers": None,
}
# Latent attention has as many keys as queries, and no bias; widths of heads follow.
_LATENT = names("num_key_value_heads head_dim qk_head_dim")
_DEEPSEEK = _ROTARY | _LATENT | names("""
    aux_loss_alpha ep_size n_group norm_topk_prob routed_scaling_factor scoring_func seq_aux
    topk_group
""")

KEYS: Mapping[str, Keys] = MappingProxyType({
    "bert": Keys(
        {
            "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "intermediate_size": 3072,
            "max_position_embeddings": 512, "type_vocab_size": 2, "is_decoder": False,
            "hidden_dropout_prob": _DROPOUT, "attention_probs_dropout_prob": _DROPOUT,
        },
        ignored=names("""
            classifier_dropout directionality hidden_act layer_norm_eps pooler_fc_size
            pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
            tie_word_embeddings
        """),
        harmless={"position_embedding_type": ("absolute",)},
    ),
    "deepseek_v2": Keys(
        {
            "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
            "num_hidden_layers": 32, "num_attention_heads": 32,
            "max_position_embeddings": 2048, "tie_word_embeddings": False,
            "attention_dropout": 0, "first_k_dense_replace": 0, "kv_lora_rank": 512,
            "q_lora_rank": 1536, "n_routed_experts": 64, "n_shared_experts": 2,
            "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "num_experts_per_tok": None, "moe_intermediate_size": 1407,
        },
        ignored=_DEEPSEEK,
        harmless={
            "attention_bias": (False,), "mlp_bias": (False,), "moe_layer_freq": (1,),
            "topk_method": ("greedy", "group_limited_greedy"),
        },
    ),
    "deepseek_v3": Keys(
        {
            "vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
            "moe_intermediate_size": 2048, "num_hidden_layers": 61,
            "num_attention_heads": 128, "n_shared_experts": 1, "n_routed_experts": 256,
            "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
            "v_head_dim": 128, "qk_nope_head_dim": 128, "num_experts_per_tok": 8,
            "first_k_dense_replace": 3, "max_position_embeddings": 4096,
            "tie_word_embeddings": False, "attention_dropout": 0,
            "num_nextn_predict_layers": None,
        },
        ignored=_DEEPSEEK,
        harmless={
            "attention_bias": (False,), "moe_layer_freq": (1,), "topk_method": ("noaux_tc",),
        },
        aliases={"num_local_experts": "n_routed_experts"},
    ),
    "gemma2": Keys(
        {
            "vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
            "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
            "head_dim": 256, "max_position_embeddings": 8192, "tie_word_embeddings": True,
            "attention_bias": False, "attention_dropout": 0, "sliding_window": 4096,
            "layer_types": None,
        },
        ignored=_ROTARY | names("""
            attn_logit_softcapping final_logit_softcapping hidden_activation
            query_pre_attn_scalar
        """),
        harmless={"use_bidirectional_attention": (False,)},
        aliases={"sliding_window_size": "sliding_window"},
    ),
    "gpt2": Keys(
        {
            "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12,
            "n_head": 12, "n_inner": None, "tie_word_embeddings": True,
            "resid_pdrop": _DROPOUT, "embd_pdrop": _DROPOUT, "attn_pdrop": _DROPOUT,
        },
        ignored=names("""
            activation_function layer_norm_epsilon n_ctx reorder_and_upcast_attn
            scale_attn_by_inverse_layer_idx scale_attn_weights summary_activation
            summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
        """),
        aliases={
            "hidden_size": "n_embd", "max_position_embeddings": "n_positions",
            "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
        },
    ),
    "llama": Keys(_LLAMA, ignored=_ROTARY),
    "mistral": Keys(_MISTRAL, ignored=_ROTARY),
    "mixtral": Keys(
        {
            **_MISTRAL, "sliding_window": None, "num_experts_per_tok": 2,
            "num_local_experts": 8,
        },
        ignored=_ROTARY | _ROUTING,
    ),
    "qwen2": Keys(_QWEN, ignored=_ROTARY | {"use_mrope"}),
    "qwen2_moe": Keys(
        {
            **_QWEN_MOE, "intermediate_size": 5632, "num_attention_heads": 16,
            "num_key_value_heads": 16, "max_window_layers": 28,
            "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
            "num_experts_per_tok": 4, "num_experts": 60, "qkv_bias": True,
        },
        ignored=_ROTARY | _ROUTING,
    ),
    "qwen3": Keys({**_QWEN, "head_dim": 128, "attention_bias": False}, ignored=_ROTARY),
    "qwen3_moe": Keys(
        {
            **_QWEN_MOE, "intermediate_size": 6144, "num_attention_heads": 32,
            "num_key_value_heads": 4, "head_dim": None, "attention_bias": False,
            "moe_intermediate_size": 768, "num_experts_per_tok": 8, "num_experts": 128,
        },
        ignored=_ROTARY | _ROUTING | {"max_window_layers"},
    ),
    "t5": Keys(
        {
            "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
            "num_decoder_layers": None, "num_heads": 8, "relative_attention_num_buckets": 32,
            "feed_forward_proj": "relu", "tie_word_embeddings": True, "n_positions": 512,
            "dropout_rate": _DROPOUT, "is_gated_act": None,
        },
        ignored=names("""
            classifier_dropout dense_act_fn initializer_factor layer_norm_epsilon
            relative_attention_max_distance
        """),
        harmless={"is_encoder_decoder": (True,)},
        aliases={
            "hidden_size": "d_model", "num_attention_heads": "num_heads",
            "num_hidden_layers": "num_layers", "head_dim": "d_kv",
        },
    ),
})
"""The keys of each family, by its `model_type`."""
