import { getHeapStatistics } from 'node:v8';
import type { MetricName } from './catalog.ts';
import type { Registry } from './registry.ts';

/** Figures of the process, under the names that Prometheus clients use. */
export function watchProcess(registry: Registry<MetricName>): void {
  const startedAt = Date.now() / 1_000 - process.uptime();
  registry.read('process_start_time_seconds', () => startedAt);
  registry.read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  registry.read('process_resident_memory_bytes', () => process.memoryUsage.rss());
  registry.read('nodejs_heap_used_bytes', () => getHeapStatistics().used_heap_size);
  registry.read('nodejs_heap_max_bytes', () => getHeapStatistics().heap_size_limit);
}
