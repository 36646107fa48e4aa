import { dirname, basename } from 'node:path';
import { expect, test } from '@jest/globals';
import { onPath } from './on-path.ts';

test('a program is found in a directory of the PATH; one that is nowhere says so', () => {
  const node = process.execPath;
  expect(onPath(basename(node), `/nowhere:${dirname(node)}`)).toBe(node);
  expect(() => onPath('hydra', `/nowhere:`)).toThrow('no hydra on the PATH');
});
