import { useState } from 'react';
import { fleet, ui } from '../app/stores.ts';
import { CopyLine } from '../text/CopyLine.tsx';
import { startDemo } from './start-demo.ts';

/** Never a blank table: what to do first, ready to be copied. */
export function EmptyFleet() {
  const [isStarting, setStarting] = useState(false);
  const start = async () => {
    setStarting(true);
    try {
      await startDemo();
      await fleet.refreshSessions();
    } catch (error) {
      ui.fail(error);
      setStarting(false);
    }
  };
  const base = location.origin;
  return (
    <section className="empty" aria-label="First steps">
      <h1>No agents yet</h1>
      <p>Here you see who is doing what, who needs you, and what it costs. See it with 25 agents that need no key:</p>
      <button type="button" className="primary large" disabled={isStarting} onClick={() => void start()}>
        {isStarting ? 'Starting …' : 'Start the 25-agent demo'}
      </button>
      <h2>Or bring your own</h2>
      <ol>
        <li>
          <p>From a terminal, the same demo:</p>
          <CopyLine text="npx fleetloom start --demo 25" />
        </li>
        <li>
          <p>From your program, with the official SDK and this server as its base URL:</p>
          <CopyLine text={`export ANTHROPIC_BASE_URL=${base}`} />
          <CopyLine text={snippet} />
        </li>
        <li>
          <p>From Claude Code, as a tree in the terminal:</p>
          <CopyLine text={'claude -p "…" --verbose --output-format stream-json | npx fleetloom translate'} />
          <p>Or what runs there anyway, read along here:</p>
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
