const DIAGRAM = /^```mermaid\n([^]*?)^```$/gm;
const PARTICIPANT = /^participant (\w+) as (.+)$/;
const MESSAGE = /^(\w+)--?>>(\w+): (.+)$/;
const NOTE = /^Note over (\w+): (.+)$/;

/**
 * Sequence diagrams in Mermaid, which only a browser's script draws, as lists of their messages: they are read aloud,
 * and fit a phone.
 * @throws {Error} for a line of another kind
 */
export function withSequenceLists(markdown: string): string {
  return markdown.replaceAll(DIAGRAM, (_, diagram: string) => {
    const [kind, ...lines] = diagram
      .trim()
      .split('\n')
      .map((line) => line.trim());
    if (kind !== 'sequenceDiagram') throw new Error(`A diagram of another kind: ${kind ?? ''}`);
    const names = new Map<string, string>();
    const nameOf = (id = '') => names.get(id) ?? id;
    return lines
      .flatMap((line) => {
        const [, id, name] = PARTICIPANT.exec(line) ?? [];
        if (id !== undefined && name !== undefined) {
          names.set(id, name);
          return [];
        }
        const [, from, to, message] = MESSAGE.exec(line) ?? [];
        if (message !== undefined) return [`1. **${nameOf(from)} → ${nameOf(to)}:** ${plain(message)}`];
        const [, at, note] = NOTE.exec(line) ?? [];
        if (note === undefined) throw new Error(`A diagram has a line of another kind: ${line}`);
        return [`1. **${nameOf(at)}:** ${plain(note)}`];
      })
      .join('\n');
  });
}

function plain(text: string): string {
  return text.replaceAll('<br/>', ' ').replaceAll(/[\\`*_[\]<]/g, String.raw`\$&`);
}
