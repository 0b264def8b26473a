"""Serves one model file on a loopback port, for as long as its standard input stays open.

The first line of standard input is a JSON object: model, name, key, context, parallel, threads. When the server
answers, `READY <url>` is printed. Standard input is held by the program that started this one, so its end means that
that program is gone, however it went.
"""

import json
import os
import sys
import threading

settings = json.loads(sys.stdin.readline())


def end_with_owner():
    while sys.stdin.buffer.raw.read(4096):
        pass
    os._exit(0)


owner = threading.Thread(target=end_with_owner, daemon=True)
owner.start()

import xllamacpp  # noqa: E402  (takes a while; the owner is watched from before)

params = xllamacpp.CommonParams()
params.model.path = settings["model"]
params.model_alias = {settings["name"]}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.api_keys = [settings["key"]]
params.n_parallel = settings["parallel"]
params.n_ctx = settings["context"] * settings["parallel"]
params.cpuparams.n_threads = settings["threads"]
# What is asked at once is worked on as one batch.
params.cpuparams_batch.n_threads = settings["threads"]
params.verbosity = 0
# The first real request warms it up as well, and the start is twice as quick.
params.warmup = False
# What others ask is nobody's business: no list of running prompts, no page, no store of old ones.
params.endpoint_slots = False
params.ui = False
params.cache_ram_mib = 0

server = xllamacpp.Server(params)
print("READY", server.listening_address, flush=True)
owner.join()
