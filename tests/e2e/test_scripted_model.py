"""The model that plays scripts: what it is told and what it answers in four dialects, and that sessions do not mix."""

import json
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.e2e.scripted.anthropic import MESSAGES
from tests.e2e.scripted.chat import CHAT
from tests.e2e.scripted.conversation import Result, Results, Turn, Use, do, in_turn, play, say
from tests.e2e.scripted.dialect import Answer, Dialect
from tests.e2e.scripted.gemini import GEMINI
from tests.e2e.scripted.responses import RESPONSES
from tests.e2e.scripted.server import ScriptedModel, scripted_model

pytestmark = pytest.mark.slow

Body = dict[str, Any]
BOTH = Turn((Use("edit", {"path": "a"}), Use("edit", {"path": "b"})))


class AnthropicClient:
    """A program that keeps a conversation in Anthropic's words."""

    dialect, path = MESSAGES, "/v1/messages"

    def __init__(self, prompt: str) -> None:
        self.body: Body = {"model": "m", "tools": [{"name": "edit"}], "messages": [{"role": "user", "content": prompt}]}

    def calls(self, answer: Mapping[str, Any]) -> list[tuple[str, Any]]:
        self.body["messages"].append({"role": "assistant", "content": answer["content"]})
        return [(block["name"], block["input"]) for block in answer["content"] if block["type"] == "tool_use"]

    def tell(self, *texts: str) -> None:
        uses = [block for block in self.body["messages"][-1]["content"] if block["type"] == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": text}]}
            for use, text in zip(uses, texts, strict=True)
        ]
        self.body["messages"].append({"role": "user", "content": results})

    def prompt(self, text: str) -> None:
        self.body["messages"].append({"role": "user", "content": [{"type": "text", "text": text}]})


class ResponsesClient:
    """A program that keeps a conversation in the words of OpenAI's responses, each result beside its call."""

    dialect, path = RESPONSES, "/v1/responses"

    def __init__(self, prompt: str) -> None:
        self.body: Body = {"model": "m", "tools": [{"type": "function", "name": "edit"}], "input": []}
        self.prompt(prompt)

    def calls(self, answer: Mapping[str, Any]) -> list[tuple[str, Any]]:
        self.body["input"] += answer["output"]
        return [
            (item["name"], item["input"] if "input" in item else json.loads(item["arguments"]))
            for item in answer["output"]
            if item["type"] != "message"
        ]

    def tell(self, *texts: str) -> None:
        told = iter(texts)
        items, self.body["input"] = self.body["input"], []
        answered = {item["call_id"] for item in items if item["type"].endswith("_output")}
        for item in items:
            self.body["input"].append(item)
            if item["type"].endswith("_call") and item["call_id"] not in answered:
                kind = item["type"] + "_output"
                self.body["input"].append({"type": kind, "call_id": item["call_id"], "output": next(told)})

    def prompt(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        self.body["input"].append({"type": "message", "role": "user", "content": content})


class ChatClient:
    """A program that keeps a conversation in the words of chat completions."""

    dialect, path = CHAT, "/v1/chat/completions"

    def __init__(self, prompt: str) -> None:
        tools = [{"type": "function", "function": {"name": "edit"}}]
        self.body: Body = {"model": "m", "tools": tools, "messages": [{"role": "user", "content": prompt}]}

    def calls(self, answer: Mapping[str, Any]) -> list[tuple[str, Any]]:
        message = answer["choices"][0]["message"]
        self.body["messages"].append(message)
        functions = [call["function"] for call in message.get("tool_calls", ())]
        return [(function["name"], json.loads(function["arguments"])) for function in functions]

    def tell(self, *texts: str) -> None:
        calls = self.body["messages"][-1]["tool_calls"]
        self.body["messages"] += [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(calls, texts, strict=True)
        ]

    def prompt(self, text: str) -> None:
        self.body["messages"].append({"role": "user", "content": text})


class GeminiClient:
    """A program that keeps a conversation in Gemini's words, which know no ids."""

    dialect, path = GEMINI, "/v1beta/models/m:generateContent"

    def __init__(self, prompt: str) -> None:
        self.body: Body = {"tools": [{"functionDeclarations": [{"name": "edit"}]}], "contents": []}
        self.prompt(prompt)

    def calls(self, answer: Mapping[str, Any]) -> list[tuple[str, Any]]:
        content = answer["candidates"][0]["content"]
        self.body["contents"].append(content)
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        return [(call["name"], call["args"]) for call in calls]

    def tell(self, *texts: str) -> None:
        calls = [part["functionCall"] for part in self.body["contents"][-1]["parts"]]
        parts = [
            {"functionResponse": {"name": call["name"], "response": {"output": text}}}
            for call, text in zip(calls, texts, strict=True)
        ]
        self.body["contents"].append({"role": "user", "parts": parts})

    def prompt(self, text: str) -> None:
        self.body["contents"].append({"role": "user", "parts": [{"text": text}]})


Client = AnthropicClient | ResponsesClient | ChatClient | GeminiClient
CLIENTS = [AnthropicClient, ResponsesClient, ChatClient, GeminiClient]
every_dialect = pytest.mark.parametrize("client_of", CLIENTS, ids=lambda client: client.dialect.name)


def ask(model: ScriptedModel, client: Client) -> list[tuple[str, Any]]:
    answer = model.answer(client.dialect, client.body, client.path)
    return client.calls(json.loads(answer.body))


@every_dialect
def test_a_script_goes_on_by_what_its_tools_answered(client_of: Callable[[str], Client]) -> None:
    def script() -> Generator[Turn, Results, str]:
        first, second = yield BOTH
        told = yield do("edit", path=f"{first.text}+{second.text}")
        return told[0].text

    model = ScriptedModel()
    client = client_of(model.plays("two", script) + " go")
    assert ask(model, client) == [("edit", {"path": "a"}), ("edit", {"path": "b"})]
    client.tell("one", "two")
    assert ask(model, client) == [("edit", {"path": "one+two"})]
    client.tell("three")
    assert ask(model, client) == []
    assert model.of("two")[-1].turn == say("three")
    assert [(result.tool, result.text) for result in model.told("two")] == [
        ("edit", "one"),
        ("edit", "two"),
        ("edit", "three"),
    ]


@every_dialect
def test_a_script_that_has_spoken_goes_on_when_it_is_spoken_to(client_of: Callable[[str], Client]) -> None:
    model = ScriptedModel()
    client = client_of(model.plays("talk", in_turn(say("one"), do("edit", path="x"), say("two"))))
    assert ask(model, client) == []
    client.prompt("Not yet: go on")
    assert ask(model, client) == [("edit", {"path": "x"})]
    assert model.of("talk")[-1].asked.prompts == ("[script:talk]", "Not yet: go on")


@every_dialect
def test_a_later_marker_begins_another_script(client_of: Callable[[str], Client]) -> None:
    model = ScriptedModel()
    client = client_of(model.plays("first", in_turn(do("edit", path="x"), say("done"))))
    ask(model, client)
    client.tell("edited")
    ask(model, client)
    client.prompt(model.plays("second", in_turn(do("edit", path="y"))))
    assert ask(model, client) == [("edit", {"path": "y"})]


@every_dialect
def test_a_marker_within_a_line_names_nothing(client_of: Callable[[str], Client]) -> None:
    model = ScriptedModel()
    model.plays("other", in_turn(do("edit", path="wrong")))
    client = client_of(model.plays("mine", in_turn(do("edit", path="right"))))
    client.prompt("Another works on: [script:other] go")
    assert ask(model, client) == [("edit", {"path": "right"})]


@every_dialect
def test_what_is_asked_without_tools_is_no_matter_of_the_script(client_of: Callable[[str], Client]) -> None:
    model = ScriptedModel()
    client = client_of(model.plays("main", in_turn(do("edit", path="x"))))
    del client.body["tools"]
    assert ask(model, client) == []
    assert model.of("main") == []
    assert [exchange.turn.text for exchange in model.exchanges] == [client.dialect.aside]


@every_dialect
def test_a_program_without_tools_can_be_played_to(client_of: Callable[[str], Client]) -> None:
    model = ScriptedModel()
    client = client_of(model.plays_without_tools("plain", in_turn(say("an edit in text"))))
    del client.body["tools"]
    ask(model, client)
    assert [exchange.turn.text for exchange in model.of("plain")] == ["an edit in text"]


def test_a_free_form_call_is_written_as_one() -> None:
    model = ScriptedModel()
    client = ResponsesClient(model.plays("patch", in_turn(do("apply_patch", "*** Begin Patch"))))
    assert ask(model, client) == [("apply_patch", "*** Begin Patch")]
    assert client.body["input"][-1]["type"] == "custom_tool_call"
    client.tell("Done")
    ask(model, client)
    assert model.told("patch") == (Result("Done", "call_1_0_0", "apply_patch"),)


def test_a_call_within_a_namespace_names_it() -> None:
    model = ScriptedModel()
    client = ResponsesClient(model.plays("spawn", in_turn(Turn((Use("spawn", {}, "agents"),)))))
    ask(model, client)
    assert client.body["input"][-1]["namespace"] == "agents"


def test_a_failure_that_has_a_word_for_it_is_known() -> None:
    model = ScriptedModel()
    client = AnthropicClient(model.plays("fails", in_turn(do("edit", path="x"), say("done"))))
    ask(model, client)
    client.tell("No such text")
    client.body["messages"][-1]["content"][0]["is_error"] = True
    ask(model, client)
    assert model.told("fails")[0].has_failed


def test_a_script_that_has_ended_says_its_last_word_again() -> None:
    assert play(in_turn(say("one")), [(), (), ()]) == say("Done.")


def events(answer: Answer) -> Iterator[Any]:
    for line in answer.body.decode().splitlines():
        kind, _, data = line.partition(": ")
        if kind == "data" and data != "[DONE]":
            yield json.loads(data)


def stream(dialect: Dialect, body: Body, path: str) -> list[Any]:
    model = ScriptedModel()
    model.plays("s", in_turn(BOTH))
    answer = model.answer(dialect, {**body, "stream": True}, path)
    assert answer.content_type == "text/event-stream"
    return list(events(answer))


def test_anthropic_streams_each_block_and_why_it_stops() -> None:
    told = stream(MESSAGES, AnthropicClient("[script:s]").body, "/v1/messages")
    inputs = [json.loads(one["delta"]["partial_json"]) for one in told if one["type"] == "content_block_delta"]
    assert inputs == [{"path": "a"}, {"path": "b"}]
    assert [one["type"] for one in told][:1] + [one["type"] for one in told][-2:] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    assert told[-2]["delta"]["stop_reason"] == "tool_use"


def test_responses_stream_each_item_and_all_of_them_at_the_end() -> None:
    told = stream(RESPONSES, ResponsesClient("[script:s]").body, "/v1/responses")
    items = [one["item"] for one in told if one["type"] == "response.output_item.done"]
    assert [json.loads(item["arguments"]) for item in items] == [{"path": "a"}, {"path": "b"}]
    assert told[-1]["response"]["output"] == items


def test_chat_streams_its_calls_in_one_piece() -> None:
    told = stream(CHAT, ChatClient("[script:s]").body, "/v1/chat/completions")
    calls = told[0]["choices"][0]["delta"]["tool_calls"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"path": "a"}, {"path": "b"}]
    assert told[1]["choices"][0]["finish_reason"] == "tool_calls"


def test_gemini_streams_where_its_address_says_so() -> None:
    told = stream(GEMINI, GeminiClient("[script:s]").body, "/v1beta/models/m:streamGenerateContent")
    assert [part["functionCall"]["args"] for part in told[0]["candidates"][0]["content"]["parts"]] == [
        {"path": "a"},
        {"path": "b"},
    ]


def post(url: str, data: bytes | Iterator[bytes]) -> Any:
    request = urllib.request.Request(url, data=data, headers={"content-type": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
        return json.load(answer)


def test_many_sessions_play_at_once_each_its_own() -> None:
    def session(number: int) -> list[Any]:
        client = AnthropicClient(f"[script:s{number}]")
        seen = []
        for _ in range(5):
            seen += client.calls(post(f"{model.url}/v1/messages", json.dumps(client.body).encode()))
            client.tell("edited")
        return seen

    with scripted_model() as model:
        for number in range(20):
            model.plays(f"s{number}", in_turn(*(do("edit", path=f"{number}.{turn}") for turn in range(9))))
        with ThreadPoolExecutor(20) as pool:
            seen = list(pool.map(session, range(20)))
    assert seen == [[("edit", {"path": f"{number}.{turn}"}) for turn in range(5)] for number in range(20)]
    ids = {result.call for number in range(20) for result in model.told(f"s{number}")}
    assert len(ids) == 20 * 4, "a call's id is unlike any other"


def test_a_body_in_chunks_is_read_and_asides_of_programs_are_answered() -> None:
    with scripted_model() as model:
        client = AnthropicClient(model.plays("chunked", in_turn(do("edit", path="x"))))
        body = json.dumps(client.body).encode()
        answer = post(f"{model.url}/v1/messages?beta=true", iter([body[:10], body[10:]]))
        assert client.calls(answer) == [("edit", {"path": "x"})]
        assert post(f"{model.url}/v1/messages/count_tokens", body) == {"input_tokens": 10}
        with urllib.request.urlopen(f"{model.url}/v1/models") as models:  # noqa: S310 - loopback
            assert json.load(models)["data"][0]["id"] == "scripted"
