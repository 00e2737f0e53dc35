import type { RandomText } from '../../bench/random-text.ts';

/**
 * Growing snapshots as bytes, one line each: half as programs write them, half with changes that could mislead a reader
 * that only compares the new part: edits, shrinks, reorders, duplicate or escaped keys, cut-off lines, broken
 * bytes, and growth inside escapes, surrogate pairs and characters of several bytes.
 */
export function mutatedSnapshots(random: RandomText, lines: number): Uint8Array[] {
  const writer = new SnapshotWriter(random);
  return Array.from({ length: lines }, () => writer.next());
}

interface Message {
  id: string;
  parent: string | null;
  blocks: Block[];
}

interface Block {
  kind: 'text' | 'thinking' | 'old thinking' | 'tool_use' | 'other';
  /** JSON text, escapes included. */
  content: string;
  id: string;
  signature: string;
  more: string;
  isFlipped: boolean;
}

/** What a line may have beside its blocks. */
interface Wildness {
  behindContent: string;
  atEnd: string;
  separator: string;
}

class SnapshotWriter {
  readonly #random: RandomText;
  readonly #messages: Message[];
  readonly #isWild: boolean;
  readonly #hasUuids: boolean;
  readonly #uuids: string[] = [];

  constructor(random: RandomText) {
    this.#random = random;
    this.#isWild = this.#chance(0.5);
    this.#hasUuids = this.#chance(0.6);
    this.#messages = Array.from({ length: 1 + random.below(3) }, (_, index) => ({
      id: `msg_${index}`,
      parent: random.pick([null, null, 'toolu_A', 'toolu_B']),
      blocks: [this.#block()],
    }));
  }

  next(): Uint8Array {
    if (this.#isWild && this.#chance(0.02)) return encode('{"type":"result","result":"x"}\n');
    const message = this.#random.pick(this.#messages);
    const wildness: Wildness = { behindContent: '', atEnd: '', separator: ',' };
    this.#change(message, wildness);
    const text = this.#line(message, wildness);
    return encode(
      `${this.#isWild ? this.#damage(text) : text}\n`,
      this.#isWild ? (bytes) => this.#corrupt(bytes) : undefined,
    );
  }

  /** Mostly growth. */
  #change(message: Message, wildness: Wildness): void {
    const { blocks } = message;
    const last = blocks.at(-1);
    const share = this.#random.next();
    if (share < 0.35 || last === undefined) blocks.push(this.#block());
    else if (share < 0.65 && last.kind !== 'tool_use') last.content += this.#pieces(1 + this.#random.below(2));
    else if (share >= 0.68 && this.#isWild) this.#spoil(message, last, wildness);
  }

  #spoil(message: Message, last: Block, wildness: Wildness): void {
    const { blocks } = message;
    const ways: (() => void)[] = [
      () => blocks.splice(1 + this.#random.below(blocks.length)),
      () => blocks.splice(0, blocks.length, ...blocks.toReversed()),
      () => (last.content = this.#pieces(3)),
      () => (blocks[0]!.content = this.#pieces(2)),
      () => (last.more = this.#random.pick(IN_BLOCK)),
      () => (wildness.atEnd = this.#random.pick(AT_END)),
      () => (wildness.behindContent = this.#random.pick(BEHIND_CONTENT)),
      () => (last.signature = this.#pieces(1)),
      () => (wildness.separator = ' , '),
      () => (last.isFlipped = true),
      () => (message.parent = this.#random.pick([null, 'toolu_A', 'toolu_B'])),
    ];
    this.#random.pick(ways)();
  }

  #line({ id, parent, blocks }: Message, { behindContent, atEnd, separator }: Wildness): string {
    const content = blocks.map(toJson).join(separator);
    const head = `"model":"m","id":"${id}","type":"message","role":"assistant"`;
    const uuid = this.#hasUuids ? `,"uuid":"${this.#uuid()}"` : '';
    const rest = `"parent_tool_use_id":${JSON.stringify(parent)}${uuid}${atEnd}`;
    return `{"type":"assistant","message":{${head},"content":[${content}]${behindContent}},${rest}}`;
  }

  #damage(text: string): string {
    if (this.#chance(0.03)) return text.slice(0, this.#random.below(text.length));
    if (this.#chance(0.03)) return text.replace(']', this.#random.pick([',]', ',null]', ',{}]', ',[]]', ',5]']));
    if (!this.#chance(0.02)) return text;
    const hidden = '"c\\u006fntent":[{"type":"text","text":"a"}]';
    return text.replace('"message":{', `"message":{${hidden},"inner":{`).replace('},"parent', '}},"parent');
  }

  #corrupt(bytes: Uint8Array): void {
    if (!this.#chance(0.03)) return;
    const byte = this.#random.below(256);
    bytes[this.#random.below(bytes.length - 1)] = byte === 0x0a ? 0x20 : byte;
  }

  #block(): Block {
    const share = this.#random.next();
    const kind = share < 0.45 ? 'text' : share < 0.65 ? 'thinking' : share < 0.7 ? 'old thinking' : undefined;
    return {
      kind: kind ?? (share < 0.9 ? 'tool_use' : 'other'),
      content: this.#pieces(this.#random.below(5)),
      id: `toolu_${this.#random.below(50)}`,
      signature: '',
      more: '',
      isFlipped: false,
    };
  }

  #pieces(count: number): string {
    return Array.from({ length: count }, () => this.#random.pick(PIECES)).join('');
  }

  #uuid(): string {
    if (this.#isWild && this.#chance(0.04) && this.#uuids.length > 0) return this.#random.pick(this.#uuids);
    const uuid = `u${this.#uuids.length}`;
    this.#uuids.push(uuid);
    return uuid;
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }
}

function toJson({ kind, content, id, signature, more, isFlipped }: Block): string {
  const signed = signature === '' ? '' : `,"signature":"${signature}"`;
  switch (kind) {
    case 'text':
      return isFlipped ? `{"text":"${content}","type":"text"${more}}` : `{"type":"text","text":"${content}"${more}}`;
    case 'thinking':
      return `{"type":"thinking","thinking":"${content}"${signed}${more}}`;
    case 'old thinking':
      return `{"type":"thinking","text":"${content}"${more}}`;
    case 'tool_use':
      return `{"type":"tool_use","id":"${id}","name":"Bash","input":{"command":"${content}","text":"n"}${more}}`;
    case 'other':
      return `{"type":"custom_${content.length % 3}","text":"x"${more}}`;
  }
}

function encode(text: string, change?: (bytes: Uint8Array) => void): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  change?.(bytes);
  return bytes;
}

/** Half characters as escapes, so that growth falls into their middle. */
const PIECES = [
  'a',
  'word ',
  '\\"',
  '\\\\',
  '\\n',
  '\\ud83d',
  '\\ude00',
  '\\u00e9',
  'é',
  '漢',
  '🧵',
  '🧑‍🚀',
  '\\u200d',
  '',
  '\\"content\\":[',
];
const IN_BLOCK = [
  ',"id":"x"',
  ',"id":"y"',
  ',"text":"zz"',
  ',"te\\u0078t":"zz"',
  ',"thinking":"q"',
  ',"type":"text"',
  ',"type":"thinking"',
  ',"citations":null',
  ',"thinking":null',
];
const BEHIND_CONTENT = [
  ',"id":"msg_0"',
  ',"id":"msg_1"',
  ',"content":[]',
  ',"usage":{"a":1}',
  ',"c\\u006fntent":[]',
  ',"role":"user"',
];
const AT_END = [
  ',"supersedes":["u1"]',
  ',"aborted":true',
  ',"error":"server_error"',
  ',"type":"user"',
  ',"content":[]',
  ',"message":null',
  ',"agent_id":"t1"',
  ',"timestamp":"2026"',
  ',"session_id":"s"',
  ',"x":"\\u0041"',
  ',"parent_tool_use_id":"toolu_A"',
  ',"subagent_type":"g"',
  ',"retracted_message_uuids":["u2"]',
];
