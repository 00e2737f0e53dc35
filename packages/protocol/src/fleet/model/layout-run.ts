import type { Run } from '../slots/run.ts';
import { isOpen, type Slot } from '../slots/slot.ts';
import { addUsage, type FleetUsage } from '../slots/usage.ts';

/** A slot in its position in the tree. */
export interface SlotRow {
  readonly slot: Slot;
  /** The indentation level. */
  readonly level: number;
  /** Whether no sibling follows. */
  readonly isLast: boolean;
  /** The usage of the turn and of all turns that it delegated, at any depth. */
  readonly usage: FleetUsage;
  /** The number of turns below this one that have not ended. */
  readonly openBelow: number;
}

/**
 * The slots of a run as rows of a tree: each turn, then the turns it started, the children of a block in the order in
 * which it named them. A turn without a known parent is placed at the top, indented by its depth.
 */
export function layoutRun({ slots }: Run): SlotRow[] {
  const childrenOf = groupByParent(slots);
  return toRows(childrenOf.get(null) ?? [], childrenOf, null);
}

type Children = ReadonlyMap<number | null, readonly Slot[]>;

function groupByParent(slots: readonly Slot[]): Children {
  const known = new Set(slots.map(({ streamId }) => streamId));
  const groups = new Map<number | null, Slot[]>();
  for (const slot of slots.toSorted((left, right) => left.streamId - right.streamId)) {
    const { parentStreamId: parent, streamId } = slot;
    // A parent has the lower number. Checking that prevents a cycle, whatever the stream says.
    const key = parent !== null && parent < streamId && known.has(parent) ? parent : null;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slot]);
    else group.push(slot);
  }
  return new Map(Array.from(groups, ([parent, group]) => [parent, parent === null ? group : sortBlocks(group)]));
}

/** Children of one block start in any order; their index gives the order. A repeated index means that another block began. */
function sortBlocks(children: readonly Slot[]): Slot[] {
  const blocks: Slot[][] = [];
  for (const child of children) {
    const block = blocks.at(-1);
    const isNext = child.childIndex === null || block === undefined || block.some((one) => isSameIndex(one, child));
    if (isNext) blocks.push([child]);
    else block.push(child);
  }
  return blocks.flatMap((block) => block.sort((left, right) => (left.childIndex ?? 0) - (right.childIndex ?? 0)));
}

function isSameIndex(left: Slot, right: Slot): boolean {
  return left.childIndex === null || left.childIndex === right.childIndex;
}

/** Rows of these slots and all below them. Levels count from the parent, so that a missing turn does not leave a gap. */
function toRows(slots: readonly Slot[], childrenOf: Children, parentLevel: number | null): SlotRow[] {
  return slots.flatMap((slot, index) => {
    const level = parentLevel === null ? slot.depth : parentLevel + 1;
    const children = childrenOf.get(slot.streamId) ?? [];
    const below = toRows(children, childrenOf, level);
    const direct = below.filter((row) => row.level === level + 1);
    return [
      {
        slot,
        level,
        isLast: index === slots.length - 1,
        usage: direct.reduce((sum, row) => addUsage(sum, row.usage), slot.usage),
        openBelow: below.filter((row) => isOpen(row.slot)).length,
      },
      ...below,
    ];
  });
}
