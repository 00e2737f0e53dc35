import { useState } from 'react';
import { fleet, ui } from '../stores/stores.ts';
import { CopyLine } from './text/CopyLine.tsx';
import { startDemo } from '../stores/start-demo.ts';

/** The first steps, with commands to copy, shown instead of an empty table. */
export function FirstSteps() {
  const [isStarting, setStarting] = useState(false);
  const start = async () => {
    setStarting(true);
    try {
      await startDemo();
      await fleet.refreshSessions();
      // The fleet page is the best view of 25 agents.
      ui.go({ view: 'fleet' });
    } catch (error) {
      ui.notifyError(error);
      setStarting(false);
    }
  };
  const base = location.origin;
  return (
    <section className="empty" aria-label="First steps">
      <h1>No agents yet</h1>
      <p>
        This dashboard shows what every agent does, which ones need you, and what they cost. Try it with 25 scripted
        agents, without a key:
      </p>
      <button type="button" className="primary large" disabled={isStarting} onClick={() => void start()}>
        {isStarting ? 'Starting …' : 'Start the 25-agent demo'}
      </button>
      <h2>Or run your own agents</h2>
      <p>
        <button data-needs="run" type="button" onClick={() => ui.set({ dialog: { type: 'new_session' } })}>
          New session <kbd>c</kbd>
        </button>{' '}
        with an agent that exists, or <a href="#/agents/new">create an agent</a> first.
      </p>
      <ol>
        <li>
          <p>The same demo, from a terminal:</p>
          <CopyLine text="npx fleetloom start --demo 25" />
        </li>
        <li>
          <p>From your program, with the official SDK and this server as its base URL:</p>
          <CopyLine text={`export ANTHROPIC_BASE_URL=${base}`} />
          <CopyLine text={snippet} />
        </li>
        <li>
          <p>Claude Code, as a tree in the terminal:</p>
          <CopyLine text={'claude -p "…" --verbose --output-format stream-json | npx fleetloom translate'} />
          <p>Or follow the Claude Code sessions of this machine on this page:</p>
          <CopyLine text="npx fleetloom attach" />
        </li>
      </ol>
    </section>
  );
}

const snippet = `import Anthropic from '@anthropic-ai/sdk';
const client = new Anthropic();
const agent = await client.beta.agents.create({ name: 'helper', model: 'scripted/research' });
const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id });
await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hello' }] }] });`;
