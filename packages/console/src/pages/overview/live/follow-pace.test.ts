import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { FeedMode } from './follow-pace.ts';
import type { Pace } from '../queries.ts';

/** When the Overview's feed is open, and what it says of the figures. */

class FakeSource extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly CLOSED = 2;
  static all: FakeSource[] = [];
  readyState = FakeSource.CONNECTING;

  constructor() {
    super();
    FakeSource.all.push(this);
  }

  close() {
    this.readyState = FakeSource.CLOSED;
  }

  send(event: string, content: object = {}) {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(content) }));
  }

  fail(readyState: number) {
    this.readyState = readyState;
    this.dispatchEvent(new Event('error'));
  }
}

const browser = {
  document: Object.assign(new EventTarget(), { hidden: false }),
  window: new EventTarget(),
  navigator: { onLine: true },
  EventSource: FakeSource,
};
const replaced = Object.entries(browser).map(([name, value]) => {
  const own = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  return { name, own };
});
const { followPace } = await import('./follow-pace.ts');

let modes: FeedMode[];
let paces: (Pace | null)[];
let stop: () => void;

const open = () => FakeSource.all.filter(({ readyState }) => readyState !== FakeSource.CLOSED);
const [latest, mode] = [() => FakeSource.all.at(-1), () => modes.at(-1)];

function setHidden(hidden: boolean) {
  browser.document.hidden = hidden;
  browser.document.dispatchEvent(new Event('visibilitychange'));
}

function setOnline(onLine: boolean) {
  browser.navigator.onLine = onLine;
  browser.window.dispatchEvent(new Event(onLine ? 'online' : 'offline'));
}

beforeEach(() => {
  jest.useFakeTimers();
  [modes, paces, FakeSource.all] = [[], [], []];
  stop = followPace({ onMode: (next) => modes.push(next), onPace: (pace) => paces.push(pace) });
});

afterEach(() => {
  stop();
  expect(open()).toEqual([]);
  Object.assign(browser.document, { hidden: false });
  Object.assign(browser.navigator, { onLine: true });
  jest.useRealTimers();
});

afterAll(() => {
  for (const { name, own } of replaced) {
    if (own === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, own);
  }
});

test('is live from the first figures on', () => {
  expect(mode()).toBe('polling');
  latest()?.send('pace', { status: 'active' });
  expect(mode()).toBe('live');
  latest()?.send('no_billing_period');
  expect(paces).toEqual([{ status: 'active' }, null]);
});

test('a hidden tab has no feed, and opens one when it is shown', () => {
  latest()?.send('pace');
  setHidden(true);
  expect(open()).toEqual([]);
  expect(mode()).toBe('polling');
  jest.advanceTimersByTime(600_000);
  expect(FakeSource.all).toHaveLength(1);
  setHidden(false);
  latest()?.send('pace');
  expect(open()).toHaveLength(1);
  expect(mode()).toBe('live');
});

test('without a network there is no feed, and a new one is live when it is back', () => {
  latest()?.send('pace');
  setOnline(false);
  expect(open()).toEqual([]);
  expect(mode()).toBe('polling');
  setOnline(true);
  latest()?.send('pace');
  expect(open()).toHaveLength(1);
  expect(mode()).toBe('live');
});

test('a feed that falls silent is opened again: its connection may be dead', () => {
  latest()?.send('pace');
  jest.advanceTimersByTime(44_000);
  latest()?.send('pace');
  jest.advanceTimersByTime(44_000);
  expect([FakeSource.all.length, mode()]).toEqual([1, 'live']);
  jest.advanceTimersByTime(1_000);
  expect([FakeSource.all.length, mode()]).toEqual([2, 'polling']);
  expect(open()).toHaveLength(1);
});

test('a feed that says that figures are paused is silent until they are back', () => {
  latest()?.send('pace');
  latest()?.send('paused');
  jest.advanceTimersByTime(600_000);
  expect([FakeSource.all.length, mode()]).toEqual([1, 'paused']);
  latest()?.send('pace');
  expect(mode()).toBe('live');
});

test('a broken connection is left to the browser; a refused one is opened again, later each time', () => {
  latest()?.send('pace');
  latest()?.fail(FakeSource.CONNECTING);
  jest.advanceTimersByTime(600_000);
  expect([FakeSource.all.length, mode()]).toEqual([1, 'polling']);
  for (const delayMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const former = FakeSource.all.length;
    latest()?.fail(FakeSource.CLOSED);
    jest.advanceTimersByTime(delayMs - 1);
    expect(FakeSource.all).toHaveLength(former);
    jest.advanceTimersByTime(1);
    expect(FakeSource.all).toHaveLength(former + 1);
  }
});

test('ends with its session', () => {
  latest()?.send('session_ended');
  jest.advanceTimersByTime(600_000);
  expect([FakeSource.all.length, mode()]).toEqual([1, 'ended']);
});
