//! A program that remembers, and how it is asked.

use team::config::{AgentKind, OutputFormat, ResolvedModel};

use crate::support::{TestEnv, program};

/// Behaves as `claude -p` does: it keeps each conversation in a file of its own name, and answers with everything that it
/// was told in it, one word of it after the other. `$MISBEHAVE` makes it behave otherwise from its second turn on:
/// `forgets` the conversation, `replaces` it without a word, is `silent` about which it is, is `unsure` whether it found
/// it, or has a model that takes no `longer` prompt.
pub(crate) const CLAUDE: &str = r#"#!/bin/sh
id= resumed= kept=yes
while [ $# -gt 0 ]; do
  case $1 in
    --resume) id=$2; resumed=yes; shift;;
    --no-session-persistence) kept=;;
  esac
  shift
done
folder=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/$(pwd | tr / -)
mkdir -p "$folder"
file=$(ls "${folder%/*}"/*/"$id.jsonl" 2> /dev/null | head -n 1)
mood=${resumed:+$MISBEHAVE}
[ "$mood" = forgets ] && file=
if [ -n "$resumed" ] && [ -z "$file" ]; then
  cat > /dev/null
  echo "No conversation found with session ID: $id" >&2
  printf '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"%s"}\n' "$id"
  exit 1
fi
[ -n "$resumed" ] && [ "$mood" != replaces ] || id=$(cat /proc/sys/kernel/random/uuid) file=
file=${file:-$folder/$id.jsonl}
cat >> "$file"
echo >> "$file"
told=$(tr -s '\n' ' ' < "$file" | sed 's/ $//')
turns=$(wc -l < "$file")
[ "$mood" = silent ] || printf '{"type":"system","subtype":"init","session_id":"%s","tools":[]}\n' "$id"
if [ "$mood" = longer ]; then
  error='"error":"invalid_request","isApiErrorMessage":true'
  printf '{"type":"assistant",%s,"session_id":"%s","message":{"model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}]}}\n' "$error" "$id"
  printf '{"type":"result","subtype":"success","is_error":true,"result":"Prompt is too long","session_id":"%s"}\n' "$id"
  exit 1
fi
[ "$mood" = silent ] && named= || named="\"session_id\":\"$id\","
printf '{"type":"assistant",%s"message":{"content":[{"type":"text","text":"%s"}]}}\n' "$named" "$told"
printf '{"type":"result","subtype":"success","is_error":false,"result":"x","stop_reason":"end_turn",%s"usage":{"input_tokens":%s,"output_tokens":1},"modelUsage":{"m":{"inputTokens":%s,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0}}}\n' "$named" "$turns" "$((turns * 10))"
[ -n "$kept" ] || rm "$file"
"#;

/// A world in which it is found.
pub(crate) fn world() -> TestEnv {
    TestEnv::new().program("claude", CLAUDE)
}

pub(crate) fn claude() -> ResolvedModel {
    program(AgentKind::Claude, "claude", None, OutputFormat::ClaudeStreamJson)
}
