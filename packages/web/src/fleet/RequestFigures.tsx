import type { FleetLoad } from '@fleetloom/protocol/fleet';
import { load, useLoad } from '../app/health.ts';
import { useSignal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import { plural } from '../model/format.ts';
import type { Summary } from '../model/summary.ts';

/** Of the header: how many model requests are under way and may be, and how many were refused. */
export function RequestFigures({ summary }: { summary: Summary }) {
  useLoad();
  useSignal(load.changed);
  const { refusalsPerMinute, retriesPerMinute } = summary;
  // What may be under way is known of this moment only.
  const { text, title, isBad } = toRequests(summary, fleet.replay.isOn ? undefined : load.value);
  return (
    <>
      <div title={title} data-bad={isBad} data-figure="requests">
        <dt>requests</dt>
        <dd>{text}</dd>
      </div>
      <div
        title="Requests that an endpoint refused because it has too many (429, 529), in the last minute; and those that are made again for other reasons"
        data-bad={refusalsPerMinute + retriesPerMinute > 0}
      >
        <dt>429s</dt>
        <dd>
          {refusalsPerMinute}/min{retriesPerMinute > 0 && ` + ${retriesPerMinute} other`}
        </dd>
      </div>
    </>
  );
}

interface Figure {
  readonly text: string;
  readonly title: string;
  readonly isBad: boolean;
}

/** With an endpoint what its governor says, which bounds it; else what the threads that are shown do. */
function toRequests({ requests, queued }: Summary, known: FleetLoad | undefined): Figure {
  const shown = `${plural(requests, 'model request')} of the threads that are shown`;
  if (known === undefined || known.endpoint === null) {
    const title = known === undefined ? `${shown} under way` : `${shown} under way; their models have no bound`;
    const text = `${requests}${known === undefined ? '' : '/∞'}${queued > 0 ? ` + ${queued} queued` : ''}`;
    return { text, title, isBad: queued > 0 };
  }
  const { active, waiting, max, paused_ms: pausedMs } = known.endpoint;
  const whose = known.node_id === null || known.nodes < 2 ? undefined : known.node_id;
  const title = [
    `At the endpoint: ${active} under way, ${max} may be, ${waiting} wait for their turn`,
    ...(pausedMs > 0 ? [`It wants a pause of ${Math.ceil(pausedMs / 1_000)} s`] : []),
    ...(whose === undefined ? [] : [`These are the figures of ${whose}, one of ${known.nodes} nodes`]),
    `${shown}, with those of programs and scripts, which have no bound`,
  ].join('\n');
  const text = `${active}/${max}${waiting > 0 ? ` + ${waiting} queued` : ''}${whose === undefined ? '' : ` · ${shortOf(whose)}`}`;
  return { text, title, isBad: waiting > 0 || pausedMs > 0 };
}

/** Enough to tell nodes apart. */
function shortOf(nodeId: string): string {
  return nodeId.slice(0, 'node_12345678'.length);
}
