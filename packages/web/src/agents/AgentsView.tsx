import type { Agent } from '@fleetloom/protocol/managed-agents';
import { useCallback, useEffect, useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { ui } from '../stores/stores.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { NotFound } from '../ui/NotFound.tsx';
import { AgentForm } from './AgentForm.tsx';
import { AgentPage } from './AgentPage.tsx';

/** The list of agents, and the selected agent. */
export function AgentsView({ selectedId }: { selectedId: string | undefined }) {
  const [agents, setAgents] = useState<readonly Agent[] | undefined>();
  const read = useCallback(async () => {
    const found: Agent[] = [];
    try {
      for await (const agent of api.list<Agent>('v1/agents?limit=100')) found.push(agent);
      setAgents(found);
    } catch (error) {
      ui.notifyError(error);
    }
  }, []);
  useEffect(() => void read(), [read]);
  if (agents === undefined) return <p className="no-rows">Loading …</p>;
  const isNew = selectedId === 'new';
  const selected = isNew
    ? undefined
    : selectedId === undefined
      ? agents[0]
      : agents.find(({ id }) => id === selectedId);
  const isUnknown = selected === undefined && !isNew && selectedId !== undefined;
  return (
    <div className="inbox agents">
      {selected !== undefined && <h1 className="hidden-text">Agents</h1>}
      <nav className="agent-list" aria-label="Agents">
        <a data-needs="manage" className="new-agent" href="#/agents/new" aria-current={isNew ? 'page' : undefined}>
          + New agent
        </a>
        {agents.map((agent) => (
          <a key={agent.id} href={`#/agents/${agent.id}`} aria-current={agent === selected ? 'page' : undefined}>
            <b>{cleanLine(agent.name)}</b>
            <span className="quiet">
              {cleanLine(agent.model.id)} · v{agent.version}
            </span>
            {agent.description !== null && <span className="inbox-line">{cleanLine(agent.description)}</span>}
          </a>
        ))}
      </nav>
      {isUnknown ? (
        <NotFound what="agent" name={selectedId} hint="It may be archived, or belong to another server." />
      ) : selected === undefined ? (
        <AgentForm
          onSaved={() => void read()}
          onCancel={() => ui.go({ view: 'agents' })}
          agents={agents}
          agent={undefined}
        />
      ) : (
        <AgentPage
          key={`${selected.id} ${selected.version}`}
          agent={selected}
          agents={agents}
          onChanged={() => void read()}
        />
      )}
    </div>
  );
}
