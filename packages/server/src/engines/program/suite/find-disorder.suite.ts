import type { ProgramCall, ProgramEvent } from '../program.ts';

/** The violations of the order of events that program.ts describes. */
export function findDisorder(events: readonly ProgramEvent[]): string[] {
  const problems: string[] = [];
  const known = new Set(['main']);
  const requests = new Set<string>();
  const growing = new Map<string, string>();
  const calls = new Map<string, string>();
  const askable = new Set<string>();
  const ended = new Set<string>();
  for (const [at, event] of events.entries()) {
    const complain = (problem: string) => problems.push(`${at} ${event.type} of ${event.key}: ${problem}`);
    if (event.type === 'thread_opened') known.add(event.key);
    if (!known.has(event.key)) complain('the thread was never opened');
    if (event.type === 'request_started' && requests.has(event.key)) complain('the one before has not ended');
    if (event.type === 'request_started') requests.add(event.key);
    if (event.type === 'request_ended' && !requests.delete(event.key)) complain('there was none');
    if (event.type.startsWith('block_') && !requests.has(event.key)) complain('is in no request');
    if (event.type === 'block_started') growing.set(event.block, '');
    if (event.type === 'block_delta') {
      if (!growing.has(event.block)) complain('has not begun');
      growing.set(event.block, (growing.get(event.block) ?? '') + event.text);
    }
    if (event.type === 'block_ended') {
      const text =
        event.content.type === 'text' ? event.content.text : 'thinking' in event.content ? event.content.thinking : '';
      if (!text.startsWith(growing.get(event.block) ?? '')) complain('is not what it grew to');
    }
    if (event.type === 'call') calls.set(event.callId, event.key);
    if (event.type === 'call' && isAskable(event)) askable.add(event.callId);
    if (event.type === 'ask' && calls.get(event.callId) !== event.key) complain('is not about a call of this agent');
    if (event.type === 'ask' && !askable.delete(event.callId)) complain('is about a call without an approval');
    if (event.type === 'output_delta' && calls.get(event.callId) !== event.key) complain('the call is unknown');
    if (event.type === 'output_delta' && ended.has(event.callId)) complain('the call has a result');
    if (event.type === 'result') ended.add(event.callId);
    if (event.type === 'result' && calls.get(event.callId) !== event.key) complain('the call is unknown');
  }
  return problems;
}

/** Whether the program may ask about the call, which it does at most once. */
function isAskable({ tool }: ProgramCall): boolean {
  return 'permission' in tool ? tool.permission === 'ask' : tool.kind === 'custom' && tool.isQuestion === true;
}
