import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServer } from '../../test/suite/upstreams/server.ts';
import { openCostSchema } from './open-cost-schema.ts';
import type { CostSchemaSource } from './open-cost-schema.ts';

let folder: string;
let source: CostSchemaSource | undefined;
let logged: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cost-schema-'));
  logged = [];
});

afterEach(async () => {
  source?.close();
  await rm(folder, { recursive: true });
});

const log = ({ err }: { err?: Error }, text: string) => {
  logged.push(`${text} ${err?.message ?? ''}`);
};

async function open(location: string, costsPath?: string, reloadMs = 5): Promise<CostSchemaSource> {
  const logger = { info: log, warn: log, error: log };
  source = await openCostSchema({
    location,
    costsPath,
    upstreamUrl: location,
    preset: 'ibm',
    listSize: 10,
    apiVersion: 'v2',
    logger: logger as never,
    reloadMs,
  });
  return source;
}

const weightOf = ({ current }: CostSchemaSource) => current()?.roots.query?.fields.get('a')?.weight;

test('a file is read again when it changes, and a bad one leaves the one before in use', async () => {
  const path = join(folder, 'schema.graphql');
  await writeFile(path, 'type Query { a: Int @cost(weight: "1") }');
  const opened = await open(path);
  expect(weightOf(opened)).toBe(1_000);
  await writeFile(path, 'type Query { a: Int @cost(weight: "none") }');
  await waitFor(() => logged.find((line) => line.includes('Query.a: the weight none')));
  expect(weightOf(opened)).toBe(1_000);
  // It grows while the bad one stays, however often that is read.
  const badSec = opened.ageSec();
  await waitFor(() => opened.ageSec() > badSec + 0.05);
  await writeFile(path, 'type Query { a: Int @cost(weight: "22") }');
  await waitFor(() => weightOf(opened) === 22_000);
  const goodSec = opened.ageSec();
  await waitFor(() => opened.ageSec() < goodSec);
  expect(logged.filter((line) => line.includes('the weight none'))).toHaveLength(1);
});

test('a file that appears later is read', async () => {
  const path = join(folder, 'schema.graphql');
  const opened = await open(path);
  expect(opened.current()).toBeNull();
  await waitFor(() => opened.ageSec() > 0.05);
  await writeFile(path, 'type Query { a: Int }');
  await waitFor(() => opened.current() !== null);
});

test('it is read on demand at most once in 10 seconds', async () => {
  let asked = 0;
  const server = await startServer((_req, res) => {
    asked += 1;
    res.writeHead(200).end('type Query { a: Int }');
  });
  const opened = await open(`${server.url}/schema.graphql`, undefined, 600_000);
  await Promise.all([opened.reload(), opened.reload()]);
  expect(asked).toBe(1);
  await server.close();
});

test('a file of weights wins, and names that the schema lacks are a warning', async () => {
  const [path, costs] = [join(folder, 'schema.graphql'), join(folder, 'costs.json')];
  await writeFile(path, 'type Query { a: Int @cost(weight: "1") }');
  await writeFile(costs, '{ "weights": { "Query.a": 3, "Query.b": 1 } }');
  const opened = await open(path, costs);
  expect([weightOf(opened), opened.unknownNames()]).toEqual([3_000, 1]);
  expect(logged.join('\n')).toContain('Query.b: the schema has nothing of this name');
});

test('an address is asked again with its ETag', async () => {
  let weight = '1';
  const asked: (string | undefined)[] = [];
  const server = await startServer((req, res) => {
    asked.push(req.headers['if-none-match']);
    const etag = `"${weight}"`;
    if (req.headers['if-none-match'] === etag) res.writeHead(304).end();
    else res.writeHead(200, { etag }).end(`type Query { a: Int @cost(weight: "${weight}") }`);
  });
  const opened = await open(`${server.url}/schema.graphql`);
  expect(weightOf(opened)).toBe(1_000);
  await waitFor(() => asked.includes('"1"'));
  weight = '2';
  await waitFor(() => weightOf(opened) === 2_000);
  source?.close();
  await server.close();
});
