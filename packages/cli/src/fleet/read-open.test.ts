import { expect, it } from 'vitest';
import { FleetEvents } from '../../test-support/fleet-events.ts';
import { collectOpen } from './read-open.ts';

it('[Y129] calls that wait have the title of their thread, where it has one, and else the name of their agent', async () => {
  const events = new FleetEvents()
    .start()
    .open(0, 'lead', null, 'L')
    .ask(0, 'ls')
    .open(1, 'Explore', 0, 'E')
    .ask(1, 'pwd');
  const titled = events.list.map((event) =>
    event.type === 'stream_start' && event.stream_id === 1 ? { ...event, title: 'Find the parser' } : event,
  );
  const { approvals } = await collectOpen(titled);
  expect(approvals.map(({ agent }) => agent)).toEqual(['lead', 'Find the parser']);
});
