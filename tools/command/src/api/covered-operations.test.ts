import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** Why these have no command. */
const WITHOUT: Readonly<Record<string, string>> = {
  getTemporaryTokenExpiry: 'of the customer’s own console',
  getTemporaryToken: 'of the customer’s own console',
  revokeTemporaryToken: '`accounts sessions end` ends it',
  exportAuditLog: '`audit list --all --json` prints the entries',
  createOperatorSignInLink: 'of npm start',
};

type Document = { paths: Record<string, Record<string, { operationId: string }>> };

const SOURCES = new URL('../', import.meta.url);

const METHODS = /\.(GET|POST|PUT|PATCH|DELETE)\(\s*(?:'([^']+)'|path\b)/g;

/** `POST /private/…`; where the path is a variable, each that its file names. */
function called(): Set<string> {
  const files = globSync('**/*.ts', { cwd: SOURCES }).filter(
    (file) => !/schema\.d\.ts$|\.test\.ts$/.test(file),
  );
  return new Set(
    files.flatMap((file) => {
      const text = readFileSync(new URL(file, SOURCES), 'utf8');
      const named = [...text.matchAll(/[=?:]\s*'(\/private\/[^']+)'/g)].map(([, path = '']) => path);
      return [...text.matchAll(METHODS)].flatMap(([, method = '', path]) =>
        (path === undefined ? named : [path]).map((each) => `${method} ${each}`),
      );
    }),
  );
}

test('every operation of the operators’ API has a command, or a reason', () => {
  const document = JSON.parse(
    readFileSync(new URL('../../../../docs/openapi-operator.json', import.meta.url), 'utf8'),
  ) as Document;
  const has = called();
  const missing = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => !has.has(`${method.toUpperCase()} ${path}`))
      .map(([, { operationId }]) => operationId),
  );
  expect(missing.toSorted()).toEqual(Object.keys(WITHOUT).toSorted());
});
