import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('the chart and the images that it names have the version of the services', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(parse(read('k8s/tollgate/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
