import type { AgentTree, TreeThread } from '@fleetloom/protocol/stream-json/tree';
import { count } from './summarize.ts';

type State = 'running' | 'completed' | 'failed' | 'stopped';

/** Each state has a glyph and a word, not only a colour. */
const glyphs: Record<State, string> = { running: '▸', completed: '✓', failed: '✗', stopped: '■' };

/** All agents as nested lists, each below the agent that started it. Agent text is inserted as text, never as HTML. */
export function drawTree(tree: AgentTree): HTMLElement {
  const root = drawList();
  const items = new Map(tree.threads.map((thread) => [thread.key, drawAgent(thread, stateOf(tree, thread))]));
  for (const { key, parent } of tree.threads) {
    const item = items.get(key) as HTMLElement;
    const above = parent === null ? undefined : items.get(parent);
    // A recording is untrusted: two agents that start each other must not break the page.
    if (above === undefined || item.contains(above)) root.append(item);
    else listOf(above).append(item);
  }
  return root;
}

function drawAgent(thread: TreeThread, state: State): HTMLElement {
  const calls = thread.items.filter(({ kind }) => kind === 'tool_use').length;
  const item = document.createElement('li');
  item.append(
    drawText('state', `${glyphs[state]} ${state}`, state),
    drawText('name', thread.depth === 0 ? 'Main agent' : (thread.description ?? thread.key)),
    drawText('facts', [thread.type, count(calls, 'call')].filter(Boolean).join(', ')),
    drawText('said', lastText(thread)),
  );
  return item;
}

/** The state of an agent. The main agent has no status of its own, so the status of its last turn is used. */
function stateOf({ turns }: AgentTree, thread: TreeThread): State {
  if (thread.status !== undefined) return thread.status;
  const last = turns.at(-1);
  if (last === undefined || last.open) return 'running';
  return last.isError ? 'failed' : 'completed';
}

/** The last text of an agent; for a finished agent, its result. */
function lastText(thread: TreeThread): string {
  const last = thread.items.findLast((item) => item.kind === 'text');
  return last?.kind === 'text' ? last.text : '';
}

function drawText(part: string, text: string, state?: State): HTMLElement {
  const element = document.createElement('span');
  element.className = part;
  element.textContent = text;
  if (state !== undefined) element.dataset['state'] = state;
  return element;
}

function listOf(item: HTMLElement): HTMLElement {
  const last = item.lastElementChild;
  if (last instanceof HTMLUListElement) return last;
  const list = drawList();
  item.append(list);
  return list;
}

function drawList(): HTMLElement {
  const list = document.createElement('ul');
  // Safari does not expose a list without bullets as a list.
  list.setAttribute('role', 'list');
  return list;
}
