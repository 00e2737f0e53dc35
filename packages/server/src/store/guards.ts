import { storeLimits } from './limits.ts';
import type { WorkState } from './records.ts';
import { storeError } from './store-errors.ts';

// Rejections, with the same messages in every implementation. Each throws; `runWrites` turns the error into an outcome.

/** The item; throws `not_found` if it is undefined. */
export function found<Item>(item: Item | undefined, id: string): Item {
  if (item === undefined) throw storeError('not_found', `${id} does not exist`);
  return item;
}

/** Throws `already_exists` if there is an item. */
export function checkNew(item: unknown, id: string): void {
  if (item !== undefined) throw storeError('already_exists', `${id} exists already`);
}

/** Rejects a change based on an older version, which would silently undo the changes in between. */
export function checkVersion(id: string, wanted: number | undefined, current: number): void {
  if (wanted === undefined || wanted === current) return;
  throw storeError('version_conflict', `the change of ${id} was made on ${wanted}, and it is at ${current}`);
}

/** Throws `archived` if the record is. */
export function checkNotArchived(id: string, archivedAt: number | null): void {
  if (archivedAt !== null) throw storeError('archived', `${id} is archived`);
}

/** Throws `stale_owner` if the fence is not the current one. */
export function checkFence(sessionId: string, fence: number, current: number): void {
  if (fence === current) return;
  throw storeError('stale_owner', `${sessionId} was written with fence ${fence}, and its owner has ${current}`);
}

/** Throws `too_many_inputs` at the limit of pending inputs. */
export function checkInputs(sessionId: string, count: number): void {
  if (count < storeLimits.pendingInputsMax) return;
  throw storeError('too_many_inputs', `${sessionId} has ${count} inputs that wait`);
}

/** Throws `already_resolved` if the approval was decided. */
export function checkUnresolved(id: string, isResolved: boolean): void {
  if (isResolved) throw storeError('already_resolved', `${id} is answered already`);
}

/** Throws `key_taken` if the idempotency key is in use. */
export function checkKeyFree(key: string, isTaken: boolean): void {
  if (isTaken) throw storeError('key_taken', `something was done under the key ${key} already`);
}

/** Whether a session with such an item needs no further one. A stopping item does not count: its worker may miss later work. */
export function isOpenWork(state: WorkState): boolean {
  return state === 'queued' || state === 'starting' || state === 'active';
}
