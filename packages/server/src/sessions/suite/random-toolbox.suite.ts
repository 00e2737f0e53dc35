import type { RandomText } from '../../../../../bench/random-text.ts';
import type { Json } from '../../base/json/json.ts';
import type { Store } from '../../store/store.ts';
import { type ToolContext, type ToolResult, textResult } from '../../tools/tool.ts';
import type { OfferedTool, Toolbox } from '../../tools/toolbox.ts';
import { readFrames } from './check-session.suite.ts';

/** What the random toolbox needs. */
export interface RandomToolboxOptions {
  readonly random: RandomText;
  readonly store: Pick<Store, 'read'>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How often each call was run, by its number. */
  readonly runs: Map<number, number>;
  readonly onProblem: (problem: string) => void;
  /** A process that was killed runs nothing any more. */
  readonly isDead: () => boolean;
}

/** Tools that do what tools do: they work at once, late or not at all, break, fail, and heed the signal or do not. */
export function createRandomToolbox(options: RandomToolboxOptions): Toolbox {
  const { random, sleep } = options;
  const builtin = { kind: 'builtin', permission: 'allow', isEnabled: true, isSandboxed: false } as const;
  const behaviours: Record<string, (signal: AbortSignal) => Promise<ToolResult>> = {
    quick: async () => textResult('done'),
    slow: async (signal) => {
      await sleep(10 + random.below(3_000), signal).catch(() => {});
      return textResult('done at last');
    },
    stubborn: async () => {
      await sleep(random.pick([100, 3_000, STUBBORN_MS]));
      return textResult('did not listen');
    },
    broken: async () => {
      throw new Error('a tool that throws');
    },
    failing: async () => textResult('it did not work', { isError: true }),
  };
  const tools = new Map<string, OfferedTool>([
    ...Object.keys(behaviours).map((name) => offer(name, builtin)),
    offer('asking', { ...builtin, permission: 'ask' }),
    offer('disabled', { ...builtin, isEnabled: false }),
    offer('remote', { kind: 'mcp', serverName: 'far', permission: 'allow', isEnabled: true }),
    offer('remote_asking', { kind: 'mcp', serverName: 'far', permission: 'ask', isEnabled: true }),
    offer('custom', { kind: 'custom', isEnabled: true }),
  ]);
  return { offer: async () => ({ tools, problems: [] }), closeThread: async () => {}, close: async () => {} };

  function offer(name: string, more: object): [string, OfferedTool] {
    const behave = behaviours[name] ?? behaviours[random.pick(['quick', 'slow'])]!;
    const run = (input: Json, context: ToolContext) => runOnce(options, input, context, behave);
    // Each has what its kind needs: `more` says which.
    return [name, { name, description: name, inputSchema: { type: 'object' }, run, ...more } as unknown as OfferedTool];
  }
}

/** Far longer than an aborted tool is waited for. */
const STUBBORN_MS = 60_000;

async function runOnce(
  { store, runs, onProblem, isDead }: RandomToolboxOptions,
  input: Json,
  { sessionId, threadId, signal }: ToolContext,
  behave: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult> {
  if (isDead()) return await new Promise<never>(() => {});
  // The random engine numbers its calls.
  const { n } = input as { n: number };
  runs.set(n, (runs.get(n) ?? 0) + 1);
  if (runs.get(n)! > 1) onProblem(`the call ${n} runs a second time`);
  if (signal.aborted) onProblem(`the call ${n} is run although it was stopped`);
  await checkIntent();
  return await behave(signal);

  async function checkIntent(): Promise<void> {
    const frames = await readFrames(store, sessionId);
    const use = frames.find(({ type, payload }) => {
      return type.endsWith('tool_use') && (payload as { input?: { n?: number } }).input?.n === n;
    });
    if (use === undefined || use.threadId !== threadId) return onProblem(`the call ${n} runs and is not in its thread`);
    const { id } = use.payload as { id: string };
    const isMeant = frames.some((frame) => frame.type === 'tool.started' && frame.payload.tool_use_id === id);
    if (!isMeant) onProblem(`the call ${n} runs before it was written down`);
  }
}
