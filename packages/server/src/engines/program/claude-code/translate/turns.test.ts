import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

const ended = { isOwn: false, outcome: 'done', queuedTurns: 0 } as const;

describe('turns', () => {
  it('[J246] a message that a stopped turn has not taken up has a turn of its own', () => {
    const turns = new Turns();
    // A turn of the program that is being stopped, and a message right behind the order to stop.
    turns.start();
    turns.said();
    expect(turns.end({ ...ended, outcome: 'stopped' })).toBe(true);
    expect(turns.isExpecting).toBe(true);
    turns.start();
    turns.taken();
    expect(turns.end(ended)).toBe(false);
    expect(turns.areResting).toBe(true);
  });

  it('[J246] a message that began the stopped turn, or that the program never takes up, is not waited for', () => {
    const turns = new Turns();
    turns.said();
    turns.start();
    turns.taken();
    expect(turns.end({ ...ended, outcome: 'stopped' })).toBe(false);
    turns.start();
    turns.said();
    expect(turns.end({ ...ended, outcome: 'stopped' })).toBe(true);
    expect([turns.giveUp(), turns.areResting]).toEqual([true, true]);
  });

  it('[J542] a report that comes before a slash command is answered is read in a turn of its own behind the command', () => {
    const reportedBefore = (isLocal: boolean) => {
      const turns = new Turns();
      turns.said();
      expect(turns.report()).toBe(false);
      turns.start();
      return [turns.end({ ...ended, isLocal }), turns.isExpecting];
    };
    expect(reportedBefore(true)).toEqual([true, true]);
    // A model has read the report with the message.
    expect(reportedBefore(false)).toEqual([false, false]);
  });

  it('[J247] a session does not become idle between two turns that the program has queued', () => {
    const turns = new Turns();
    turns.start();
    expect(turns.end({ ...ended, isOwn: true, queuedTurns: 1 })).toBe(true);
    turns.start();
    expect(turns.end({ ...ended, isOwn: true })).toBe(false);
  });
});
