import { expect, test } from '@jest/globals';
import { createStatedPoints } from './stated-points.ts';

const points = createStatedPoints('points');
const nested = createStatedPoints('cost.charged');

test.each([
  [{ data: {}, extensions: { points: 7 } }, 7],
  [{ data: {}, extensions: { points: 0 } }, 0],
  [{ errors: [], extensions: { points: 1e12 } }, 1e12],
  [[{ message: 'no', extensions: { points: 3 } }, { message: 'no' }], 3],
  [{ message: 'no', extensions: { points: 3 } }, 3],
])('%j states a price', (payload, stated) => {
  expect(points(payload)).toBe(stated);
});

test.each([
  [{ data: {} }],
  [{ data: {}, extensions: null }],
  [{ data: { extensions: { points: 7 } } }],
  [{ extensions: { points: -1 } }],
  [{ extensions: { points: 1.5 } }],
  [{ extensions: { points: '7' } }],
  [{ extensions: { points: 1e12 + 1 } }],
  [{ extensions: { points: null } }],
  [[]],
  ['text'],
  [undefined],
])('%j states none', (payload) => {
  expect(points(payload)).toBeNull();
});

test('the path may lead deeper, and finds own members only', () => {
  expect(nested({ extensions: { cost: { charged: 5 } } })).toBe(5);
  expect(nested({ extensions: { cost: 5 } })).toBeNull();
  expect(createStatedPoints('constructor.length')({ extensions: {} })).toBeNull();
});
