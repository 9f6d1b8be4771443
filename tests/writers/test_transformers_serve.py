"""A real model server: `transformers serve` with a tiny random model. Nonsense must end in no usable reply."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest
from conftest import trl_bytes

from leadline.cli import main

PATIENCE = 150.0  # seconds until the server has loaded its model; a quiet machine takes ten


def tiny_model(folder: Path) -> None:
    """A model of one layer with random weights that knows bytes, made here: no hub is asked for anything."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

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
    set_seed(0)
    model = LlamaForCausalLM(config)
    # Greedy nonsense runs in circles to the last token it may write: drawn, it ends when any letter in ten comes up.
    ends = list(range(0, len(vocabulary), 10))
    model.generation_config = GenerationConfig(do_sample=True, eos_token_id=ends, pad_token_id=vocabulary["</s>"])
    model.save_pretrained(folder)


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


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str, Path]]:
    """The address, the model's name, and what the server printed."""
    serve = Path(sys.executable).parent / "transformers"
    for package in ("torch", "transformers", "tokenizers", "openai", "fastapi", "uvicorn"):
        pytest.importorskip(
            package, reason=f"`transformers serve` needs {package}: pip install 'transformers[serving]'"
        )
    model, log = tmp_path / "model", tmp_path / "log"
    tiny_model(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(serve), "serve", str(model), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "OMP_NUM_THREADS": "1"}
    with log.open("wb") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=printed, env={**os.environ, **offline})
        try:
            _wait(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1", str(model), log
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ask, until = build_opener(ProxyHandler({})), time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            with ask.open(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"no server after {PATIENCE:.0f} s: {log.read_text(errors='replace')[-2000:]}")


def test_nonsense_is_no_usable_reply(
    server: tuple[str, str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, model, log = server
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    run = str(small_run(tmp_path / "run"))
    capsys.readouterr()
    assert main(["review", run, "--model", model, "--endpoint", address]) == 3
    # It was the text that could not be used, not the server that did not answer.
    printed = log.read_text(errors="replace")[-2000:]
    assert "does not end with one JSON object" in capsys.readouterr().err, printed
    assert not (tmp_path / "state").exists()
