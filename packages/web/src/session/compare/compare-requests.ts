import { toLabel as inputLabel } from '@fleetloom/protocol/fleet';
import type { Block } from '../transcript/blocks.ts';

/** The output of one model request. */
export interface RequestSummary {
  readonly number: number;
  readonly ms: number | null;
  readonly tokens: number | null;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly label: string; readonly isError: boolean }[];
}

/** Pairs the model requests of two threads by number; undefined on the side with fewer requests. */
export function pairRequests(
  left: readonly Block[],
  right: readonly Block[],
): readonly (readonly [RequestSummary | undefined, RequestSummary | undefined])[] {
  const [first, second] = [toRequests(left), toRequests(right)];
  const count = Math.max(first.length, second.length);
  return Array.from({ length: count }, (_, index) => [first[index], second[index]]);
}

function toRequests(blocks: readonly Block[]): readonly RequestSummary[] {
  const requests: {
    number: number;
    ms: number | null;
    tokens: number | null;
    text: string;
    calls: RequestSummary['calls'];
  }[] = [];
  for (const block of blocks) {
    if (block.type === 'request') {
      const { number, ms, tokens } = block;
      const sum = tokens === null ? null : tokens.input + tokens.output + tokens.cacheRead + tokens.cacheCreate;
      requests.push({ number, ms, tokens: sum, text: '', calls: [] });
      continue;
    }
    const current = requests.at(-1);
    if (current === undefined) continue;
    if (block.type === 'text') current.text += `${current.text === '' ? '' : '\n'}${block.text}`;
    if (block.type === 'call') {
      const call = { name: block.tool, label: inputLabel(block.input), isError: block.result?.isError === true };
      current.calls = [...current.calls, call];
    }
  }
  return requests;
}
