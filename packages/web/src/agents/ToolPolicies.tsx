import { builtInToolNames, type McpToolset, type Tool } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { policies, type Policy, policyOf, toPolicy, withPolicy, withServerPolicy } from './tool-policies.ts';

interface ToolPoliciesProps {
  readonly tools: readonly Tool[];
  /** Called with the changed tools. Undefined makes the policies read-only. */
  readonly onChange?: (tools: readonly Tool[]) => void;
}

/** Every tool of an agent with its policy. */
export function ToolPolicies({ tools, onChange }: ToolPoliciesProps) {
  const servers = tools.filter((tool): tool is McpToolset => tool.type === 'mcp_toolset');
  return (
    <ul className="policy-list">
      {builtInToolNames.map((name) => (
        <PolicyLine
          key={name}
          name={name}
          policy={policyOf(tools, name)}
          onChange={onChange && ((policy) => onChange(withPolicy(tools, name, policy)))}
        />
      ))}
      {servers.map((set) => (
        <PolicyLine
          key={set.mcp_server_name}
          name={`tools of ${cleanLine(set.mcp_server_name)}`}
          policy={toPolicy(set.default_config)}
          onChange={onChange && ((policy) => onChange(withServerPolicy(tools, set, policy)))}
        />
      ))}
      {tools.flatMap((tool) =>
        tool.type === 'custom' ? (
          <li key={tool.name}>
            <code>{cleanLine(tool.name)}</code> <span className="quiet">custom: you send its results</span>
          </li>
        ) : (
          []
        ),
      )}
    </ul>
  );
}

interface PolicyLineProps {
  readonly name: string;
  readonly policy: Policy;
  readonly onChange: ((policy: Policy) => void) | undefined;
}

function PolicyLine({ name, policy, onChange }: PolicyLineProps) {
  return (
    <li>
      <code>{name}</code>
      {onChange === undefined ? (
        <span className="policy" data-policy={policy}>
          {policies[policy]}
        </span>
      ) : (
        <select
          aria-label={`Calls of ${name}`}
          data-policy={policy}
          value={policy}
          // The cast is safe: the options below are the policies.
          onChange={(event) => onChange(event.target.value as Policy)}
        >
          {Object.entries(policies).map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      )}
    </li>
  );
}
