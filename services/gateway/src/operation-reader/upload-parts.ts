import { Problem } from '@tollgate/http/problem';
import { folded } from './protocol-names.ts';
import { createGrowingBytes } from '../http/growing-bytes.ts';

/** The operations come before the files (GraphQL multipart request specification), and are no longer than this. */
export const MAX_OPERATIONS_BYTES = 262_144;

const MAX_PART_HEAD_BYTES = 4_096;
const LINE_END = '\r\n';
const END_OF_HEAD = '\r\n\r\n';
const DISPOSITION = /^content-disposition: ?form-data; ?name="([^"\\%]*)"(; ?filename="[^"\\]*")?$/i;

/**
 * Follows the parts of an upload as it passes. Strict, so that no other reader finds other operations in it: they are
 * the first part, and no later part has that name.
 */
export type UploadParts = {
  /** Returns the operations' text once, when they are complete. @throws {Problem} invalid_request, payload_too_large */
  saw: (chunk: Buffer) => string | undefined;
};

type State = 'start' | 'delimiter' | 'head' | 'operations' | 'file' | 'over';

export function createUploadParts(boundary: string): UploadParts {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`);
  const pending = createGrowingBytes();
  // As if a part had ended before the first one.
  pending.append(Buffer.from(LINE_END));
  let state: State = 'start';
  let hasOperations = false;
  /** Of what is pending; no delimiter begins before. */
  let searchedBytes = 0;

  function go(next: State, droppedBytes: number): true {
    pending.drop(droppedBytes);
    searchedBytes = 0;
    state = next;
    return true;
  }

  /** The index of `what` in what is pending; -1 if it isn't there yet. */
  function find(what: Buffer | string, maxBytes: number): number {
    const bytes = pending.view();
    const at = bytes.indexOf(what, searchedBytes);
    searchedBytes = Math.max(0, bytes.length - what.length);
    if (Math.max(at, searchedBytes) > maxBytes) throw new Problem('payload_too_large');
    return at;
  }

  function partOf(head: string): 'operations' | 'file' {
    const dispositions = head.split(LINE_END).filter((line) => /^content-disposition\b/i.test(line));
    const [, name, filename] =
      DISPOSITION.exec(dispositions.length === 1 ? (dispositions[0] ?? '') : '') ?? [];
    if (name === undefined) throw malformed('Each part of an upload must have one plain name.');
    const isOperations = folded(name) === OPERATIONS && filename === undefined;
    if (isOperations === hasOperations) {
      throw malformed('The part `operations` must come first in an upload, and once.');
    }
    hasOperations = true;
    return isOperations ? 'operations' : 'file';
  }

  /** Makes one step through what is pending; false if it needs more bytes. */
  function step(found: (operations: string) => void): boolean {
    const bytes = pending.view();
    switch (state) {
      case 'start':
        if (bytes.length < delimiter.length) return false;
        if (!bytes.subarray(0, delimiter.length).equals(delimiter)) {
          throw malformed('An upload must begin with its boundary.');
        }
        return go('delimiter', delimiter.length);
      case 'delimiter': {
        if (bytes.length < 2) return false;
        const after = bytes.toString('latin1', 0, 2);
        if (after === LINE_END) return go('head', 2);
        if (after !== '--' || !hasOperations)
          throw malformed('A boundary must end its line, and begin a part.');
        return go('over', 2);
      }
      case 'head': {
        const end = find(END_OF_HEAD, MAX_PART_HEAD_BYTES);
        // The second line end stays, since it begins the delimiter of an empty part.
        return end !== -1 && go(partOf(bytes.toString('latin1', 0, end)), end + LINE_END.length);
      }
      case 'operations': {
        const end = find(delimiter, MAX_OPERATIONS_BYTES);
        if (end === -1) return false;
        found(bytes.toString('utf8', LINE_END.length, end));
        return go('delimiter', end + delimiter.length);
      }
      case 'file': {
        const end = find(delimiter, Infinity);
        if (end !== -1) return go('delimiter', end + delimiter.length);
        pending.drop(searchedBytes);
        searchedBytes = 0;
        return false;
      }
      case 'over':
        pending.drop(bytes.length);
        return false;
    }
  }

  return {
    saw: (chunk) => {
      let operations: string | undefined;
      pending.append(chunk);
      while (step((text) => (operations = text)));
      return operations;
    },
  };
}

const OPERATIONS = folded('operations');

function malformed(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
