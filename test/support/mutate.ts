import type { RandomText } from '../../bench/random-text.ts';

/** A line with one to three things wrong: values of other shapes, fields lost, moved or doubled, bytes cut or broken. */
export function mutateLine(line: string, random: RandomText): Uint8Array {
  let text = line;
  for (let times = 1 + random.below(3); times > 0; times--) text = random.pick(WAYS)(text, random);
  const bytes = new TextEncoder().encode(text);
  if (random.next() < 0.2 && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

type Way = (line: string, random: RandomText) => string;

const WAYS: Way[] = [
  (line, random) => changeValue(line, random, () => random.pick(ODD_VALUES)),
  (line, random) => changeValue(line, random, () => random.pick(ODD_VALUES)),
  (line, random) => changeValue(line, random, (value) => [value]),
  (line, random) => changeValue(line, random, (value) => ({ type: value, [random.pick(NAMES)]: value })),
  (line, random) => changeValue(line, random, () => undefined),
  (line, random) => line.replace(/"\w+":/, `"${random.pick(NAMES)}":`),
  (line, random) => line.slice(0, random.below(line.length + 1)),
  (line, random) => line.slice(random.below(line.length + 1)),
  (line, random) => line + line.slice(random.below(line.length + 1)),
  (line, random) => line.replace(/,/, random.pick([',,', '\n', '\r\n', ',"type":"user",', ' '])),
];

const NAMES =
  'type subtype message content id uuid parent_tool_use_id agent_id task_id tool_use_id text thinking event delta index __proto__ constructor toString length '.split(
    ' ',
  );

const ODD_VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  0.5,
  '',
  'main',
  'assistant',
  'result',
  '__proto__',
  '\ud800',
  'x'.repeat(300),
  [],
  {},
  [null],
  [[]],
  [{}],
  { type: 'text' },
  [{ type: 'text', text: null }],
  [{ type: 'tool_use' }],
  [{ type: 'tool_result' }],
  { type: 'message_start' },
  { type: 'content_block_delta', delta: { type: 'text_delta' } },
  { m: null },
  { __proto__: null, constructor: { inputTokens: 1 } },
  'task_started',
  'can_use_tool',
];

/** Puts something else in a random place of the JSON value. */
function changeValue(line: string, random: RandomText, change: (value: unknown) => unknown): string {
  let root: unknown;
  try {
    root = JSON.parse(line);
  } catch {
    return line;
  }
  let holder: unknown = { root };
  let key = 'root';
  for (let depth = 1 + random.below(5); depth > 0; depth--) {
    const inner = (holder as Record<string, unknown>)[key];
    if (typeof inner !== 'object' || inner === null) break;
    const keys = Object.keys(inner);
    if (keys.length === 0) break;
    holder = inner;
    key = random.pick(keys);
  }
  const target = holder as Record<string, unknown>;
  if (holder === null || key === 'root') return JSON.stringify(change(root)) ?? '';
  Object.defineProperty(target, key, {
    value: change(target[key]),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return JSON.stringify(root) ?? '';
}
