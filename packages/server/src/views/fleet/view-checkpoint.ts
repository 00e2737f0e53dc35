import type { GateMode } from '@fleetloom/protocol/fleet';
import type { SessionFrame } from '../../frames/frames.ts';
import type { SavedStream } from './fleet-stream.ts';
import { FleetView, type SavedView } from './fleet-view.ts';

/**
 * The checkpoint kind of fleet views, with the version of their format. Increase the version whenever a view folds a log to a
 * different state or its saved form changes: older checkpoints are then ignored, and views are folded from the log.
 */
export const FLEET_CHECKPOINT = 'fleet/2';

const MODES: readonly GateMode[] = ['strict', 'live', 'off'];

/** The views of all gate modes. One checkpoint holds all of them, so that it serves readers with any options. */
export class AllViews {
  readonly #views: ReadonlyMap<GateMode, FleetView>;

  constructor(checkpoint?: Uint8Array) {
    // Parsed once for all modes: a checkpoint may have megabytes.
    const kept = checkpoint === undefined ? undefined : parse(checkpoint);
    // `includeThinking` changes the events and not the state of a view.
    this.#views = new Map(MODES.map((gate) => [gate, new FleetView(toOptions(gate), kept && toViewOf(kept, gate))]));
  }

  take(frame: SessionFrame): void {
    for (const view of this.#views.values()) view.take(frame);
  }

  skip(): void {
    for (const view of this.#views.values()) view.skip();
  }

  save(): Uint8Array {
    const views = [...this.#views].map(([gate, view]) => [gate, view.save()] as const);
    const [[, view]] = views as [(typeof views)[number], ...typeof views];
    // Only the text of turns at depth 0 passes through a gate of the reader's mode.
    const masters = Object.fromEntries(views.map(([gate, { run }]) => [gate, (run?.streams ?? []).filter(isMaster)]));
    return Buffer.from(JSON.stringify({ view, masters } satisfies Kept));
  }
}

/** The saved view of one gate mode. */
export function toSavedView(checkpoint: Uint8Array | undefined, gate: GateMode): SavedView | undefined {
  return checkpoint === undefined ? undefined : toViewOf(parse(checkpoint), gate);
}

function parse({ buffer, byteOffset, byteLength }: Uint8Array): Kept {
  // Only `AllViews.save` writes it.
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Kept;
}

function toViewOf({ view, masters }: Kept, gate: GateMode): SavedView {
  if (view.run === null) return view;
  const ofMode = new Map((masters[gate] ?? []).map((stream) => [stream.id, stream]));
  return { ...view, run: { ...view.run, streams: view.run.streams.map((stream) => ofMode.get(stream.id) ?? stream) } };
}

interface Kept {
  /** The view of the first mode. */
  readonly view: SavedView;
  readonly masters: Readonly<Record<string, readonly SavedStream[]>>;
}

function isMaster({ depth }: SavedStream): boolean {
  return depth === 0;
}

function toOptions(gate: GateMode) {
  return { gate, includeThinking: false };
}
