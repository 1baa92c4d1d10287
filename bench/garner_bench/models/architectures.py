# SPDX-License-Identifier: MIT
"""The architectures: configurations of transformers and torchvision with random weights, and a recommender as one writes it
in torch. Vocabularies and widths are those of the models that people run; most have fewer layers, so that a call takes
milliseconds. Nothing is downloaded."""

from typing import Any, NamedTuple

import torch
import torchvision
import transformers

BATCH, LENGTH, PAST = "batch", "length", "past"  # extents that stay open, as exporters leave them


class Feed(NamedTuple):
    name: str
    example: torch.Tensor
    open: dict  # axis -> the name of its extent
    draw: str  # how it is drawn when measuring: tokens, integers, ones, normal or uniform
    below: int = 0  # the bound of integers


class Architecture(NamedTuple):
    module: Any
    feeds: list
    outputs: list
    traced: bool = False  # its authors support the exporter by tracing alone


class Outputs(torch.nn.Module):
    """A model of transformers that is called by position and answers a tuple of tensors."""

    def __init__(self, model, names, answers):
        super().__init__()
        self.model, self.names, self.answers = model, names, answers

    def forward(self, *inputs):
        told = self.model(**dict(zip(self.names, inputs)), return_dict=True)
        return tuple(getattr(told, name) for name in self.answers)


def _tokens(name, vocabulary, batch, length):
    return Feed(name, torch.randint(0, vocabulary, (batch, length)), {0: BATCH, 1: LENGTH}, "tokens", vocabulary)


def _mask(batch, length, name="attention_mask"):
    return Feed(name, torch.ones((batch, length), dtype=torch.int64), {0: BATCH, 1: LENGTH}, "ones")


def _image(name, *shape):
    return Feed(name, torch.rand(shape), {0: BATCH} if len(shape) == 4 else {}, "uniform")


def _answering(model, feeds, *answers):
    return Architecture(Outputs(model, [feed.name for feed in feeds], answers), feeds, list(answers))


def _config(kind, **changes):
    return getattr(transformers, f"{kind}Config")(attn_implementation="eager", **changes)


def bert():
    config = _config("Bert", num_hidden_layers=3)
    kinds = Feed("token_type_ids", torch.zeros((1, 128), dtype=torch.int64), {0: BATCH, 1: LENGTH}, "integers", 2)
    feeds = [_tokens("input_ids", config.vocab_size, 1, 128), _mask(1, 128), kinds]
    return _answering(transformers.BertModel(config), feeds, "last_hidden_state", "pooler_output")


def deberta():
    config = _config("DebertaV2", hidden_size=384, num_attention_heads=6, intermediate_size=1536, num_hidden_layers=3,
                     relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
                     pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0,
                     max_relative_positions=-1)  # fmt: skip
    feeds = [_tokens("input_ids", config.vocab_size, 1, 128), _mask(1, 128)]
    return _answering(transformers.DebertaV2Model(config), feeds, "last_hidden_state")


def layoutlm():
    """Words and where they stand on the page: six tables besides that of the words."""
    config = _config("LayoutLM", num_hidden_layers=3)
    boxes = Feed("bbox", torch.zeros((1, 128, 4), dtype=torch.int64), {0: BATCH, 1: LENGTH}, "boxes",
                 config.max_2d_position_embeddings)  # fmt: skip
    feeds = [_tokens("input_ids", config.vocab_size, 1, 128), boxes, _mask(1, 128)]
    return _answering(transformers.LayoutLMModel(config), feeds, "last_hidden_state")


def t5():
    config = _config("T5", num_layers=3, use_cache=False)
    target = _tokens("decoder_input_ids", config.vocab_size, 1, 32)._replace(open={0: BATCH, 1: "target"})
    feeds = [_tokens("input_ids", config.vocab_size, 1, 64), target]
    return _answering(transformers.T5Model(config), feeds, "last_hidden_state")


class _BeamStep(torch.nn.Module):
    """A step of a beam search: the keys and values of the past in the order of the beams that go on, then one token."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, beams, *past):
        cache = transformers.DynamicCache()
        for layer in range(len(past) // 2):
            keys, values = (past[2 * layer + k].index_select(0, beams) for k in (0, 1))
            cache.update(keys, values, layer)
        told = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True, return_dict=True)
        kept = [tensor for layer in told.past_key_values.layers for tensor in (layer.keys, layer.values)]
        return (told.logits, *kept)


def _beam_step(model, vocabulary, layers, heads, width, beams=4, past=128):
    feeds = [Feed("input_ids", torch.randint(0, vocabulary, (beams, 1)), {0: BATCH}, "tokens", vocabulary),
             Feed("beams", torch.arange(beams), {0: BATCH}, "integers", beams)]  # fmt: skip
    names = [f"{kind}{layer}" for layer in range(layers) for kind in ("key", "value")]
    feeds += [Feed(f"past_{name}", torch.randn(beams, heads, past, width), {0: BATCH, 2: PAST}, "normal") for name in names]
    return Architecture(_BeamStep(model), feeds, ["logits", *names])


def gpt2_beam_step():
    config = _config("GPT2", n_layer=4)
    return _beam_step(transformers.GPT2LMHeadModel(config), config.vocab_size, 4, config.n_head, 64)


def llama():
    config = _config("Llama", hidden_size=1024, intermediate_size=2816, num_hidden_layers=2, num_attention_heads=16,
                     num_key_value_heads=4, use_cache=False)  # fmt: skip
    feeds = [_tokens("input_ids", config.vocab_size, 1, 128), _mask(1, 128)]
    return _answering(transformers.LlamaModel(config), feeds, "last_hidden_state")


def whisper():
    config = _config("Whisper", encoder_layers=2, decoder_layers=2, use_cache=False)
    sound = Feed("input_features", torch.randn(1, config.num_mel_bins, 3000), {0: BATCH}, "normal")
    target = _tokens("decoder_input_ids", config.vocab_size, 1, 32)
    return _answering(transformers.WhisperModel(config), [sound, target], "last_hidden_state")


def clip():
    config = _config("CLIP")
    config.text_config.num_hidden_layers = config.vision_config.num_hidden_layers = 2
    words = _tokens("input_ids", config.text_config.vocab_size, 4, 77)._replace(open={0: "texts"})
    feeds = [words, _image("pixel_values", 1, 3, 224, 224), _mask(4, 77)._replace(open={0: "texts"})]
    return _answering(transformers.CLIPModel(config), feeds, "logits_per_image", "text_embeds")


def rt_detr():
    """Of all anchors those with the best scores: by TopK and GatherElements."""
    config = _config("RTDetr", decoder_layers=3, num_queries=300, anchor_image_size=None,
                     backbone_config=transformers.RTDetrResNetConfig(depths=[2, 2, 2, 2], layer_type="basic",
                     hidden_sizes=[64, 128, 256, 512], embedding_size=64, out_features=["stage2", "stage3", "stage4"]),
                     encoder_in_channels=[128, 256, 512])  # fmt: skip
    feeds = [_image("pixel_values", 1, 3, 256, 256)]
    return _answering(transformers.RTDetrForObjectDetection(config), feeds, "logits", "pred_boxes")


def swin():
    return Architecture(torchvision.models.swin_t(weights=None), [_image("pixel_values", 1, 3, 224, 224)], ["logits"])


def vit():
    model = torchvision.models.VisionTransformer(224, 16, 3, 12, 768, 3072)
    return Architecture(model, [_image("pixel_values", 1, 3, 224, 224)], ["logits"])


class _Detector(torch.nn.Module):
    """A detector of torchvision takes a list of images and answers a list of dicts."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        (found,) = self.model([image])
        return found["boxes"], found["labels"], found["scores"]


def _detector(model, height, width):
    return Architecture(_Detector(model), [_image("image", 3, height, width)], ["boxes", "labels", "scores"], traced=True)


def faster_rcnn():
    """With random weights no class is likely: the threshold is 0, so that as many boxes stay as in earnest."""
    made = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn
    return _detector(made(weights=None, weights_backbone=None, box_score_thresh=0.0), 320, 400)


def ssd_lite():
    made = torchvision.models.detection.ssdlite320_mobilenet_v3_large
    return _detector(made(weights=None, weights_backbone=None, score_thresh=0.0), 320, 320)


class _Recommender(torch.nn.Module):
    """As DLRM: a table for each category, a bag of the last clicks, all pairs of features multiplied."""

    ROWS = (100000, 50000, 20000, 20000, 10000, 10000, 5000, 5000, 2000, 2000, 1000, 1000, 500, 200, 100, 50, 20, 10, 4, 3)
    WIDTH, NUMBERS, CLICKS = 64, 13, 50

    def __init__(self):
        super().__init__()
        linear = lambda *n: [m for a, b in zip(n, n[1:]) for m in (torch.nn.Linear(a, b), torch.nn.ReLU())]  # noqa: E731
        self.tables = torch.nn.ModuleList(torch.nn.Embedding(rows, self.WIDTH) for rows in self.ROWS)
        self.below = torch.nn.Sequential(*linear(self.NUMBERS, 512, 256, self.WIDTH))
        features = len(self.ROWS) + 2
        pairs = features * (features - 1) // 2
        self.above = torch.nn.Sequential(*linear(self.WIDTH + pairs, 512, 256), torch.nn.Linear(256, 1))
        self.register_buffer("pairs", torch.tril_indices(features, features, -1))

    def forward(self, numbers, categories, clicks):
        dense = self.below(numbers)
        rows = [table(categories[:, number]) for number, table in enumerate(self.tables)]
        features = torch.stack([dense, self.tables[0](clicks).sum(1), *rows], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        return self.above(torch.cat([dense, products[:, self.pairs[0], self.pairs[1]]], 1))


def recommender(batch=256):
    model = _Recommender()
    categories = Feed("categories", torch.zeros((batch, len(model.ROWS)), dtype=torch.int64), {0: BATCH}, "integers",
                      min(model.ROWS))  # fmt: skip
    clicks = Feed("clicks", torch.zeros((batch, model.CLICKS), dtype=torch.int64), {0: BATCH}, "integers", max(model.ROWS))
    return Architecture(model, [Feed("numbers", torch.rand(batch, model.NUMBERS), {0: BATCH}, "uniform"), categories, clicks],
                        ["score"])  # fmt: skip


ALL = {
    "bert": bert, "deberta": deberta, "layoutlm": layoutlm, "t5": t5, "gpt2-beam-step": gpt2_beam_step, "llama": llama,
    "whisper": whisper, "clip": clip, "vit": vit, "swin": swin, "rt-detr": rt_detr, "faster-rcnn": faster_rcnn,
    "ssd-lite": ssd_lite, "recommender": recommender,
}  # fmt: skip
