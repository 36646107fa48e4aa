import { describe, expect, test } from '@jest/globals';
import type { Chapter, Described } from '@tollgate/operation';
import { roomsOf } from '@tollgate/operation/serve';
import { OPERATOR_API } from '../api/operator.ts';
import { OWNER_API } from '../api/owner.ts';
import { REPORTER_API, SERVICE_API } from '../api/services.ts';

/** By the caller whose credential their rooms require (app.ts). */
const PRIVATE = { operator: OPERATOR_API, service: SERVICE_API, reporter: REPORTER_API };

const operationsOf = (chapters: readonly Chapter[]) =>
  chapters.flatMap(({ operations }): readonly Described[] => operations);

test.each(Object.entries({ owner: OWNER_API, ...PRIVATE }))(
  "no path of the %s's list is hidden by a parameter of an earlier one",
  (_, chapters) => {
    const paths = [...new Set(operationsOf(chapters).map(({ path }) => path))];
    const hidden = paths.filter((path, index) =>
      paths.slice(0, index).some((one) => asPattern(one).test(path)),
    );
    expect(hidden).toEqual([]);
  },
);

describe('on the private listener', () => {
  test.each(Object.entries(PRIVATE))('all operations of the list are for the %s', (caller, chapters) => {
    expect(operationsOf(chapters).filter((operation) => operation.caller !== caller)).toEqual([]);
  });

  test('no room belongs to two callers', () => {
    const rooms = Object.values(PRIVATE).flatMap((chapters) => roomsOf(chapters));
    expect(rooms).toEqual([...new Set(rooms)]);
  });
});

test('no operation of the public listener needs a credential of the private one', () => {
  const misplaced = operationsOf(OWNER_API).filter(({ caller }) => caller in PRIVATE);
  expect(misplaced).toEqual([]);
});

function asPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
