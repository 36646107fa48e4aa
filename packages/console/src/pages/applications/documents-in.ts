type Sent = { document_id?: string; text: string };

/** The documents of a file: a manifest of Apollo or Relay, or else a single document. The API checks them. */
export function documentsIn(text: string): Sent[] {
  const manifest = parsed(text);
  if (manifest === null) return [{ text }];
  const { operations } = manifest;
  if (Array.isArray(operations)) {
    return operations.map((operation: { id?: unknown; body?: unknown }) =>
      sent(operation.id, operation.body),
    );
  }
  return Object.entries(manifest).map(([id, body]) => sent(id, body));
}

/** Null for anything but a JSON object. */
function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function sent(id: unknown, body: unknown): Sent {
  return { ...(typeof id === 'string' && { document_id: id }), text: typeof body === 'string' ? body : '' };
}
