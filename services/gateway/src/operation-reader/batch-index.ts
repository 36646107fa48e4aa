import { Problem } from '@tollgate/http/problem';

/** The work on one operation of a batch; what refuses it says which one it is, counted from 0. @throws what `work` throws */
export function asOperation<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw ofOperation(error, index);
  }
}

/** The refusal of one operation of a batch. The problem itself may be remembered, and thrown again elsewhere. */
export function ofOperation(error: unknown, index: number): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, detail, headers, extensions, cause } = error;
  return new Problem(code, {
    ...(detail === undefined ? {} : { detail }),
    headers,
    extensions: { ...extensions, index },
    cause,
  });
}
