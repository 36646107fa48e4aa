/** What a list shows, as its address holds it. */
export type ListSearch = {
  search?: string;
  status?: string;
  application?: number;
  /** The cursors of the pages before, as `_120_70`: without them there would be no way back. */
  after?: string;
};

/** Reads a list's state from the address; what cannot be meant is left out. */
export function listSearch({ search, status, application, after }: Record<string, unknown>): ListSearch {
  return {
    // The router reads a number where only digits were typed.
    ...(typeof search === 'string' || typeof search === 'number' ? { search: String(search) } : {}),
    ...(typeof status === 'string' ? { status } : {}),
    ...(Number.isSafeInteger(application) && Number(application) > 0
      ? { application: Number(application) }
      : {}),
    ...(typeof after === 'string' && /^(?:_[1-9]\d{0,15})+$/.test(after) ? { after } : {}),
  };
}

/** The cursor of the page that the address names; undefined for the first one. */
export function cursorOf({ after }: ListSearch): string | undefined {
  return after?.split('_').at(-1);
}

/** The address of the page that follows, or of the one before. */
export function pageAfter(after: string | undefined, cursor: string): string {
  return `${after ?? ''}_${cursor}`;
}

export function pageBefore(after: string): string | undefined {
  const before = after.slice(0, after.lastIndexOf('_'));
  return before === '' ? undefined : before;
}
