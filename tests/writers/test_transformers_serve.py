"""A real model server: `transformers serve` with a tiny random model. Nonsense must end in no usable answer."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import trl_bytes

from leadline.audit import audit, prepare
from leadline.audit.endpoint import Endpoint
from leadline.sources import open_run

pytestmark = pytest.mark.writers


def tiny_model(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<s>", "</s>"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16384,
        bos_token_id=vocabulary["<s>"],
        eos_token_id=vocabulary["</s>"],
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def small_run(folder: Path) -> Path:
    noise = random.Random(1)
    rows: list[tuple[int, dict[str, object]]] = []
    (folder / "rollouts").mkdir(parents=True)
    for step in range(1, 41):
        rows.append((step, {"reward": 0.2 + 0.01 * step + noise.gauss(0, 0.02)}))
        if step in (1, 40):
            lines = [f'{{"input": "{n}+1=", "output": "{n + 1}", "score": 1.0, "step": {step}}}\n' for n in range(3)]
            (folder / "rollouts" / f"{step}.jsonl").write_text("".join(lines))
    (folder / "trainer_state.json").write_bytes(trl_bytes(rows))
    return folder


def test_nonsense_is_no_usable_answer(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = tmp_path / "model"
    tiny_model(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "transformers"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            for _ in range(1200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
                time.sleep(0.1)
            reader = Endpoint(f"http://127.0.0.1:{port}/v1", str(model), timeout=120, calls=8)
            told = audit(prepare(open_run(small_run(tmp_path / "run"))), reader)
        finally:
            process.terminate()
            process.wait(30)
    assert reader.called > 0
    assert told.blind.hearing == "no_answer"
    assert told.judgement == told.without
    assert all("reached" not in problem for problem in told.problems), (tmp_path / "log").read_text()[-2000:]
