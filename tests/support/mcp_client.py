"""The official Python client of the Model Context Protocol, as a program.

    mcp_client.py MODE TEAM INPUT

Starts `TEAM mcp` and connects in MODE, which is `legacy` (with the handshake), `auto`, or a revision without one. Lists
what there is, lets a panel answer INPUT and judge, and prints one JSON object with what it saw. In a repository it also has
the branch reviewed and repaired, and takes the call that is offered first where a person is to decide. A failure is a traceback
and exit 1.
"""
import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(mode, team, text):
    server = StdioServerParameters(command=team, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
    seen = {"progress": []}

    async def progress(done, total, message):
        seen["progress"].append([done, message])

    async with Client(server, mode=mode) as client:
        seen["revision"] = client.protocol_version
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        arguments = {"mode": "run-and-judge", "input": text, "self_vote": "slot"}
        judged = await client.call_tool("team", arguments, progress_callback=progress)
        seen["judged"] = json.loads(judged.content[0].text)
        seen["verdict"] = judged.content[1].text
        refused = await client.call_tool("team", {"mode": "run", "inputs": text})
        seen["refused"] = [refused.is_error, refused.content[0].text]
        resources = (await client.list_resources()).resources
        seen["resources"] = [str(resource.uri) for resource in resources]
        read = await client.read_resource(resources[0].uri)
        seen["resource"] = read.contents[0].text
        # Many at once, on one connection.
        lists = await asyncio.gather(*(client.call_tool("team", {"mode": "list"}) for _ in range(20)))
        seen["lists"] = len([found for found in lists if not found.is_error])
        # In a repository, a change is reviewed and repaired as well.
        if os.path.exists(".git"):
            reviewed = await client.call_tool("team_review", {"intent": text, "wait": True}, progress_callback=progress)
            seen["reviewed"] = json.loads(reviewed.content[0].text)
            begun = json.loads((await client.call_tool("team_fix", {"intent": text})).content[0].text)
            while True:
                status = await client.call_tool("team", {"mode": "status", "path": begun["session"]})
                seen["parked"] = json.loads(status.content[0].text)
                if seen["parked"]["state"] not in ("in_progress", "closing"):
                    break
                await asyncio.sleep(0.1)
            calls = [call for call in seen["parked"]["next"] if "fix" in call["arguments"]]
            for call in calls[:1]:
                answered = await client.call_tool(call["tool"], {**call["arguments"], "wait": True})
                seen["fixed"] = json.loads(answered.content[0].text)
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
