import type { Agent } from '@fleetloom/protocol/managed-agents';
import { useState } from 'react';
import { formatClock, formatDay } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { Diff } from '../ui/text/Diff.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import { describeVersion } from './describe-version.ts';

/** The versions of an agent, and what changed between two of them. */
export function Versions({ agent, agents }: { agent: Agent; agents: readonly Agent[] }) {
  const { value, problem } = useLoaded(agent.id, String(agent.version), () => readVersions(agent.id));
  const [chosen, setChosen] = useState<{ readonly from?: number; readonly to?: number }>({});
  if (problem !== undefined)
    return <p className="fault">The versions could not be read. Reload the page to try again.</p>;
  if (value === undefined) return <p className="quiet">Loading versions …</p>;
  if (value.length < 2) return <p className="quiet">Version 1 is the only one, from {toTime(agent.updated_at)}.</p>;
  const to = value.find(({ version }) => version === chosen.to) ?? value[0]!;
  const from = value.find(({ version }) => version === chosen.from) ?? value[1]!;
  const nameOf = (id: string) => agents.find((one) => one.id === id)?.name ?? id;
  const [before, after] = [describeVersion(from, nameOf), describeVersion(to, nameOf)];
  return (
    <>
      <p className="version-choice">
        <VersionSelect
          label="From"
          versions={value}
          selected={from}
          onChange={(version) => setChosen({ ...chosen, from: version })}
        />
        <VersionSelect
          label="to"
          versions={value}
          selected={to}
          onChange={(version) => setChosen({ ...chosen, to: version })}
        />
      </p>
      {before === after ? <p className="quiet">These versions are equal.</p> : <Diff before={before} after={after} />}
    </>
  );
}

interface VersionSelectProps {
  readonly label: string;
  readonly versions: readonly Agent[];
  readonly selected: Agent;
  readonly onChange: (version: number) => void;
}

function VersionSelect({ label, versions, selected, onChange }: VersionSelectProps) {
  return (
    <label>
      {label}{' '}
      <select value={selected.version} onChange={(event) => onChange(Number(event.target.value))}>
        {versions.map(({ version, updated_at: at }) => (
          <option key={version} value={version}>
            version {version}, {toTime(at)}
          </option>
        ))}
      </select>
    </label>
  );
}

async function readVersions(agentId: string): Promise<readonly Agent[]> {
  const versions: Agent[] = [];
  for await (const one of api.list<Agent>(`v1/agents/${agentId}/versions?limit=100`)) {
    if (versions.push(one) === VERSIONS_MAX) break;
  }
  return versions;
}

/** Versions to choose from, the newest ones; an agent can have any number. */
const VERSIONS_MAX = 200;

function toTime(at: string): string {
  const time = Date.parse(at);
  return `${formatDay(time)} ${formatClock(time).slice(0, 5)}`;
}
