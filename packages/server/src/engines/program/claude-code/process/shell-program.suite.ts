import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A test program in place of the real one: it runs each message as a shell command and answers with its output. It
 * is a script with a Node of its own, like the program from npm.
 */
export function writeShellProgram(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-shell-program-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'claude');
  writeFileSync(path, `#!/usr/bin/env node\n${CODE}`);
  chmodSync(path, 0o755);
  return path;
}

const CODE = `
const { spawnSync } = require('node:child_process');
const { randomUUID } = require('node:crypto');
if (process.argv.includes('--version')) {
  console.log('2.1.325 (Claude Code)');
  process.exit(0);
}
const session_id = randomUUID();
const print = (line) => process.stdout.write(JSON.stringify({ ...line, session_id, uuid: randomUUID() }) + '\\n');
const answer = ({ message }) => {
  print({ type: 'system', subtype: 'init', claude_code_version: '2.1.325', model: 'shell', tools: [] });
  print({ type: 'user', message, parent_tool_use_id: null, isReplay: true });
  const command = message.content.map(({ text }) => text).join('');
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', command], { encoding: 'utf8', maxBuffer: 1 << 26, timeout: 20000 });
  const content = [{ type: 'text', text: (stdout + stderr) || '(nothing)' }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  print({ type: 'assistant', message: { id: randomUUID(), model: 'shell', role: 'assistant', content, usage }, parent_tool_use_id: null });
  print({ type: 'result', subtype: 'success', is_error: false, result: 'done', num_turns: 1, usage: {} });
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text);
  if (message.type === 'user') answer(message);
});
`;
