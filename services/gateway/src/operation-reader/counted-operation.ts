import { hash } from 'node:crypto';
import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { OPERATION_NAME } from '@tollgate/contracts/refused-call';
import { KEPT_DOCUMENT_MAX_LENGTH } from '@tollgate/contracts/usage-stream';
import { normalizedText } from './normalized-text.ts';

/** Documents without their literals; equal ones are one object. */
export type CountedDocument = {
  /** SHA-256 of the text, in hex. */
  readonly hash: string;
  /** Null if it is too long to be kept. */
  readonly text: string | null;
  /** When usage was last recorded with the text, in Unix ms; written by the recorder. */
  sentAtMs: number;
};

/** What usage is counted by (docs/design/counting.md). */
export type CountedOperation = {
  readonly document: CountedDocument;
  /** As the document names it; null without a name that can be recorded. */
  readonly name: string | null;
};

/** Texts that differ only in what callers fill in share a document. `keptMaxLength` is of all texts that are kept. */
export function createCountedDocuments(keptMaxLength: number): (document: DocumentNode) => CountedDocument {
  const documents = new LRUCache<string, CountedDocument>({
    maxSize: keptMaxLength,
    sizeCalculation: ({ text }) => (text?.length ?? 0) + 256,
  });
  return (document) => {
    const text = normalizedText(document);
    const digest = hash('sha256', text);
    const known = documents.get(digest);
    if (known !== undefined) return known;
    const kept = text.length > KEPT_DOCUMENT_MAX_LENGTH ? null : text;
    const counted = { hash: digest, text: kept, sentAtMs: 0 };
    documents.set(digest, counted);
    return counted;
  };
}

export function countedName({ name }: OperationDefinitionNode): string | null {
  return name !== undefined && OPERATION_NAME.test(name.value) ? name.value : null;
}
