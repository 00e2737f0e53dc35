import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Store } from '../../store/store.ts';
import type { SavedView } from './fleet-view.ts';
import { FLEET_CHECKPOINT, mapStreams, parseKept, type WholeCheckpoint } from './view-checkpoint.ts';

/**
 * The newest checkpoint between two frames. Each checkpoint has what the texts of open turns have grown by since the one before:
 * if it had all of them, checkpoints of turns with megabytes of text would be larger than the log, or far apart. Their beginnings
 * are read from the earlier ones. Undefined if there is none, or if one of them was removed in the meantime.
 */
export async function loadCheckpoint(
  store: Pick<Store, 'checkpoints'>,
  sessionId: string,
  { from, upTo }: { readonly from: number; readonly upTo: number },
): Promise<WholeCheckpoint | undefined> {
  const found = await store.checkpoints.find({ sessionId, kind: FLEET_CHECKPOINT, upTo });
  if (found === undefined || found.seq < from) return undefined;
  const { view, masters, base } = parseKept(found.data);
  const texts = toTexts(view);
  let [open, at] = [texts.filter(({ missing }) => missing > 0), base];
  while (open.length > 0) {
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
    const earlier =
      at === null ? undefined : await store.checkpoints.find({ sessionId, kind: FLEET_CHECKPOINT, upTo: at });
    if (earlier === undefined || earlier.seq !== at) return undefined;
    const kept = parseKept(earlier.data);
    if (!addPieces(open, kept.view)) return undefined;
    open = open.filter(({ missing }) => missing > 0);
    at = kept.base;
  }
  const whole = new Map(texts.map(({ id, pieces }) => [id, pieces.toReversed().join('')]));
  const restored = mapStreams(view, (stream) => {
    const text = whole.get(stream.id) ?? '';
    return { ...stream, text, textKept: text.length };
  });
  return { view: restored, masters, seq: found.seq, bytes: found.bytes };
}

/** The text of a turn, from its end to its beginning. */
interface Text {
  readonly id: number;
  readonly pieces: string[];
  /** Characters at its beginning that are in earlier checkpoints. */
  missing: number;
}

function toTexts({ run }: SavedView): Text[] {
  return (run?.streams ?? []).map(({ id, text, textKept }) => ({ id, pieces: [text], missing: textKept }));
}

/** False if a turn is not in the earlier checkpoint, which therefore belongs to another log. */
function addPieces(texts: readonly Text[], { run }: SavedView): boolean {
  const streams = new Map(run?.streams.map((stream) => [stream.id, stream]));
  return texts.every((text) => {
    const stream = streams.get(text.id);
    if (stream === undefined) return false;
    // Text that was retracted since then is not part of it.
    if (text.missing > stream.textKept) {
      text.pieces.push(stream.text.slice(0, text.missing - stream.textKept));
      text.missing = stream.textKept;
    }
    return true;
  });
}
