import { expect, test } from '@jest/globals';
import { withSequenceLists } from './sequence-list.ts';

const diagram = (...lines: string[]) => ['Before', '```mermaid', ...lines, '```', 'after'].join('\n');

test('a sequence diagram becomes the list of its messages and notes', () => {
  const written = diagram(
    'sequenceDiagram',
    '    participant C as Caller',
    '    participant G as every gateway',
    '    C->>G: POST /graphql, tg_…',
    '    Note over G: first,<br/>then',
    '    G-->>C: the answer',
  );
  expect(withSequenceLists(written)).toBe(
    [
      'Before',
      '1. **Caller → every gateway:** POST /graphql, tg\\_…',
      '1. **every gateway:** first, then',
      '1. **every gateway → Caller:** the answer',
      'after',
    ].join('\n'),
  );
});

test.each([[['flowchart LR', 'A --> B']], [['sequenceDiagram', 'loop Every minute']]])(
  'another diagram breaks the build: %j',
  (lines) => {
    expect(() => withSequenceLists(diagram(...lines))).toThrow('of another kind');
  },
);
