#!/usr/bin/env node
// Replaces the claude program: prints lines in its format at a given pace, each with its print time. The text of the first
// message has the parameters: `{"lines":1000,"chars":200,"everyMs":5}`.
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

if (process.argv.includes('--version')) {
  console.log('2.1.325 (Claude Code)');
  process.exit(0);
}

const session_id = randomUUID();
for await (const text of createInterface({ input: process.stdin })) {
  const message = JSON.parse(text);
  if (message.type === 'user') await answer(message);
}

async function answer({ message }) {
  const said = typeof message.content === 'string' ? message.content : message.content[0].text;
  const { lines, chars, everyMs } = JSON.parse(said);
  print(toLine({ type: 'system', subtype: 'init', claude_code_version: '2.1.325', model: 'bench', tools: [] }));
  print(toLine({ type: 'user', message, parent_tool_use_id: null, isReplay: true }));
  // Without a pause all lines are prepared first, so that their preparation is not measured.
  const made = everyMs > 0 ? [] : Array.from({ length: lines }, (_, at) => toAnswer(at, chars));
  print(made.join(''));
  for (let at = made.length; at < lines; at++) {
    print(toAnswer(at, chars));
    await sleep(everyMs);
  }
  print(toLine({ type: 'result', subtype: 'success', is_error: false, result: 'done', num_turns: 1, usage: {} }));
}

function toAnswer(at, chars) {
  const content = [{ type: 'text', text: `${toMoment()} ${'x'.repeat(chars)}` }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${at}`, model: 'bench', role: 'assistant', content, usage, stop_reason: null };
  return toLine({ type: 'assistant', message, parent_tool_use_id: null });
}

function toLine(line) {
  return `${JSON.stringify({ ...line, session_id, uuid: randomUUID() })}\n`;
}

/** Milliseconds since 1970, finer than Date.now, and comparable between two processes. */
function toMoment() {
  return (performance.timeOrigin + performance.now()).toFixed(3);
}

function print(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at, Math.min(65_536, bytes.length - at));
    } catch (error) {
      // The pipe is full: the reader is slower.
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
