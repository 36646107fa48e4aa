import { expect, test } from '@jest/globals';
import { Problem } from '@tollgate/http/problem';
import { createFailureLog } from './failure-log.ts';

function recording() {
  const lines: { level: string; fields: object }[] = [];
  const record = (level: string) => (fields: object) => {
    lines.push({ level, fields });
  };
  return { lines, logger: { warn: record('warn'), error: record('error') } as never };
}

test('in an outage the log stays short, and says how much is missing', () => {
  const { lines, logger } = recording();
  let nowMs = 5_000;
  const log = createFailureLog(logger, { now: () => nowMs });
  for (let call = 0; call < 1_000; call += 1)
    log(`id-${String(call)}`, new Problem('service_unavailable'), '192.0.2.7');
  expect(lines).toHaveLength(20);
  expect(lines[0]?.fields).toMatchObject({
    request_id: 'id-0',
    code: 'service_unavailable',
    address: '192.0.2.7',
  });
  nowMs += 1_000;
  log('later', new Problem('upstream_timeout'), '192.0.2.7');
  expect(lines.slice(20)).toMatchObject([
    { fields: { suppressed: 980 } },
    { level: 'warn', fields: { request_id: 'later', code: 'upstream_timeout' } },
  ]);
});

test('a fault of our own is an error, with its cause', () => {
  const { lines, logger } = recording();
  const cause = new Error('broken');
  createFailureLog(logger)('id', new Problem('internal_error', { cause }), '');
  expect(lines).toMatchObject([{ level: 'error', fields: { request_id: 'id', err: cause } }]);
});
