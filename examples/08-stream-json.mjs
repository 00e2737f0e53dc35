// What Claude Code prints, as a tree of agents: pipe its stream-json into this program. It needs no server.
//
//   claude -p "Ask two agents to look around" --output-format stream-json --verbose | node examples/08-stream-json.mjs
//   node examples/08-stream-json.mjs < fixtures/stream-json/2.1.325/agents-parallel.ndjson
import assert from 'node:assert/strict';
import { translateStream } from '@fleetloom/protocol/stream-json';
import { createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';

const tree = createTree();
let expected = 0;
for await (const event of translateStream(process.stdin)) {
  // Every event names the agent that it belongs to, however the lines of several were mixed.
  const indent = '  '.repeat(event.depth);
  if (event.type === 'thread_start') console.log(`${indent}${event.thread} begins: ${event.description ?? ''}`);
  if (event.type === 'tool_use') console.log(`${indent}${event.thread} calls ${event.toolName}`);
  if (event.type === 'text_delta') console.log(`${indent}${event.thread} says ${JSON.stringify(event.content)}`);
  assert.equal(event.seq, expected, 'events are numbered without gaps');
  expected += 1;
  foldEvent(tree, event);
}

assert.equal(tree.unreadableLines, 0);
assert.ok(tree.turns.length > 0, 'something was piped into it');
for (const { key, parent } of tree.threads) {
  assert.ok(parent === null || tree.threads.some((thread) => thread.key === parent), `${key} has a parent in the tree`);
}
console.log(`ok: ${expected} events of ${tree.threads.length} agents`);
