import { describe } from 'vitest';
import { auditSuite } from './suite/audit.suite.ts';
import { documentsSuite } from './suite/documents.suite.ts';
import { indexesSuite } from './suite/indexes.suite.ts';
import { inputsSuite } from './suite/inputs.suite.ts';
import { leasesSuite } from './suite/leases.suite.ts';
import { pageBytesSuite } from './suite/page-bytes.suite.ts';
import { readingSuite } from './suite/reading.suite.ts';
import { recordsSuite } from './suite/records.suite.ts';
import type { CreateStore } from './suite/samples.suite.ts';
import { summariesSuite } from './suite/summaries.suite.ts';
import { worksSuite } from './suite/works.suite.ts';
import { writesSuite } from './suite/writes.suite.ts';

/** What every store does. Each implementation runs all of it. */
export function storeSuite(name: string, createStore: CreateStore): void {
  describe(name, () => {
    describe('records', () => recordsSuite(createStore));
    describe('pages', () => pageBytesSuite(createStore));
    describe('writes', () => writesSuite(createStore));
    describe('leases', () => leasesSuite(createStore));
    describe('inputs, approvals and keys', () => inputsSuite(createStore));
    describe('work', () => worksSuite(createStore));
    describe('documents and blobs', () => documentsSuite(createStore));
    describe('audit log', () => auditSuite(createStore));
    describe('reading', () => readingSuite(createStore));
    describe('summaries', () => summariesSuite(createStore));
    describe('indexes and checkpoints', () => indexesSuite(createStore));
  });
}
