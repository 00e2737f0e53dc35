import { fleetLimits } from '@fleetloom/protocol/fleet';
import type { CanvasColours } from '../ui/lanes/canvas-colours.ts';
import type { SessionModel } from '../model/session-model.ts';
import type { Mark, Segment, ThreadTrack } from '../model/thread-track.ts';
import type { ShownRow } from '../model/summary.ts';
import { type TimeSpan, toX } from '../ui/lanes/time-span.ts';
import { fillState } from '../ui/lanes/fill-state.ts';

/** A visible row and its position. */
export interface PlacedRow {
  readonly row: ShownRow;
  /** Upper edge, in pixels. */
  readonly y: number;
}

/** Everything that is painted. */
export interface LanesPicture {
  readonly rows: readonly PlacedRow[];
  readonly span: TimeSpan;
  /** The moment shown; nothing later is painted. */
  readonly now: number;
  readonly laneWidth: number;
  readonly sparkX: number;
  readonly sparkWidth: number;
  readonly height: number;
  readonly colours: CanvasColours;
  /** The time range selected by the user. */
  readonly selected: TimeSpan | undefined;
}

/** Height of a table row in pixels; the lanes are painted by it. */
export const ROW_HEIGHT = 26;
/** Height of a table row on a phone, where rows have two lines and no lane. */
export const TOUCH_ROW_HEIGHT = 52;
const BAR_TOP = 7;
const BAR_HEIGHT = 12;

/** Paints all lanes, the links between them and the sparklines beside them. */
export function paintLanes(context: CanvasRenderingContext2D, picture: LanesPicture): void {
  const { rows, laneWidth, height, sparkX, sparkWidth, selected, span, colours } = picture;
  context.clearRect(0, 0, sparkX + sparkWidth, height);
  context.save();
  context.beginPath();
  context.rect(0, 0, laneWidth, height);
  context.clip();
  if (selected !== undefined) {
    context.fillStyle = colours.line;
    const x = toX(selected.from, span, laneWidth);
    context.fillRect(x, 0, toX(selected.to, span, laneWidth) - x, height);
  }
  paintLinks(context, picture);
  for (const placed of rows) paintLane(context, placed, picture);
  if (picture.now < span.to) {
    context.fillStyle = colours.state.needs;
    context.fillRect(Math.round(toX(picture.now, span, laneWidth)), 0, 1, height);
  }
  context.restore();
  for (const { row, y } of rows) paintSpark(context, row, y, picture);
}

function paintLane(context: CanvasRenderingContext2D, { row, y }: PlacedRow, picture: LanesPicture): void {
  const track = row.session.tracks.get(row.key);
  if (track === undefined) return;
  const { span, now, laneWidth, colours } = picture;
  const { segments } = track;
  let drawnTo = -1;
  for (let index = firstVisible(segments, span.from); index < segments.length; index++) {
    const segment = segments[index]!;
    if (segment.from > Math.min(now, span.to)) break;
    const to = Math.min(segment.to ?? now, now);
    const left = Math.max(0, toX(segment.from, span, laneWidth));
    const right = Math.min(laneWidth, Math.max(toX(to, span, laneWidth), left + 1));
    // Only the first of several segments within one pixel is painted.
    if (right <= drawnTo) continue;
    drawnTo = Math.ceil(left + 0.01);
    if (segment.to !== null && segment.to === segment.from) paintEnd(context, segment, left, y, colours);
    else fillState(context, colours, segment.state, left, y + BAR_TOP, right - left, BAR_HEIGHT);
    if (segment.label !== '' && right - left >= LABEL_WIDTH) paintLabel(context, segment, left, right, y, colours);
  }
  paintStall(context, row, y, picture);
  paintMarks(context, track, y, picture);
}

/** The end of a turn has no duration, so it gets a mark. */
function paintEnd(
  context: CanvasRenderingContext2D,
  { state }: Segment,
  x: number,
  y: number,
  colours: CanvasColours,
): void {
  context.fillStyle = colours.state[state];
  context.fillRect(x - 0.5, y + BAR_TOP - 2, 2, BAR_HEIGHT + 4);
}

function paintLabel(
  context: CanvasRenderingContext2D,
  { label, state }: Segment,
  left: number,
  right: number,
  y: number,
  colours: CanvasColours,
): void {
  context.save();
  context.beginPath();
  context.rect(left, y, right - left - 3, ROW_HEIGHT);
  context.clip();
  context.font = LABEL_FONT;
  context.textBaseline = 'middle';
  if (state === 'needs') {
    context.fillStyle = colours.background;
    context.fillRect(
      left + 3,
      y + BAR_TOP + 1,
      Math.min(context.measureText(label).width + 6, right - left - 6),
      BAR_HEIGHT - 2,
    );
  }
  context.fillStyle = state === 'needs' ? colours.text : colours.onState;
  context.fillText(label, left + 6, y + BAR_TOP + BAR_HEIGHT / 2 + 0.5);
  context.restore();
}

/** A stall is the absence of events, so no segment exists for it: it is painted from the last event until now. */
function paintStall(
  context: CanvasRenderingContext2D,
  { state, slot }: ShownRow,
  y: number,
  picture: LanesPicture,
): void {
  if (state !== 'stalled' || slot.lastAt === null) return;
  const { span, now, laneWidth, colours } = picture;
  const left = Math.max(0, toX(slot.lastAt + fleetLimits.stalledMs / 4, span, laneWidth));
  const right = Math.min(laneWidth, toX(now, span, laneWidth));
  if (right <= left) return;
  context.clearRect(left, y + BAR_TOP, right - left, BAR_HEIGHT);
  fillState(context, colours, 'stalled', left, y + BAR_TOP, right - left, BAR_HEIGHT);
}

function paintMarks(context: CanvasRenderingContext2D, track: ThreadTrack, y: number, picture: LanesPicture): void {
  const { span, now, laneWidth, colours } = picture;
  for (const { at, kind } of track.marks) {
    const colour = laneMarkColours[kind];
    if (colour === undefined) continue;
    if (at < span.from || at > Math.min(now, span.to)) continue;
    const x = toX(at, span, laneWidth);
    context.fillStyle = colours.state[colour];
    context.beginPath();
    context.moveTo(x, y + 2);
    context.lineTo(x + 4, y + 6);
    context.lineTo(x, y + 10);
    context.lineTo(x - 4, y + 6);
    context.fill();
  }
}

/** The marks that a lane shows; the scrubber of a session shows all of them. */
const laneMarkColours: Partial<Record<Mark['kind'], 'error' | 'retry' | 'waits'>> = {
  error: 'error',
  conflict: 'retry',
  rewind: 'waits',
};

/** Thin lines from a delegating thread to the thread that it started, and back at the end of that thread. */
function paintLinks(context: CanvasRenderingContext2D, picture: LanesPicture): void {
  const { rows, span, now, laneWidth, colours } = picture;
  const places = new Map(rows.map(({ row, y }) => [placeKey(row.session, row.key), y]));
  context.strokeStyle = colours.link;
  context.lineWidth = 1;
  context.beginPath();
  for (const { row, y } of rows) {
    const track = row.session.tracks.get(row.key);
    const spawn = track?.spawnedBy;
    if (track === undefined || spawn === undefined) continue;
    const above = places.get(placeKey(row.session, spawn.key));
    if (above === undefined) continue;
    for (const time of [spawn.at, track.endedAt]) {
      if (time === null || time < span.from || time > Math.min(now, span.to)) continue;
      const x = Math.round(toX(time, span, laneWidth)) + 0.5;
      context.moveTo(x, above + BAR_TOP + BAR_HEIGHT);
      context.lineTo(x, y + BAR_TOP);
    }
  }
  context.stroke();
}

function paintSpark(context: CanvasRenderingContext2D, row: ShownRow, y: number, picture: LanesPicture): void {
  const track = row.session.tracks.get(row.key);
  if (track === undefined) return;
  const { sparkX, sparkWidth, now, colours } = picture;
  const bars = Math.floor(sparkWidth / SPARK_STEP);
  const counts = track.pulsesUntil(now, bars);
  const highest = Math.max(SPARK_CHARS, ...counts);
  context.fillStyle = colours.quiet;
  for (const [index, count] of counts.entries()) {
    if (count === 0) continue;
    const height = Math.max(1.5, (count / highest) * SPARK_HEIGHT);
    context.fillRect(sparkX + index * SPARK_STEP, y + ROW_HEIGHT - 6 - height, SPARK_STEP - 1, height);
  }
}

const SPARK_STEP = 3;
const SPARK_HEIGHT = 14;
/** The scale covers at least this rate, so that little text does not look like much. */
const SPARK_CHARS = 120;
const LABEL_WIDTH = 60;
const LABEL_FONT = '500 10px system-ui, sans-serif';

function placeKey(session: SessionModel, key: string): string {
  return `${session.id} ${key}`;
}

function firstVisible(segments: readonly Segment[], from: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { to } = segments[middle]!;
    if (to !== null && to < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
