export type Form = { [name: string]: FormValue };
type FormValue = string | Form | FormValue[];

/** Stripe's notation in `application/x-www-form-urlencoded`: `items[0][price]=…`, `expand[]=…`. */
export function parseForm(text: string): Form {
  const root: Form = Object.create(null) as Form;
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''));
    insert(root, path, value);
  }
  return listsOf(root) as Form;
}

function insert(root: Form, path: readonly string[], value: string): void {
  let level = root;
  for (const [depth, part] of path.entries()) {
    const name = part === '' ? String(Object.keys(level).length) : part;
    if (depth === path.length - 1) level[name] = value;
    else {
      const next = level[name];
      const inner = typeof next === 'object' && !Array.isArray(next) ? next : (Object.create(null) as Form);
      level[name] = inner;
      level = inner;
    }
  }
}

/** Objects whose names are 0, 1, 2, … are lists. */
function listsOf(value: FormValue): FormValue {
  if (typeof value === 'string' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, listsOf(inner)] as const);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
