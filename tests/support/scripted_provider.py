#!/usr/bin/env python3
"""A scripted model provider on loopback, for agents and clients that would ask a real one.

    scripted_provider.py [PORT [LOG]]

PORT 0 (the default) takes a free port. The first line on stdout is `READY http://127.0.0.1:PORT`. The server ends when
its standard input does, so that it never outlives the test that started it.

It speaks Anthropic Messages (`/v1/messages`, `count_tokens`), OpenAI Responses (`/v1/responses`) and chat completions
(`/v1/chat/completions`), `/v1/models`, and Gemini (`generateContent`, `streamGenerateContent`). What it does is chosen by
a prefix of the path, `/s/SCENARIO/...` or `/s/SCENARIO,delay=SECONDS/...`:

    plain tool toolonly toolsleep toolread toolspace toolmcp toolreview vote words empty long slow hang reset truncated truncall
    review prose 401 403 429 429long 500 529

`truncated` cuts a stream after two pieces and answers a request without streaming; `truncall` cuts both. `vote` approves
every answer that a judge's prompt introduces with `### Response ALIAS`. `toolmcp` calls the tool of an MCP server whose name ends
with `team`, and answers with what it said; `toolreview` does so with the one that ends with `team_review`. `words` answers with the words of the form `WORD-7` that
it finds anywhere in the request, each once and in their order, so that a test can see what of a conversation it was sent. `review` and `reviewNAME` take part in a review and its
repairs: they find `items.len() - 1` where the change in the newest prompt adds it, vote on findings by the same, and have
`src/sum.rs` written anew by a shell command where they are asked to mend; `prose` and `proseNAME` are the same, but find
only when they are told that their reply cannot be read. The log says which prompts a request held, in order. `429` says Retry-After 1, `429long` an hour.
LOG gets one JSON line for each request.
"""
import json
import re
import socket
import sys
import threading
import time
from http.server import ThreadingHTTPServer, BaseHTTPRequestHandler

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 0
LOG = open(sys.argv[2], "a", buffering=1) if len(sys.argv) > 2 else None
TEXT = ["Hello", " from the", " fake provider:", " the answer is 42."]
CMD = "echo tool-ran-ok"
SLEEPCMD = "perl -e 'sleep 299'"
READCMD = "cat ../../manifest.json"
SPACECMD = "pwd; cat seen.txt; touch made || echo refused; ls -A .."
MCPCALL = {"mode": "run-and-judge", "input": "Which is it?", "self_vote": "slot"}
MCPREVIEW = {"intent": "Sum all items.", "wait": True}
MENDCMD = "printf 'pub fn sum(items: &[u64]) -> u64 {\\n    items.iter().copied().sum()\\n}\\n' > src/sum.rs"
FINDING = {"severity": "high", "action": "auto-fix", "file": "src/sum.rs", "line": 3, "end_line": 3,
           "title": "The last item is never summed", "description": "The loop ends one item early.",
           "evidence": "It counts to the length less one.", "suggestion": "Sum all of them."}
# What is only in one kind of prompt.
PROMPTS = {"You are one reviewer of several": "review", "The change that you reviewed earlier": "again",
           "Give your findings again": "repair", "You are one judge of several": "vote", "You mend faults": "fix"}
lock = threading.Lock(); seq = [0]; active = [0]; peak = [0]

class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    # ---- plumbing
    def start(self, code=200, ctype="application/json", extra=(), length=None):
        self.send_response(code); self.send_header("content-type", ctype)
        for k, v in extra: self.send_header(k, v)
        if length is None: self.send_header("transfer-encoding", "chunked")
        else: self.send_header("content-length", str(length))
        self.end_headers()
    def js(self, obj, code=200, extra=()):
        b = json.dumps(obj).encode(); self.start(code, extra=extra, length=len(b)); self.wfile.write(b)
    def chunk(self, s):
        b = s.encode(); self.wfile.write(b"%x\r\n%s\r\n" % (len(b), b)); self.wfile.flush()
    def end(self): self.wfile.write(b"0\r\n\r\n"); self.wfile.flush()
    def cut(self):
        try: self.connection.shutdown(socket.SHUT_RDWR)
        except OSError: pass
        self.close_connection = True
    def do_HEAD(self): self.start(200, length=0)
    def do_GET(self):
        self.note(None)
        if "/models" in self.path: return self.js({"object": "list", "data": [{"id": "fake-model", "object": "model", "owned_by": "fake"}], "models": []})
        if self.path.endswith("/stats"): return self.js({"requests": seq[0], "peak_inflight": peak[0]})
        self.js({"ok": True})
    def note(self, body, kind=""):
        with lock: seq[0] += 1
        if LOG:
            d = {"t": round(time.time(), 3), "m": self.command, "p": self.path, "kind": kind,
                 "ua": self.headers.get("user-agent", "")[:80],
                 "auth": [k for k in ("x-api-key", "authorization", "x-goog-api-key") if self.headers.get(k)]}
            if body is not None:
                d["bytes"] = int(self.headers.get("content-length") or 0)
                d["model"] = body.get("model"); d["stream"] = body.get("stream")
                d["tools"] = [n for n, _ in self.tools(body)][:40]
                d["prompts"] = [kind for _, kind in self.prompts(json.dumps(body))]
            LOG.write(json.dumps(d) + "\n")
    def tools(self, b):
        out = []
        for t in b.get("tools") or []:
            if "functionDeclarations" in t:
                out += [(f["name"], f) for f in t["functionDeclarations"]]
            elif "function" in t: out.append((t["function"]["name"], t["function"]))
            else: out.append((t.get("name") or t.get("type", "?"), t))
        return out
    def prompts(self, s):
        """Where the prompts of reviews and repairs stand in a request, and of which kind they are."""
        return sorted((m.start(), kind) for words, kind in PROMPTS.items() for m in re.finditer(words, s))
    def reviewed(self, sc, b):
        """The text and the command by which the newest prompt is answered."""
        s = json.dumps(b)
        found = self.prompts(s)
        if not found: return ["A title."], None
        at, kind = found[-1]
        asked = s[at:]
        if kind == "fix":
            done = any(word in asked for word in ('"tool_result"', '"function_call_output"', '"role": "tool"', '"functionResponse"'))
            return (["F01: all of them are summed."], None) if done else (["I will mend it."], MENDCMD)
        if kind == "repair": asked = s
        # The artefact is JSON within JSON in some wires, so backslashes are not counted.
        wrong = re.search(r"n\+ +for index in 0\.\.items\.len\(\) - 1", asked) is not None
        if kind == "vote":
            vote = "```vote\nFINDING: %s\nVERDICT: %s\nCONFIDENCE: 9\nSUMMARY: As the change shows.\n```\n"
            names = dict.fromkeys(re.findall(r"### Finding ([A-Za-z0-9]+)", asked))
            return ["I looked.\n\n"] + [vote % (name, "SUSTAIN" if wrong else "REJECT") for name in names], None
        if sc.startswith("prose") and kind == "review": return ["All is well with it."], None
        block = json.dumps({"findings": [FINDING] if wrong else []})
        return ["I looked at it.\n\n", "```findings\n" + block + "\n```\n"], None
    def results(self, b):
        found = []
        def walk(o):
            if isinstance(o, dict):
                if o.get("type") == "tool_result": found.append(json.dumps(o.get("content")))
                elif o.get("type") == "function_call_output": found.append(json.dumps(o.get("output")))
                elif o.get("role") == "tool": found.append(json.dumps(o.get("content")))
                elif "functionResponse" in o: found.append(json.dumps(o["functionResponse"]))
                else:
                    for v in o.values(): walk(v)
            elif isinstance(o, list):
                for v in o: walk(v)
        walk(b)
        return found
    def pick_tool(self, b, CMD=CMD):
        names = dict(self.tools(b))
        if CMD is MCPREVIEW:
            found = [n for n in names if n.endswith("team_review")]
            return (found[0], MCPREVIEW) if found else (None, None)
        if CMD is MCPCALL:  # `mcp__team__team`, `team_team` and the like, as the agent calls the tool of the server
            found = [n for n in names if n.endswith("team")]
            return (found[0], MCPCALL) if found else (None, None)
        for n in ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"):
            if n in names:
                p = (names[n].get("input_schema") or names[n].get("parameters") or names[n].get("parametersJsonSchema") or {}).get("properties", {})
                a = {}
                if "cmd" in p: a["cmd"] = CMD
                else: a["command"] = ["bash", "-lc", CMD] if (p.get("command") or {}).get("type") == "array" else CMD
                if "description" in p: a["description"] = "Echo a marker"
                return n, a
        # An agent that is allowed to read only.
        if "Read" in names: return "Read", {"file_path": "/etc/hostname"}
        if "read_file" in names: return "read_file", {"file_path": "notes.md"}
        if "read" in names: return "read", {"filePath": "notes.md"}
        return None, None
    def do_POST(self):
        n = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(n) if n else self.readchunked()
        if self.headers.get("content-encoding") == "zstd": raw = b"{}"
        try: body = json.loads(raw or b"{}")
        except Exception: body = {}
        m = re.match(r"^/s/([a-z0-9]+)(?:[;,]delay=([0-9.]+))?(/.*)$", self.path)
        sc, delay, path = (m.group(1), m.group(2), m.group(3)) if m else ("plain", None, self.path)
        with lock: active[0] += 1; peak[0] = max(peak[0], active[0])
        try:
            self.note(body, sc)
            if delay: time.sleep(float(delay))
            self.route(sc, path.split("?")[0], path, body)
        except (BrokenPipeError, ConnectionResetError): self.close_connection = True
        finally:
            with lock: active[0] -= 1
    def readchunked(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked": return b""
        out = b""
        while True:
            k = int(self.rfile.readline().strip() or b"0", 16)
            d = self.rfile.read(k); self.rfile.readline(); out += d
            if k == 0: return out
    def route(self, sc, path, full, b):
        if path.endswith("/count_tokens"): return self.js({"input_tokens": 10})
        if path.endswith(":countTokens"): return self.js({"totalTokens": 10})
        api = "gemini" if (":generateContent" in path or ":streamGenerateContent" in path) else \
              "responses" if path.endswith("/responses") else "chat" if path.endswith("/chat/completions") else \
              "anthropic" if path.endswith("/messages") else None
        if api is None: return self.js({"error": {"message": "no such route " + path}}, 404)
        if sc == "hang": time.sleep(600); return self.cut()
        if sc == "reset": return self.cut()
        errs = {"401": (401, "authentication_error", "invalid x-api-key"), "403": (403, "permission_error", "forbidden"),
                "429": (429, "rate_limit_error", "rate limited, slow down"), "429long": (429, "rate_limit_error", "quota exhausted"),
                "500": (500, "api_error", "internal server error"), "529": (529, "overloaded_error", "Overloaded")}
        if sc in errs:
            code, typ, msg = errs[sc]
            ex = [("retry-after", "1" if sc == "429" else "3600")] if code == 429 else []
            if api == "anthropic": o = {"type": "error", "error": {"type": typ, "message": msg}, "request_id": "req_fake"}
            elif api == "gemini":
                st = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}.get(code, "INTERNAL")
                o = {"error": {"code": code, "message": msg, "status": st}}
            else: o = {"error": {"message": msg, "type": typ, "code": typ, "param": None}}
            return self.js(o, code, ex)
        text = TEXT
        if sc == "vote":  # one APPROVE per answer named in a judge's prompt by a line "### Response ALIAS"; else a vote on the task
            names = re.findall(r"### Response ([A-Za-z0-9_-]+)", json.dumps(b).replace("\\n", " "))
            block = "```vote\n%sVERDICT: APPROVE\nCONFIDENCE: 8\nSUMMARY: Correct and short.\nKEY_ISSUES: None\n```\n"
            text = ["The answer holds.\n\n"] + [block % f"RESPONSE: {n}\n" for n in dict.fromkeys(names)] if names else ["I read it.\n\n", block % ""]
        if sc == "words":
            text = ["I was told: ", " ".join(dict.fromkeys(re.findall(r"[A-Z]{3,}-[0-9]+", json.dumps(b)))) or "nothing"]
        reviewed = sc.startswith(("review", "prose"))
        if reviewed: text, command = self.reviewed(sc, b)
        if sc == "empty": text = []
        if sc == "long": text = ["word "] * 2000
        tool = self.pick_tool(b, command) if reviewed and command else (None, None)
        if sc in ("tool", "toolonly", "toolsleep", "toolread", "toolspace", "toolmcp", "toolreview"):
            tool = self.pick_tool(b, {"toolsleep": SLEEPCMD, "toolread": READCMD, "toolspace": SPACECMD, "toolmcp": MCPCALL, "toolreview": MCPREVIEW}.get(sc, CMD))
            s = json.dumps(b)
            done = '"tool_result"' in s or '"function_call_output"' in s or '"role": "tool"' in s or '"functionResponse"' in s
            if done:
                tool = (None, None); text = [] if sc == "toolonly" else ["After the tool: done."]
                # What the tool printed, so that a test can see what an agent could read.
                if sc in ("toolread", "toolspace", "toolmcp", "toolreview"): text = ["The tool printed: ", "; ".join(self.results(b))[:4000]]
            elif tool[0]: text = ["I will run a command."]
        getattr(self, "api_" + api)(sc, full, b, text, tool)
    # ---- Anthropic Messages
    def api_anthropic(self, sc, full, b, text, tool):
        model = b.get("model", "fake"); u = {"input_tokens": 12, "output_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        stop = "tool_use" if tool[0] else "end_turn"
        if sc == "truncall" and not b.get("stream"): return self.cut()
        if not b.get("stream"):
            c = [{"type": "text", "text": "".join(text)}] if text else []
            if tool[0]: c.append({"type": "tool_use", "id": "toolu_01", "name": tool[0], "input": tool[1]})
            return self.js({"id": "msg_01", "type": "message", "role": "assistant", "model": model, "content": c, "stop_reason": stop, "stop_sequence": None, "usage": u})
        self.start(200, "text/event-stream")
        ev = lambda o: self.chunk(f"event: {o['type']}\ndata: {json.dumps(o)}\n\n")
        ev({"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**u, "output_tokens": 1}}})
        i = 0
        if text:
            ev({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
            for k, t in enumerate(text):
                ev({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}})
                if sc == "slow": time.sleep(1)
                if sc in ("truncated", "truncall") and k == 1: return self.cut()
            ev({"type": "content_block_stop", "index": 0}); i = 1
        if tool[0]:
            ev({"type": "content_block_start", "index": i, "content_block": {"type": "tool_use", "id": "toolu_01", "name": tool[0], "input": {}}})
            ev({"type": "content_block_delta", "index": i, "delta": {"type": "input_json_delta", "partial_json": json.dumps(tool[1])}})
            ev({"type": "content_block_stop", "index": i})
        ev({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 9}})
        ev({"type": "message_stop"}); self.end()
    # ---- OpenAI chat completions
    def api_chat(self, sc, full, b, text, tool):
        model = b.get("model", "fake"); u = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
        tc = [{"index": 0, "id": "call_1", "type": "function", "function": {"name": tool[0], "arguments": json.dumps(tool[1])}}] if tool[0] else None
        fin = "tool_calls" if tc else "stop"
        if not b.get("stream"):
            m = {"role": "assistant", "content": "".join(text)}
            if tc: m["tool_calls"] = tc
            return self.js({"id": "cc_1", "object": "chat.completion", "created": 1, "model": model, "choices": [{"index": 0, "message": m, "finish_reason": fin}], "usage": u})
        self.start(200, "text/event-stream")
        def ev(d, f=None, **k): self.chunk("data: " + json.dumps({"id": "cc_1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [{"index": 0, "delta": d, "finish_reason": f}], **k}) + "\n\n")
        ev({"role": "assistant", "content": ""})
        for k, t in enumerate(text):
            ev({"content": t})
            if sc == "slow": time.sleep(1)
            if sc in ("truncated", "truncall") and k == 1: return self.cut()
        if tc: ev({"tool_calls": tc})
        ev({}, fin, usage=u)
        self.chunk("data: [DONE]\n\n"); self.end()
    # ---- OpenAI Responses
    def api_responses(self, sc, full, b, text, tool):
        model = b.get("model", "fake"); rid = "resp_1"
        u = {"input_tokens": 12, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 21}
        out = []
        if text: out.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "".join(text), "annotations": []}]})
        if tool[0]: out.append({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": tool[0], "arguments": json.dumps(tool[1]), "status": "completed"})
        base = {"id": rid, "object": "response", "created_at": 1, "model": model, "status": "in_progress", "output": [], "usage": None, "error": None}
        if not b.get("stream"): return self.js({**base, "status": "completed", "output": out, "usage": u})
        self.start(200, "text/event-stream"); n = [0]
        def ev(t, **k):
            self.chunk(f"event: {t}\ndata: " + json.dumps({"type": t, "sequence_number": n[0], **k}) + "\n\n"); n[0] += 1
        ev("response.created", response=base)
        for i, it in enumerate(out):
            ev("response.output_item.added", output_index=i, item={**it, "status": "in_progress", **({"content": []} if it["type"] == "message" else {"arguments": ""})})
            if it["type"] == "message":
                ev("response.content_part.added", output_index=i, item_id="msg_1", content_index=0, part={"type": "output_text", "text": "", "annotations": []})
                for k, t in enumerate(text):
                    ev("response.output_text.delta", output_index=i, item_id="msg_1", content_index=0, delta=t)
                    if sc == "slow": time.sleep(1)
                    if sc in ("truncated", "truncall") and k == 1: return self.cut()
                ev("response.output_text.done", output_index=i, item_id="msg_1", content_index=0, text="".join(text))
                ev("response.content_part.done", output_index=i, item_id="msg_1", content_index=0, part=it["content"][0])
            ev("response.output_item.done", output_index=i, item=it)
        ev("response.completed", response={**base, "status": "completed", "output": out, "usage": u})
        self.end()
    # ---- Gemini
    def api_gemini(self, sc, full, b, text, tool):
        um = {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21}
        def mk(parts, fin=None):
            c = {"content": {"role": "model", "parts": parts}, "index": 0}
            if fin: c["finishReason"] = fin
            return {"candidates": [c], "usageMetadata": um, "modelVersion": "fake", "responseId": "r1"}
        if ":streamGenerateContent" not in full:
            if (b.get("generationConfig") or {}).get("responseMimeType") == "application/json":
                return self.js(mk([{"text": json.dumps({"reasoning": "x", "model_choice": "flash", "complexity_score": 1, "complexity_reasoning": "x", "next_speaker": "user", "title": "t", "summary": "s"})}], "STOP"))
            return self.js(mk([{"text": "".join(text)}] if text else [], "STOP"))
        self.start(200, "text/event-stream")
        ev = lambda o: self.chunk("data: " + json.dumps(o) + "\r\n\r\n")
        for k, t in enumerate(text):
            ev(mk([{"text": t}]))
            if sc == "slow": time.sleep(1)
            if sc in ("truncated", "truncall") and k == 1: return self.cut()
        ev(mk([{"functionCall": {"name": tool[0], "args": tool[1]}}] if tool[0] else ([{"text": ""}] if text else []), "STOP"))
        self.end()

class S(ThreadingHTTPServer):
    daemon_threads = True; request_queue_size = 1024


def main():
    server = S(("127.0.0.1", PORT), H)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"READY http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
