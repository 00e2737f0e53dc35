import { cutTextStart } from '@fleetloom/protocol/fleet';
import { jsonBytesAtLeast } from '../../../../base/json/json-bytes.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import { record, text } from '../../lines/values.ts';
import { programLimits } from '../../limits.ts';

/** The characters that all open calls of a conversation may keep together. */
export class KeptChars {
  #left: number;

  constructor(max: number = programLimits.acpKeptCharsMax) {
    this.#left = max;
  }

  get left(): number {
    return this.#left;
  }

  /** Replaces `before` characters by `after`. False, without a change, if they do not fit. */
  replace(before: number, after: number): boolean {
    if (after - before > this.#left) return false;
    this.#left += before - after;
    return true;
  }
}

/** The used fields of the updates of one call, within limits: an agent may send any field any number of times. */
export class CallFields {
  readonly #kept: KeptChars;
  readonly #fields = new Map<string, { readonly value: unknown; readonly chars: number }>();
  readonly #input = new Map<string, { readonly value: unknown; readonly chars: number }>();
  #terminal = '';

  constructor(kept: KeptChars) {
    this.#kept = kept;
  }

  /** The complete input. Updates add fields to it. */
  get input(): Fields {
    return Object.fromEntries([...this.#input].map(([name, { value }]) => [name, value]));
  }

  get terminal(): string {
    return this.#terminal;
  }

  get(name: FieldName): unknown {
    return this.#fields.get(name)?.value;
  }

  take(update: Fields): void {
    for (const name of FIELD_NAMES) if (update[name] != null) this.#set(this.#fields, name, update[name]);
    for (const [name, value] of Object.entries(record(update['rawInput']) ?? {})) this.#set(this.#input, name, value);
    const shown = readTerminal(update);
    if (shown !== undefined) this.#show(shown);
  }

  /** Drops all fields of a call that has ended. */
  release(): void {
    for (const fields of [this.#fields, this.#input]) {
      for (const { chars } of fields.values()) this.#kept.replace(chars, 0);
      fields.clear();
    }
    this.#kept.replace(this.#terminal.length, 0);
    this.#terminal = '';
  }

  #set(fields: Map<string, { readonly value: unknown; readonly chars: number }>, name: string, value: unknown): void {
    const chars = name.length + jsonBytesAtLeast(value) + countValues(value) * programLimits.acpValueChars;
    if (this.#kept.replace(fields.get(name)?.chars ?? 0, chars)) fields.set(name, { value, chars });
  }

  #show(shown: string): void {
    const before = this.#terminal.length;
    const max = Math.min(programLimits.acpOutputCharsMax, before + this.#kept.left);
    this.#terminal = cutTextStart(this.#terminal + shown, max);
    this.#kept.replace(before, this.#terminal.length);
  }
}

/** The terminal output in this update. */
export function readTerminal(update: Fields): string | undefined {
  return text(record(record(update['_meta'])?.['terminal_output_delta'])?.['data']);
}

/** Counts the value and all values in it. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const part of Object.values(value)) count += countValues(part);
  return count;
}

const FIELD_NAMES = ['kind', 'title', 'name', 'content', 'rawOutput'] as const;
type FieldName = (typeof FIELD_NAMES)[number];
