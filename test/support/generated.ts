import {
  type GeneratedStream,
  growingSnapshots,
  growingText,
  interleavedAgents,
  largeResults,
  oneBlockPerLine,
  partialMessages,
} from '../../bench/streams.ts';

/** Every shape that the generators know, small. */
export function generatedStreams(): [name: string, stream: GeneratedStream][] {
  const agents = { agents: 8, messages: 2, blocks: 9 };
  const nameless = { withId: false, withParent: false, sameOpening: true };
  return [
    ['a', oneBlockPerLine({ messages: 20 })],
    ['a, unique ids', oneBlockPerLine({ messages: 20, ids: 'unique' })],
    ['a, no ids', oneBlockPerLine({ messages: 20, ids: 'none' })],
    ['b', growingSnapshots({ messages: 2, blocks: 20 })],
    ['b, growing in place', growingSnapshots({ messages: 2, blocks: 12, growSteps: 4, unicode: 0.3 })],
    ['b, no ids', growingSnapshots({ messages: 2, blocks: 12, withId: false })],
    ['b3', growingText({ total: 3_000, unicode: 0.3 })],
    ['c', interleavedAgents(agents)],
    ['c1', interleavedAgents({ ...agents, mode: 'one-block' })],
    ['c, no parents', interleavedAgents({ ...agents, agents: 20, withParent: false })],
    ['c1, no parents', interleavedAgents({ ...agents, agents: 20, mode: 'one-block', withParent: false })],
    ['c, no ids', interleavedAgents({ ...agents, withId: false })],
    ['c, indistinguishable', interleavedAgents({ ...agents, ...nameless })],
    ['c1, indistinguishable', interleavedAgents({ ...agents, ...nameless, mode: 'one-block' })],
    ['d', largeResults({ count: 3, size: 20_000 })],
    ['e', partialMessages({ messages: 5, unicode: 0.3 })],
  ];
}
