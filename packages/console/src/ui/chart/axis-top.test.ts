import { expect, test } from '@jest/globals';
import { axisTop } from './axis-top.ts';
import type { ChartPanel } from './model.ts';

const panelOf = (...stacks: number[][]): ChartPanel => ({
  heightPx: 100,
  stacks: stacks.map((values, index) => ({ name: String(index), values })),
  lines: [],
  limit: null,
  format: String,
  axis: { unit: 1, format: String },
});

const usual = [10, 12, 0, 9, 11, 8, 12, 10, 7];

test('the axis ends at the highest bar', () => {
  expect(axisTop(panelOf(usual))).toEqual({ top: 12, isCut: false });
  expect(axisTop(panelOf([...usual, 40]))).toEqual({ top: 40, isCut: false });
});

test('a bar that is four times as high as all others is cut, with room for these', () => {
  expect(axisTop(panelOf([...usual, 5_000]))).toEqual({ top: 15, isCut: true });
  expect(axisTop(panelOf([...usual, 5_000], [...usual, 0]))).toEqual({ top: 30, isCut: true });
});

test('at most a tenth of the bars is cut, and of a few bars none is', () => {
  const twenty = Array.from({ length: 20 }, () => 10);
  expect(axisTop(panelOf([...twenty, 900, 800])).isCut).toBe(true);
  expect(axisTop(panelOf([...twenty, 900, 800, 700])).isCut).toBe(false);
  expect(axisTop(panelOf([1, 1, 1, 900])).isCut).toBe(false);
});

test('of bars that each dwarf the next, all are cut that may be', () => {
  const twenty = Array.from({ length: 20 }, () => 10);
  expect(axisTop(panelOf([...twenty, 100, 1_000])).top).toBe(12.5);
});

test('the limit and lines other than a comparison are never cut', () => {
  const panel = panelOf([...usual, 5_000]);
  expect(axisTop({ ...panel, limit: { name: 'Limit', value: 6_000 } })).toEqual({ top: 6_000, isCut: false });
  const line = { name: 'line', values: [5_000] };
  expect(axisTop({ ...panel, lines: [{ ...line, style: 'solid' }] }).isCut).toBe(false);
  expect(axisTop({ ...panel, lines: [{ ...line, style: 'faint' }] }).top).toBe(5_000);
});
