import { fleet } from '../stores/stores.ts';
import { formatDuration, formatSpan, plural } from '../model/format.ts';
import { type InboxItem, needsDecision } from '../model/inbox-items.ts';
import { riskHints } from '../model/risk-hints.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { LongText } from '../ui/text/LongText.tsx';
import { Markdown } from '../ui/text/Markdown.tsx';
import { ToolInput } from '../ui/text/ToolInput.tsx';
import { CardActions } from './CardActions.tsx';
import { kindStyles } from './kind-styles.ts';

/** One item with everything needed to decide about it. */
export function InboxCard({ item }: { item: InboxItem }) {
  const { glyph, state } = kindStyles[item.kind];
  const isQuestion = item.questions.length > 0;
  const word = isQuestion ? 'question' : item.plan === null ? kindStyles[item.kind].word : 'plan';
  const hints = needsDecision(item) && !isQuestion ? riskHints(item.tool, item.input) : [];
  return (
    <article className="card" aria-label={`${word}: ${item.path.at(-1)}`}>
      <header>
        <p className="card-path">
          {item.path.map((name, index) => (
            <span key={index}>
              {index > 0 && <i> › </i>}
              {index === item.path.length - 1 ? (
                <b>{`${cleanLine(name)}${item.row.ordinal > 0 ? ` ${item.row.ordinal}` : ''}`}</b>
              ) : (
                cleanLine(name)
              )}
            </span>
          ))}
        </p>
        <p data-ink={state} className="card-kind">
          {glyph} {word}
          {item.tool !== '' && (
            <>
              {' '}
              · <code>{cleanLine(item.tool)}</code>
            </>
          )}
        </p>
        <p className="quiet">
          waiting {formatDuration(fleet.now() - item.since)} · {plural(item.blocked, 'thread')} blocked
          {needsDecision(item) && (
            <>
              {' '}
              · in <code>{WORKING_DIRECTORY}</code>
            </>
          )}
          {item.session.record?.title != null && ` · ${cleanLine(item.session.record.title)}`}
        </p>
      </header>
      {hints.length > 0 && (
        <ul className="hints" aria-label="Warnings">
          {hints.map((hint) => (
            <li key={hint.kind} data-grave={hint.isGrave}>
              ▲ {hint.text}
            </li>
          ))}
        </ul>
      )}
      {needsDecision(item) ? (
        <>
          {item.plan !== null ? (
            <Plan plan={item.plan} input={item.input} />
          ) : (
            !isQuestion && <ToolInput input={item.input} />
          )}
          {item.why !== '' && (
            <blockquote>
              <span className="quiet">stated reason: </span>
              {cleanText(item.why)}
            </blockquote>
          )}
        </>
      ) : (
        <p className="fault">{cleanText(item.why)}</p>
      )}
      <CardActions item={item} />
      <Story item={item} />
    </article>
  );
}

/** The rendered plan, and below it the exact input of the program, because Markdown can hide parts of its source. */
function Plan({ plan, input }: { plan: string; input: unknown }) {
  return (
    <section className="plan" aria-label="Plan">
      <Markdown text={plan} />
      <details>
        <summary>Source</summary>
        <LongText text={plan} />
        <LongText text={JSON.stringify(input, null, 2)} />
      </details>
    </section>
  );
}

/** The task of the thread and its last tool calls. */
function Story({ item }: { item: InboxItem }) {
  const { task, tools } = item.row.slot;
  const done = tools.filter(({ toolUseId }) => toolUseId !== item.id).slice(-8);
  return (
    <section className="story" aria-label="Task and earlier calls">
      {task !== null && task !== '' && (
        <p>
          <span className="quiet">task: </span>
          {cleanLine(task)}
        </p>
      )}
      {done.length > 0 && (
        <ol>
          {done.map((tool) => (
            <li key={tool.toolUseId}>
              <i data-ink={tool.state === 'failed' ? 'error' : 'tool'} aria-hidden="true">
                {tool.state === 'failed' ? '✗' : '⚙'}
              </i>
              <span>{cleanLine(tool.tool)}</span>
              <code>{cleanLine(tool.label)}</code>
              <span className="quiet">{tool.durationMs === null ? tool.state : formatSpan(tool.durationMs)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** The path of the workspace as tools see it. */
const WORKING_DIRECTORY = '/workspace';
