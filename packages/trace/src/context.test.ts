import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { passedOn, traceParentOf } from './context.ts';

const ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  ['another length', `00-${ID}0-${SPAN}-01`],
  ['upper case', `00-${ID.toUpperCase()}-${SPAN}-01`],
  ['no trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['no parent id', `00-${ID}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${ID}-${SPAN}-01`],
  ['more than version 00 has', `00-${ID}-${SPAN}-01-what`],
  ['nothing', ''],
])('no traceparent: %s', (_name, value) => {
  expect(traceParentOf(['Traceparent', value])).toBeNull();
});

test('two of them are none', () => {
  const value = `00-${ID}-${SPAN}-01`;
  expect(traceParentOf(['traceparent', value, 'Traceparent', value])).toBeNull();
});

test('a later version is read as far as it is known', () => {
  expect(traceParentOf(['traceparent', `01-${ID}-${SPAN}-03-more`])).toMatchObject({ traceId: ID, flags: 3 });
});

test('whatever comes in, what goes on is a valid traceparent of version 00, and no tracestate beyond its bound', () => {
  const requestId = 'ab'.repeat(16);
  const value = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  );
  fc.assert(
    fc.property(value, fc.string({ maxLength: 600 }), (traceparent, tracestate) => {
      const parent = traceParentOf(['traceparent', traceparent, 'tracestate', tracestate]);
      const [, passed = '', , state = ''] = passedOn(parent, requestId);
      expect(passed).toMatch(/^00-(?!0{32})[0-9a-f]{32}-abababababababab-0[01]$/);
      expect(state.length).toBeLessThanOrEqual(512);
      if (parent === null) expect(passed).toBe(`00-${requestId}-abababababababab-00`);
    }),
  );
});
