import type { RuleMatch, StandingRuleParams } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useEffect, useMemo, useState } from 'react';
import { plural } from '../model/format.ts';
import type { InboxItem } from '../model/inbox-items.ts';
import { findAgentId, type RuleDraft, toRuleDraft, toRuleParams } from '../model/rule-draft.ts';
import { refuseInReplay } from '../stores/actions.ts';
import { approvalRules } from '../stores/approval-rules.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { inbox } from '../stores/inbox-store.ts';
import { storeLimits } from '../stores/limits.ts';
import { CancelButton } from './CardForm.tsx';

/** Creates a rule by which the server allows calls like this one. */
export function RuleForm({ item }: { item: InboxItem }) {
  const proposed = useMemo(() => toRuleDraft(item), [item.id]);
  if (proposed === null) {
    return (
      <footer className="card-actions">
        <span>No rule can allow calls like this one: decide about each of them.</span>
        <CancelButton />
      </footer>
    );
  }
  return <RuleFields item={item} proposed={proposed} />;
}

function RuleFields({ item, proposed }: { item: InboxItem; proposed: RuleDraft }) {
  const [draft, setDraft] = useState(proposed);
  const [problem, setProblem] = useState('');
  const params = toRuleParams(draft, item);
  const preview = usePreview(params);
  const agent = cleanLine(item.row.agent);
  const hasAgent = findAgentId(item.session.record?.agent, item.row.agent) !== undefined;
  const create = async () => {
    if (refuseInReplay()) return;
    try {
      await approvalRules.create(params);
      inbox.setMode('read');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form
      className="card-writing rule-form"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        inBackground(create());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        inbox.setMode('read');
      }}
    >
      <MatchField
        tool={item.tool}
        input={item.input}
        match={draft.match}
        onMatch={(match) => setDraft({ ...draft, match })}
      />
      <fieldset>
        <legend>Calls by {agent}</legend>
        {(['session', 'agent'] as const).map((scope) => (
          <label key={scope}>
            <input
              type="radio"
              name="rule-scope"
              checked={draft.scope === scope}
              disabled={scope === 'agent' && !hasAgent}
              onChange={() => setDraft({ ...draft, scope })}
            />{' '}
            {scope === 'session' ? 'in this session' : 'in every session of this agent'}
          </label>
        ))}
      </fieldset>
      <p role="status" className={problem === '' && preview.problem === '' ? 'quiet' : 'fault'}>
        {problem !== '' ? problem : preview.problem !== '' ? preview.problem : describeMatches(preview.matches)}
      </p>
      <div className="card-actions">
        <button type="submit" className="primary" disabled={preview.problem !== ''}>
          Always allow
        </button>
        <CancelButton />
      </div>
    </form>
  );
}

interface MatchFieldProps {
  readonly tool: string;
  readonly input: unknown;
  readonly match: RuleMatch;
  readonly onMatch: (match: RuleMatch) => void;
}

/** The pattern of a command or path; for any other tool whether exactly this input or every input is allowed. */
function MatchField({ tool, input, match, onMatch }: MatchFieldProps) {
  if ('pattern' in match) {
    const words = match.type === 'command' ? 'one simple command' : 'a path in the workspace';
    return (
      <>
        <label htmlFor="rule-pattern">
          Always allow {cleanLine(tool)} with {words} (<code>*</code> stands for any text)
        </label>
        <input
          id="rule-pattern"
          data-code
          autoFocus
          spellCheck={false}
          value={match.pattern}
          onChange={(event) => onMatch({ ...match, pattern: event.target.value })}
        />
      </>
    );
  }
  return (
    <fieldset>
      <legend>Always allow {cleanLine(tool)}</legend>
      {(['input', 'any'] as const).map((type) => (
        <label key={type}>
          <input
            type="radio"
            name="rule-match"
            checked={match.type === type}
            onChange={() => onMatch(type === 'any' ? { type } : { type, input })}
          />{' '}
          {type === 'any' ? 'with every input' : 'with exactly this input'}
        </label>
      ))}
    </fieldset>
  );
}

function describeMatches(matches: number | undefined): string {
  if (matches === undefined) return 'Counting …';
  return `${plural(matches, 'pending request')} ${matches === 1 ? 'matches' : 'match'}. The server decides, also when this page is closed.`;
}

/** The server's preview of the rule, requested shortly after the last change. */
function usePreview(params: StandingRuleParams): { readonly matches: number | undefined; readonly problem: string } {
  const [known, setKnown] = useState<{ key: string; matches: number | undefined; problem: string }>();
  const key = JSON.stringify(params);
  useEffect(() => {
    const read = async () => {
      try {
        setKnown({ key, matches: await approvalRules.countMatches(params), problem: '' });
      } catch (error) {
        setKnown({ key, matches: undefined, problem: error instanceof Error ? error.message : String(error) });
      }
    };
    const timer = setTimeout(() => inBackground(read()), storeLimits.rulePreviewMs);
    return () => clearTimeout(timer);
  }, [key]);
  return known?.key === key ? known : { matches: undefined, problem: '' };
}
