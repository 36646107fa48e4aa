import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { REPOSITORY } from '../src/documented.ts';
import { readRules } from '../src/rules.ts';

const runbook = readFileSync(`${REPOSITORY}/docs/runbook.md`, 'utf8');
const headings = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
const alerts = readRules().filter(({ alert }) => alert !== undefined);

test('each alert links to the section with its name, and has a severity and texts', () => {
  for (const { alert = '', annotations = {}, labels = {} } of alerts) {
    expect(headings).toContain(alert);
    expect(annotations['runbook_url']).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(annotations['summary']?.length).toBeGreaterThan(10);
    expect(annotations['description']?.length).toBeGreaterThan(10);
  }
});

test('each section of an alert has an alert, what to check and what to do', () => {
  const sections = runbook.split(/^### /m).slice(1);
  expect(sections.map((section) => section.split('\n')[0]).toSorted()).toEqual(
    alerts.map(({ alert }) => alert).toSorted(),
  );
  for (const section of sections) expect(section).toMatch(/\n- \*\*Check:\*\* .+\n- \*\*Do:\*\* /);
});

test('links within the page lead somewhere', () => {
  const anchors = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );
  for (const [, anchor] of runbook.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
});

test('every command and option of tollgate in it exists', () => {
  const reference = readFileSync(`${REPOSITORY}/docs/command.md`, 'utf8').split('## All commands')[1] ?? '';
  const [ofAll = '', ...blocks] = reference.split(/^tollgate /m);
  const commands = [...runbook.matchAll(/(?:`|^)tollgate ([a-z].*?)(?:`|$)/gm)].map(([, text = '']) => text);
  expect(commands.length).toBeGreaterThan(15);
  for (const command of commands) {
    const block = blocks.find((one) => {
      const name = (one.split('\n')[0] ?? '').replaceAll(/ [[<].*/g, '');
      return command === name || command.startsWith(`${name} `);
    });
    expect(`${command}: ${block === undefined ? 'unknown' : 'known'}`).toBe(`${command}: known`);
    for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(`${ofAll}${block ?? ''}`).toContain(option);
  }
});
