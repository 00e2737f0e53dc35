import { expect, it, onTestFinished } from 'vitest';
import {
  agent,
  type Conversation,
  converse,
  type EventOf,
  script,
  toolset,
} from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramEvent } from '../../packages/server/src/engines/program/program.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { openPrograms, words } from './open-program.ts';

// 2.1.197 prints no line of an agent of an agent: the engine reads their transcripts.
await describeWithClaudeCode('agents of agents of the real program', ({ path }) => {
  it('[J275] every text, call and result of agents at depth 2 and 3 is emitted once, in order, before the end of their threads', async () => {
    const tested = await open(path);
    const members = [
      agentOf('middle', [{ say: 'I delegate.' }, words.delegate('deep', 'deep', 'Go.')], [{ say: 'Middle is done.' }]),
      agentOf(
        'deep',
        [{ think: 'Hm.' }, { say: 'Deep begins.' }, words.bash('echo one')],
        [{ say: 'Deep delegates.' }, words.delegate('deepest', 'deepest', 'Go.')],
        [{ say: 'Deep is done.' }],
      ),
      agentOf('deepest', [words.bash('echo two'), words.bash('exit 3')], [{ say: 'Deepest is done.' }]),
    ];
    const { events, ask } = await converse(tested, { members, depthMax: 3 });
    const turn = script([words.delegate('middle', 'middle', 'Go.')], [{ say: 'All done.' }]);
    expect((await ask(`Go. ${turn}`)).outcome).toEqual({ type: 'done' });

    const [middle, deep, deepest] = events.flatMap((event) => (event.type === 'thread_opened' ? [event] : []));
    expect([middle?.parentKey, deep?.parentKey, deepest?.parentKey]).toEqual(['main', middle?.key, deep?.key]);
    expect([deep?.agentName, deep?.prompt, deepest?.agentName]).toEqual(['deep', 'Go.', 'deepest']);
    expect(storyOf(events, deep!.key)).toEqual([
      'opened',
      'thinking Hm.',
      'text Deep begins.',
      'call Bash',
      'result one',
      'text Deep delegates.',
      'call Agent',
      'result …',
      'text Deep is done.',
      'ended completed',
    ]);
    // Two calls of one message may return in any order.
    const below = storyOf(events, deepest!.key);
    expect(below.slice(0, 3)).toEqual(['opened', 'call Bash', 'call Bash']);
    expect(below.slice(3, 5).toSorted()).toEqual(['error …', 'result two']);
    expect(below.slice(5)).toEqual(['text Deepest is done.', 'ended completed']);
    const endOfDeepest = events.findIndex(({ type, key }) => type === 'thread_ended' && key === deepest!.key);
    const report = events.findLastIndex(({ type, key }) => type === 'result' && key === deep!.key);
    expect(endOfDeepest).toBeLessThan(report);
  }, 120_000);

  it('[J276] the text before a call that needs an approval is emitted before the call, and its real result after it', async () => {
    const tested = await open(path);
    const members = [
      agentOf('middle', [words.delegate('deep', 'deep', 'Go.')], [{ say: 'Middle is done.' }]),
      {
        ...agentOf('deep', [{ say: 'May I?' }, words.bash('echo allowed')], [{ say: 'I did.' }]),
        tools: [toolset('always_ask')],
      },
    ];
    const conversation = await converse(tested, { members, depthMax: 2 });
    const turn = script([words.delegate('middle', 'middle', 'Go.')], [{ say: 'All done.' }]);
    const ended = conversation.ask(`Go. ${turn}`);
    const { callId, key } = await callOf(conversation, 'Bash');
    expect(storyOf(conversation.events, key)).toEqual(['opened', 'text May I?', 'call Bash']);
    conversation.program.answer(callId, { type: 'allow' });
    expect((await ended).outcome).toEqual({ type: 'done' });
    expect(storyOf(conversation.events, key)).toEqual([
      'opened',
      'text May I?',
      'call Bash',
      'result allowed',
      'text I did.',
      'ended completed',
    ]);
  }, 120_000);

  it('[J277] a further run of an agent at depth 2 in the next process emits nothing of the run before', async () => {
    const tested = await open(path);
    const members = [
      agentOf('middle', [words.delegate('deep', 'deep', 'Go.')], [{ say: 'Middle is done.' }]),
      agentOf('deep', [{ say: 'First report.' }], [{ say: 'Second report.' }]),
    ];
    const turns = script(
      [words.delegate('middle', 'middle', 'Go.')],
      [{ say: 'Done.' }],
      [words.followUp('{{last_user}}', 'More.')],
      [{ say: 'Asked.' }],
      [{ say: 'Read.' }],
    );
    const first = await converse(tested, { members, depthMax: 2 });
    await first.ask(`Go. ${turns}`);
    await first.program.close();
    const opened = first.events.flatMap((event) => (event.type === 'thread_opened' ? [event] : []));
    const { key } = opened.find(({ agentName }) => agentName === 'deep')!;
    expect(storyOf(first.events, key)).toEqual(['opened', 'text First report.', 'ended completed']);

    const known = opened.map((thread) => ({ key: thread.key, callId: thread.callId! }));
    const { conversation: resume } = await first.next('opened');
    const second = await converse(tested, { members, depthMax: 2, known, resume });
    await second.ask(key);
    await second.find((event): event is EventOf<'thread_ended'> & { key: string } => event.type === 'thread_ended');
    const texts = storyOf(second.events, key).filter((line) => line.startsWith('text'));
    expect(texts).toEqual(['text Second report.']);
  }, 120_000);
});

async function open(path: string) {
  const tested = await openPrograms(path, { isTapped: true });
  onTestFinished(() => tested.close());
  return tested;
}

function agentOf(name: string, ...turns: readonly (readonly object[])[]) {
  return agent({ name, system: `You are ${name}. ${script(...turns)}` });
}

function callOf({ find }: Conversation, name: string) {
  return find((event): event is EventOf<'call'> & { key: string } => event.type === 'call' && event.name === name);
}

/** What one agent did, in order. */
function storyOf(events: readonly ProgramEvent[], key: string): string[] {
  return events.filter((event) => event.key === key).flatMap(toWords);
}

function toWords(event: ProgramEvent): string[] {
  if (event.type === 'thread_opened') return ['opened'];
  if (event.type === 'thread_ended') return [`ended ${event.status}`];
  if (event.type === 'call') return [`call ${event.name}`];
  if (event.type === 'result') {
    const text = event.content.map((block) => (block.type === 'text' ? block.text.trim() : '')).join('');
    return [`${event.isError ? 'error' : 'result'} ${/^\w+$/.test(text) ? text : '…'}`];
  }
  if (event.type !== 'block_ended') return [];
  const { content } = event;
  if (content.type === 'text') return [`text ${content.text}`];
  return content.type === 'thinking' ? [`thinking ${content.thinking}`] : [content.type];
}
