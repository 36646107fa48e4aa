import type { ErrorRequestHandler, IRouter, RequestHandler } from 'express';
import { METHODS } from '@tollgate/contracts/api-description';
import type { CallerName } from '@tollgate/contracts/api-description';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import type { Chapter, Described, NeedsOf, Operation, ReadForm } from './operation.ts';

/** What runs before an operation of a caller: authentication and cache headers. */
type Guards = Readonly<Partial<Record<CallerName, readonly RequestHandler[]>>>;

/** What of an operation decides whether an operator may call it. `roles`: at least one. */
export type OperatedBy = Pick<Described, 'caller' | 'method' | 'needsReason'> & {
  roles: readonly OperatorRole[];
};

export type ServeOptions<Needs> = {
  needs: Needs;
  guards: Guards;
  /** Refuses operators without one of the operation's roles, or its reason. Runs after their guards. */
  admitOperator?: (operation: OperatedBy) => RequestHandler;
  /** Whether a handler's answer is checked against its schema; a fault is a 500. */
  checkAnswers: boolean;
  /** For operations with a form. */
  readForm?: ReadForm;
  /** Answers the errors of paths whose operations have `errors` of their own; all others are the app's. */
  answerError?: ErrorRequestHandler;
};

/**
 * Adds the routes of chapters, each path with HEAD for GET and 405 with `Allow` for other methods. A
 * request is refused in this order: caller (401, 403), the operation's own guard, a body that can't be read (400, 413),
 * path parameters (404), query and body (400, 415).
 * @throws {Error} if a caller has no guards, an operators' operation no roles, a form no reader, or errors of their own
 * no handler
 */
export function serve<const Chapters extends readonly Chapter[]>(
  router: Pick<IRouter, 'route'>,
  chapters: Chapters,
  options: ServeOptions<NeedsOf<Chapters>>,
): void {
  const { needs, checkAnswers, readForm = noForms, answerError } = options;
  const all = chapters.flatMap(({ operations }) => operations).filter(isServed<NeedsOf<Chapters>>);
  for (const [path, operations] of Map.groupBy(all, (each) => each.path)) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const operation of operations) {
      const { method, form, guard, readBody, run } = operation;
      if (form !== undefined && readForm === noForms) throw new Error(`no reader for the form of ${path}`);
      const handlers: RequestHandler[] = [
        ...guardsOf(operation, options),
        async (req, res, next) => {
          await guard(needs, req, res);
          next();
        },
        ...(readBody === undefined ? [] : [readBody]),
        (req, res) => run(needs, req, res, { checkAnswers, readForm }),
      ];
      route[verb(method)](...handlers);
    }
    route.all(methodNotAllowed(...allowed(operations)));
    if (operations.some(({ errors }) => errors !== undefined)) {
      if (answerError === undefined) throw new Error(`no handler for the errors of ${path}`);
      route.all(answerError);
    }
  }
}

/** The first two segments of the paths, as `/private/plans`. */
export function roomsOf(chapters: readonly Chapter[]): string[] {
  const paths = chapters.flatMap(({ operations }) => operations.map(({ path }) => path));
  return [...new Set(paths.map((path) => path.split('/').slice(0, 3).join('/')))];
}

const noForms: ReadForm = () => {
  throw new Error('no reader for forms');
};

/** Others are described only, because another service answers them. */
function isServed<Needs>(operation: Described): operation is Operation<Needs> {
  return 'run' in operation;
}

function guardsOf(
  { caller, roles, method, path, needsReason }: Described,
  { guards, admitOperator }: Pick<ServeOptions<never>, 'guards' | 'admitOperator'>,
): readonly RequestHandler[] {
  if (caller === 'anyone') return [];
  const ofCaller = guards[caller];
  if (ofCaller === undefined) throw new Error(`no guards for the caller ${caller}`);
  if (caller !== 'operator') return ofCaller;
  if (roles === undefined || roles.length === 0 || admitOperator === undefined) {
    throw new Error(`no roles for ${method} ${path}`);
  }
  return [...ofCaller, admitOperator({ caller, method, roles, needsReason })];
}

function verb(method: Operation<never>['method']) {
  return method.toLowerCase() as Lowercase<typeof method>;
}

function allowed(operations: readonly Pick<Operation<never>, 'method'>[]): string[] {
  const declared = new Set(operations.map(({ method }) => method));
  return METHODS.filter((method) => declared.has(method)).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
}
