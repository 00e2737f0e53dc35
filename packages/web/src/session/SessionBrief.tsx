import { cutText, type PlanTask, sessionStates, states } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { toFleetState } from '../model/fleet-state.ts';
import { nameOfSession } from '../model/name-of-session.ts';
import { sessionGlyphs } from '../model/session-cells.ts';
import type { ShownRow } from '../model/summary.ts';
import type { ShownSession } from '../stores/fleet-store.ts';
import { fleet } from '../stores/stores.ts';
import { LongText } from '../ui/text/LongText.tsx';
import { Markdown } from '../ui/text/Markdown.tsx';
import { toPlain } from '../ui/text/to-plain.ts';
import type { Block } from './transcript/blocks.ts';

/** The session, the task of the thread and its result, each in one line that expands. */
export function SessionBrief({ shown, row, blocks }: { shown: ShownSession; row: ShownRow; blocks: readonly Block[] }) {
  const state = toFleetState(shown);
  const { glyph, ink } = sessionGlyphs[state];
  const task = taskOf(shown, row);
  const result = states[row.state].isOpen ? '' : resultOf(blocks);
  return (
    <section className="session-brief" aria-label="Brief">
      <p className="brief-title">
        <b>{nameOfSession(shown.session)}</b>{' '}
        <span data-ink={ink}>
          <i aria-hidden="true">{glyph}</i> {sessionStates[state].label}
        </span>
      </p>
      {task !== '' && (
        <details>
          <summary>
            <span className="quiet">Task</span> {cleanLine(cutText(task, LINE_CHARS))}
          </summary>
          <LongText text={task} className="said" />
        </details>
      )}
      {row.slot.plan.length > 0 && <Plan tasks={row.slot.plan} />}
      {result !== '' && (
        <details>
          <summary>
            <span className="quiet">{row.slot.error === null ? 'Result' : 'Last text'}</span>{' '}
            {cleanLine(toPlain(cutText(result, LINE_CHARS)))}
          </summary>
          <Markdown text={result} />
        </details>
      )}
      {row.slot.error !== null && <p className="fault one-line">{cleanLine(row.slot.error)}</p>}
    </section>
  );
}

/** The progress of the agent in its plan and its current task; expands to all tasks. */
function Plan({ tasks }: { tasks: readonly PlanTask[] }) {
  const done = tasks.filter(({ status }) => status === 'completed' || status === 'cancelled').length;
  const now = tasks.find(({ status }) => status === 'in_progress');
  return (
    <details>
      <summary>
        <span className="quiet">
          Plan {done} of {tasks.length}
        </span>{' '}
        {now !== undefined && cleanLine(now.text)}
      </summary>
      <ul className="plan">
        {tasks.map(({ text, status }, index) => (
          <li key={index} data-status={status}>
            {cleanLine(text)} <span className="quiet">{cleanLine(status.replace('_', ' '))}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The last text of the thread, up to the moment shown. */
function resultOf(blocks: readonly Block[]): string {
  const now = fleet.now();
  const last = blocks.findLast(({ type, at }) => type === 'text' && at <= now);
  return last?.type === 'text' ? last.text.trim() : '';
}

/** Characters of a text in one line: more than fits, because the layout cuts the line. */
const LINE_CHARS = 400;

/** The first input of the thread: later inputs are follow-ups. */
function taskOf({ slots }: ShownSession, { slot, threadId, level }: ShownRow): string {
  const turns = slots.runs.flatMap((run) => run.slots);
  const isFirst = (one: (typeof turns)[number]) => (level === 0 ? one.depth === 0 : one.threadId === threadId);
  return (turns.find((one) => isFirst(one) && one.task !== null) ?? slot).task ?? '';
}
