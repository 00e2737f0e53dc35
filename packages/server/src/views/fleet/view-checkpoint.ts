import type { GateMode } from '@fleetloom/protocol/fleet';
import type { SessionFrame } from '../../frames/frames.ts';
import type { SavedStream } from './fleet-stream.ts';
import { FleetView, type SavedView } from './fleet-view.ts';

/**
 * The checkpoint kind of fleet views, with the version of their format. Increase the version whenever a view folds a log to a
 * different state or its saved form changes: older checkpoints are then ignored, and views are folded from the log.
 */
export const FLEET_CHECKPOINT = 'fleet/6';

const MODES: readonly GateMode[] = ['strict', 'live', 'off'];

/** The views of all gate modes. One checkpoint holds all of them, so that it serves readers with any options. */
export class AllViews {
  readonly #views: ReadonlyMap<GateMode, FleetView>;
  /** The frame of the last checkpoint. */
  #base: number | null;

  constructor(start?: WholeCheckpoint) {
    this.#base = start?.seq ?? null;
    // `includeThinking` changes the events, not the state of a view.
    this.#views = new Map(
      MODES.map((gate) => [gate, new FleetView(toOptions(gate), start && toSavedView(start, gate))]),
    );
  }

  take(frame: SessionFrame): void {
    for (const view of this.#views.values()) view.take(frame);
  }

  skip(): void {
    for (const view of this.#views.values()) view.skip();
  }

  /** Encodes a checkpoint of the present state. It contains only the part of each text that the last checkpoint does not have. */
  save(): Uint8Array {
    const views = [...this.#views].map(([gate, view]) => [gate, view.save()] as const);
    const [[, view]] = views as [(typeof views)[number], ...typeof views];
    // Only text at depth 0 passes through the gate of the reader's mode.
    const masters = Object.fromEntries(views.map(([gate, { run }]) => [gate, (run?.streams ?? []).filter(isMaster)]));
    const kept: Kept = { view: mapStreams(view, withoutKept), masters, base: this.#base };
    return Buffer.from(JSON.stringify(kept));
  }

  /** Called when the checkpoint at this frame is stored: the next one refers to it. */
  markSaved(seq: number): void {
    this.#base = seq;
    for (const view of this.#views.values()) view.markSaved();
  }
}

/** A checkpoint as it is stored. */
export interface Kept {
  /** The view of the first gate mode. Each text begins after its first `textKept` characters. */
  readonly view: SavedView;
  readonly masters: Readonly<Record<string, readonly SavedStream[]>>;
  /** The frame of the checkpoint that has the beginning of the texts. */
  readonly base: number | null;
}

/** A checkpoint with its complete texts. */
export interface WholeCheckpoint extends Omit<Kept, 'base'> {
  readonly seq: number;
  /** Its size in the store. */
  readonly bytes: number;
}

export function parseKept({ buffer, byteOffset, byteLength }: Uint8Array): Kept {
  // Only `AllViews.save` writes it.
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Kept;
}

/** The saved view of one gate mode. */
export function toSavedView({ view, masters }: WholeCheckpoint, gate: GateMode): SavedView {
  const ofMode = new Map((masters[gate] ?? []).map((stream) => [stream.id, stream]));
  return mapStreams(view, (stream) => ofMode.get(stream.id) ?? stream);
}

/** The view with each of its turns converted. */
export function mapStreams(view: SavedView, toStream: (stream: SavedStream) => SavedStream): SavedView {
  return view.run === null ? view : { ...view, run: { ...view.run, streams: view.run.streams.map(toStream) } };
}

function withoutKept(stream: SavedStream): SavedStream {
  return stream.textKept === 0 ? stream : { ...stream, text: stream.text.slice(stream.textKept) };
}

function isMaster({ depth }: SavedStream): boolean {
  return depth === 0;
}

function toOptions(gate: GateMode) {
  return { gate, includeThinking: false };
}
