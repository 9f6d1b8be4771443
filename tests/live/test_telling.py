"""Every channel, to a receiver that really listens: what arrives, in which form, and that no secret is shown."""

from __future__ import annotations

import base64
import json
import os
import ssl
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from email.headerregistry import Address
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from live.receivers import MailRules, MailServer, WebServer, serving, trusting

from leadline.errors import BadOrder
from leadline.live.records import Alert
from leadline.live.telling import CHANNELS, Channel, Message, Undelivered, open_channels, posting
from leadline.live.telling import message as words
from leadline.live.telling.mail import SmtpServer, written
from leadline.report.plain import UNSAFE

TOKEN = "T0KEN-hunter2"
ALERT = Alert(
    run="runs/seven",
    about="verdict.roll_back",
    step=220,
    onset_step=205,
    severity="critical",
    says="ROLL BACK to step 125 · reward collapsed 0.983 → 0.002 since step ~205 · >99% confident",
    evidence=("Destructive updates since step 205: KL rose while reward fell. [kl.destructive, >99%]",),
    best_checkpoint="checkpoints/125 (step 125, complete)",
    key="0123456789abcdef0123456789abcdef",
)
CONCERN = replace(
    ALERT, about="kl.drift", severity="concern", says="KL drifts. [kl.drift, 93%]", onset_step=None, key="1" * 32
)
SERVER = SmtpServer("x", 25, "none", Address(addr_spec="w@example.org"), (Address(addr_spec="a@b.c"),), trusting())

texts = st.text(max_size=40) | st.builds(str.__mul__, st.text(min_size=1, max_size=4), st.sampled_from([1, 999]))
alerts = st.builds(
    Alert,
    run=texts,
    about=st.sampled_from(["verdict.stop", "verdict.roll_back", "silence", "action", "kl.drift"]),
    step=st.integers(0, 10**12),
    onset_step=st.none() | st.integers(0, 10**12),
    severity=st.sampled_from(["concern", "critical"]),
    says=texts,
    evidence=st.lists(texts, max_size=6).map(tuple),
    best_checkpoint=st.none() | texts,
    key=st.text("0123456789abcdef", min_size=32, max_size=32),
)
messages = st.builds(Message, st.lists(alerts, min_size=1, max_size=12).map(tuple), again=st.booleans())


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    with serving(server):
        yield server


@pytest.fixture
def post_office() -> Iterator[Callable[..., MailServer]]:
    """Starts mail servers."""
    with ExitStack() as running:

        def begin(**rules: object) -> MailServer:
            server = MailServer(MailRules(**rules))  # type: ignore[arg-type]
            running.enter_context(serving(server))
            return server

        yield begin


def opened(order: str, **environ: str) -> Channel:
    (channel,) = open_channels([order], {**os.environ, **environ}).values()
    return channel


def by_mail(server: MailServer, order: str = "mail:ada@example.org", distrust: bool = False, **environ: str) -> Channel:
    settings = {
        "LEADLINE_SMTP_HOST": "127.0.0.1",
        "LEADLINE_SMTP_PORT": str(server.port),
        "LEADLINE_SMTP_FROM": "watch@example.org",
        **environ,
    }
    return opened(order, **settings) if distrust else trusted(lambda: opened(order, **settings))


def trusted(opening: Callable[[], Channel]) -> Channel:
    """A channel that trusts the certificates of the receivers here."""
    context = trusting()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", lambda: context)
        return opening()


# --- words


def test_an_alert_read_aloud() -> None:
    assert words.text(Message((ALERT,))) == (
        "ROLL BACK to step 125 · reward collapsed 0.983 → 0.002 since step ~205 · >99% confident\n"
        "runs/seven, step 220\n"
        "- Destructive updates since step 205: KL rose while reward fell. [kl.destructive, >99%]\n"
        "Began around step 205.\n"
        "Next: Stop the run; evaluate checkpoints/125 (step 125, complete) before resuming from it. "
        "Full report: `leadline read runs/seven`"
    )


def test_a_concern_names_the_best_checkpoint_and_does_not_call_for_an_end() -> None:
    text = words.text(Message((CONCERN,)))
    assert text.splitlines()[0] == "Concern · runs/seven, step 220"
    assert "Best so far: checkpoints/125 (step 125, complete)." in text
    assert "Next: Review when convenient; no stop recommended." in text


def test_many_alerts_are_counted_and_the_gravest_come_first() -> None:
    many = tuple(replace(CONCERN, run=f"runs/{number}", key=f"{number:032x}") for number in range(30))
    message = Message((*many, ALERT))
    assert words.subject(message) == "31 alerts, 31 runs, 1 critical"
    text = words.text(message)
    assert text.startswith("ROLL BACK to step 125 · ")
    assert text.endswith("And 21 more from 21 runs: 21 kl.drift. See `leadline history`.")


def test_the_key_of_a_message_depends_on_its_alerts_alone() -> None:
    both = Message((ALERT, CONCERN)).key
    assert both == Message((CONCERN, ALERT), again=True).key
    assert Message((ALERT,)).key == ALERT.key != both


@given(messages)
def test_no_text_can_command_a_terminal_or_break_a_line(message: Message) -> None:
    shown = words.subject(message) + words.text(message).replace("\n", "")
    assert not {unicodedata.category(char) for char in shown} & UNSAFE


# --- webhook


def test_a_webhook_gets_every_alert_as_json_with_its_key(web: WebServer) -> None:
    opened("webhook:$HOOK", HOOK=f"{web.url}/in?token={TOKEN}").tell(Message((ALERT, CONCERN)))
    (request,) = web.requests
    assert request.path == f"/in?token={TOKEN}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == f'"{Message((ALERT, CONCERN)).key}"'
    assert request.data["key"] == Message((ALERT, CONCERN)).key
    told = request.data["alerts"]
    assert isinstance(told, list)
    assert told[0]["says"] == ALERT.says
    assert told[0]["evidence"] == list(ALERT.evidence)
    assert told[0]["best_checkpoint"] == ALERT.best_checkpoint
    assert web.keys() == [ALERT.key, CONCERN.key]


def test_a_webhook_sends_the_same_bytes_for_the_same_alerts(web: WebServer) -> None:
    channel = opened(f"webhook:{web.url}")
    channel.tell(Message((ALERT,)))
    channel.tell(Message((ALERT,), again=True))
    assert web.requests[0].body == web.requests[1].body


def test_a_user_and_password_in_an_address_become_a_header(web: WebServer) -> None:
    address = web.url.replace("http://", f"http://ada:{TOKEN}@")
    opened(f"webhook:{address}").tell(Message((ALERT,)))
    scheme, given = web.requests[0].headers["authorization"].split()
    assert (scheme, base64.b64decode(given).decode()) == ("Basic", f"ada:{TOKEN}")


def test_an_encrypted_webhook_is_reached_when_its_certificate_is_trusted() -> None:
    server = WebServer(tls=True)
    with serving(server):
        trusted(lambda: opened(f"webhook:{server.url}")).tell(Message((ALERT,)))
    assert server.keys() == [ALERT.key]


def test_a_proxy_of_the_environment_is_used(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", web.url)
    opened("webhook:http://hook.invalid/in").tell(Message((ALERT,)))
    assert web.requests[0].path == "http://hook.invalid/in"


# --- Slack and Discord


def test_slack_gets_plain_text_that_calls_nobody(web: WebServer) -> None:
    loud = replace(ALERT, run="<!channel>", says="*bold* <https://evil.example|click> & co")
    opened("slack:$SLACK", SLACK=f"{web.url}/services/T0/B0/{TOKEN}").tell(Message((loud,)))
    payload = web.requests[0].data
    assert payload["text"] == "&lt;!channel&gt;: *bold* &lt;https://evil.example|click&gt; &amp; co"
    blocks = payload["blocks"]
    assert isinstance(blocks, list)
    assert [(block["type"], block["text"]["type"]) for block in blocks] == [("section", "plain_text")]
    assert blocks[0]["text"]["text"].startswith("*bold* <https://evil.example|click> & co\n<!channel>, step 220\n")


@given(messages)
def test_slack_never_gets_more_than_it_takes(message: Message) -> None:
    payload = posting.slack_payload(message)
    blocks = payload["blocks"]
    assert isinstance(blocks, list)
    assert 1 <= len(blocks) <= 50
    assert all(1 <= len(one["text"]["text"]) <= 3000 for one in blocks)
    assert sum(len(one["text"]["text"]) for one in blocks) <= 13_000
    assert "<" not in str(payload["text"])


def test_discord_gets_an_embed_and_confirms(web: WebServer) -> None:
    opened("discord:$DISCORD", DISCORD=f"{web.url}/api/webhooks/1/{TOKEN}?thread_id=7").tell(Message((ALERT,)))
    (request,) = web.requests
    assert request.path == f"/api/webhooks/1/{TOKEN}?thread_id=7&wait=true"
    embeds = request.data["embeds"]
    assert isinstance(embeds, list)
    assert embeds[0]["description"].startswith("ROLL BACK to step 125 · ")


def test_discord_mentions_nobody_and_formats_nothing(web: WebServer) -> None:
    loud = replace(ALERT, says="@everyone **now** [click](https://evil.example)")
    opened("discord:$DISCORD", DISCORD=web.url).tell(Message((loud,)))
    payload = web.requests[0].data
    assert payload["allowed_mentions"] == {"parse": []}
    embeds = payload["embeds"]
    assert isinstance(embeds, list)
    assert r"\@everyone \*\*now\*\* \[click\]\(https\:" in embeds[0]["description"]


@given(messages)
def test_discord_never_gets_more_than_it_takes(message: Message) -> None:
    payload = posting.discord_payload(message)
    embeds = payload["embeds"]
    assert isinstance(embeds, list)
    assert 1 <= len(embeds) <= 10
    shown = "".join(one["description"] for one in embeds)
    assert len(shown.encode("utf-16-le", errors="replace")) // 2 <= 6000


@pytest.mark.parametrize("kind", ["slack", "discord"])
def test_an_address_that_is_a_key_is_not_sent_in_the_open(kind: str) -> None:
    with pytest.raises(BadOrder, match="not encrypted") as error:
        opened(f"{kind}:$URL", URL=f"http://hooks.example.org/{TOKEN}")
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize("kind", ["slack", "discord"])
def test_an_address_that_a_shell_put_on_the_command_line_is_refused(kind: str) -> None:
    with pytest.raises(BadOrder, match="`ps` shows it") as error:
        opened(f"{kind}:https://hooks.example.org/{TOKEN}")
    assert TOKEN not in str(error.value)
    assert f"--notify '{kind}:$NAME'" in str(error.value)


# --- mail


@pytest.mark.parametrize("security", ["starttls", "ssl"])
def test_mail_goes_encrypted_with_a_login(post_office: Callable[..., MailServer], security: str) -> None:
    server = post_office(login=f"ada:{TOKEN}", tls_at_once=security == "ssl", starttls=security == "starttls")
    login = {"LEADLINE_SMTP_USER": "ada", "LEADLINE_SMTP_PASSWORD": TOKEN, "LEADLINE_SMTP_SECURITY": security}
    by_mail(server, "mail:ada@example.org, bob@example.org", **login).tell(Message((ALERT,)))
    (received,) = server.mails
    assert (received.encrypted, received.login) == (True, "ada")
    assert (received.sender, received.to) == ("watch@example.org", ["ada@example.org", "bob@example.org"])
    mail = received.mail
    assert mail["Subject"] == f"[leadline] runs/seven: {ALERT.says}"
    assert mail["Message-ID"] == f"<{ALERT.key}@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    body = mail.get_body()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == words.text(Message((ALERT,))) + "\n"
    in_the_open = b"".join(line for line, encrypted in server.heard if not encrypted)
    assert base64.b64encode(f"\0ada\0{TOKEN}".encode()) not in in_the_open


def test_mail_without_encryption_must_be_asked_for(post_office: Callable[..., MailServer]) -> None:
    server = post_office(starttls=False)
    with pytest.raises(Undelivered, match="does not offer"):
        by_mail(server).tell(Message((ALERT,)))
    assert server.mails == []
    by_mail(server, LEADLINE_SMTP_SECURITY="none").tell(Message((ALERT,)))
    assert len(server.mails) == 1


def test_a_password_never_goes_to_another_machine_in_the_open() -> None:
    settings = {"LEADLINE_SMTP_HOST": "mail.example.org", "LEADLINE_SMTP_SECURITY": "none"}
    with pytest.raises(BadOrder, match="unencrypted") as error:
        opened("mail:ada@example.org", **settings, LEADLINE_SMTP_PASSWORD=TOKEN)
    assert TOKEN not in str(error.value)


@given(messages)
def test_no_text_adds_a_header_to_a_mail(message: Message) -> None:
    mail = written(SERVER, message)
    assert set(mail.keys()) <= {
        "Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
        "Content-Transfer-Encoding",
    }  # fmt: skip
    head = mail.as_bytes().partition(b"\r\n\r\n")[0]
    assert all(line.startswith(b" ") or b": " in line for line in head.split(b"\r\n"))


# --- programs


def test_a_command_gets_the_json_and_the_text_but_none_of_our_secrets(tmp_path: Path) -> None:
    program = tmp_path / "notify.py"
    program.write_text(
        "import json, os, pathlib, sys\n"
        "here = pathlib.Path(__file__).parent\n"
        "(here / 'seen.json').write_text(json.dumps({'argv': sys.argv[1:], 'given': json.load(sys.stdin),"
        " 'environ': dict(os.environ), 'ps': pathlib.Path('/proc/self/cmdline').read_bytes().decode()"
        " if pathlib.Path('/proc/self/cmdline').exists() else ''}))\n"
    )
    environ = {**os.environ, "HOOK": f"https://example.org/{TOKEN}", "LEADLINE_SMTP_PASSWORD": TOKEN, "MINE": "yes"}
    order = f"command:{sys.executable} {program} --team 'a b; rm -rf /'"
    channels = open_channels([order, "webhook:$HOOK"], environ)
    channels[order].tell(Message((ALERT,)))
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["argv"] == ["--team", "a b; rm -rf /"]
    assert seen["given"]["alerts"][0]["key"] == ALERT.key == seen["environ"]["LEADLINE_KEY"]
    assert seen["given"]["text"] == words.text(Message((ALERT,)))
    assert seen["environ"]["MINE"] == "yes"
    assert TOKEN not in json.dumps(seen)


def test_standard_output_gets_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    opened("stdout").tell(Message((ALERT,)))
    assert capsys.readouterr().out == words.text(Message((ALERT,))) + "\n\n"


# --- orders


@pytest.mark.parametrize(
    "order", ["", "pigeon", "stdout:x", "webhook", "webhook:", f"ftp://example.org/{TOKEN}", f"https://h/{TOKEN}"]
)
def test_an_order_that_cannot_be_followed_says_what_can(order: str) -> None:
    with pytest.raises(BadOrder, match="Can't use --notify") as error:
        opened(order)
    assert all(form in str(error.value) for form, _ in CHANNELS.values())
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    "address", ["", "no address", f"ftp://example.org/{TOKEN}", f"https://h:99999999/{TOKEN}", f"https://h/\n{TOKEN}"]
)
@pytest.mark.parametrize("kind", ["webhook", "slack", "discord"])
def test_an_address_that_is_none_is_refused_without_being_repeated(kind: str, address: str) -> None:
    with pytest.raises(BadOrder, match=r"address|no URL") as error:
        opened(f"{kind}:$URL", URL=address)
    assert "URL" in str(error.value)
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize("address", ["ada", "ada@", "@example.org", "a b@example.org", "ada@example.org\nBcc: x@y", ""])
def test_an_address_for_mail_must_be_one(address: str) -> None:
    with pytest.raises(BadOrder):
        opened(f"mail:{address}", LEADLINE_SMTP_HOST="localhost")


@pytest.mark.parametrize(
    "setting", [{"LEADLINE_SMTP_PORT": "x"}, {"LEADLINE_SMTP_SECURITY": "hope"}, {"LEADLINE_SMTP_HOST": ""}]
)
def test_settings_of_the_mail_server_are_checked_at_once(setting: dict[str, str]) -> None:
    with pytest.raises(BadOrder, match="LEADLINE_SMTP"):
        opened("mail:ada@example.org", **{"LEADLINE_SMTP_HOST": "localhost", **setting})


@pytest.mark.parametrize("command", ["'", " "])
def test_a_command_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(BadOrder, match="command"):
        opened(f"command:{command}")


def test_a_channel_given_twice_is_one() -> None:
    assert len(open_channels(["stdout", "stdout"], {})) == 1


def test_neither_the_name_nor_the_looks_of_a_channel_give_a_secret_away() -> None:
    environ = {
        "URL": f"https://h.example/{TOKEN}",
        "LEADLINE_SMTP_HOST": "localhost",
        "LEADLINE_SMTP_USER": "ada",
        "LEADLINE_SMTP_PASSWORD": TOKEN,
    }
    orders = [f"webhook:https://h.example/{TOKEN}", "slack:$URL", "discord:$URL", "mail:a@b.c", f"command:x {TOKEN}"]
    channels = list(open_channels(orders, environ).values())
    assert len(channels) == len(orders)
    assert TOKEN not in repr(channels)
    assert not any(TOKEN in channel.name for channel in channels)
    assert channels[0].name.startswith("webhook:h.example#")
