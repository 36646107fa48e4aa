import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import page from '../../../ui/page/page.module.css';
import type { RequestOptions } from '../calls/requests.ts';
import { costsQuery } from '../queries.ts';
import { costTexts } from './costs.ts';
import type { CostTexts, SchemaCosts } from './costs.ts';
import type { SchemaTexts, TypeTexts } from './fields.ts';
import { TypeLink } from './type-link.tsx';
import styles from './panels.module.css';

const FOUND_MAX = 30;

type SchemaPanelProps = { schema: SchemaTexts } & Pick<RequestOptions, 'dataUrl' | 'token'>;

/** The types and fields of the schema with what they cost, from the root types or found by name. */
export function SchemaPanel({ schema, dataUrl, token }: SchemaPanelProps) {
  const costs = useQuery(costsQuery({ dataUrl, token }));
  const words = useMemo(() => (costs.data ? costTexts(costs.data, schema) : null), [costs.data, schema]);
  const [path, setPath] = useState<readonly string[]>([]);
  const [search, setSearch] = useState('');
  const name = path.at(-1);
  const type = schema.types.find((each) => each.name === name);
  const open = (next: string) => {
    setSearch('');
    setPath([...path, next]);
  };
  return (
    <>
      <label className={styles['search']}>
        Find a type or field
        <input
          type="search"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
          }}
        />
      </label>
      <AboutCosts costs={costs} />
      {search !== '' && <Found schema={schema} search={search} onOpen={open} />}
      {search === '' && type === undefined && <Roots schema={schema} onOpen={open} />}
      {search === '' && type !== undefined && (
        <>
          <div>
            <Button
              onPress={() => {
                setPath(path.slice(0, -1));
              }}
            >
              Back to {path.at(-2) ?? 'the root types'}
            </Button>
          </div>
          <TypeDescription type={type} costs={words} onOpen={open} />
        </>
      )}
    </>
  );
}

/** Whether there are costs, and how to read them. */
function AboutCosts({
  costs,
}: {
  costs: Pick<UseQueryResult<SchemaCosts | null>, 'data' | 'isPending' | 'error' | 'refetch'>;
}) {
  const { data, isPending, error, refetch } = costs;
  return (
    <div role="status" aria-busy={isPending} className={styles['about']}>
      {isPending && <p>Loading what fields cost …</p>}
      {!isPending && data === undefined && (
        <>
          <p>What fields cost couldn’t be loaded. {error?.message}</p>
          <Button onPress={() => void refetch()}>Try again</Button>
        </>
      )}
      {data === null && <p>What fields cost isn’t stated.</p>}
      {data && <p>A field costs its points once for each item of the lists that it is in.</p>}
    </div>
  );
}

type Opening = { onOpen: (typeName: string) => void };

function Roots({ schema, onOpen }: { schema: SchemaTexts } & Opening) {
  return (
    <ul className={styles['list']}>
      {schema.roots.map(({ label, type }) => (
        <li key={label}>
          <code>{label}</code>: <TypeLink type={type} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

function Found({ schema, search, onOpen }: { schema: SchemaTexts; search: string } & Opening) {
  const isWanted = (name: string) => name.toLowerCase().includes(search.toLowerCase());
  const found = schema.types.flatMap(({ name, fields }) => [
    ...(isWanted(name) ? [{ name, field: '' }] : []),
    ...fields.filter((field) => isWanted(field.name)).map((field) => ({ name, field: `.${field.name}` })),
  ]);
  if (found.length === 0) return <p role="status">Nothing has this name.</p>;
  return (
    <ul className={styles['list']}>
      {found.slice(0, FOUND_MAX).map(({ name, field }) => (
        <li key={name + field}>
          <TypeLink type={{ name, text: name }} onOpen={onOpen} />
          <code>{field}</code>
        </li>
      ))}
    </ul>
  );
}

type TypeDescriptionProps = { type: TypeTexts; costs: CostTexts | null } & Opening;

function TypeDescription({ type, costs, onOpen }: TypeDescriptionProps) {
  const ownCost = costs?.ofType(type) ?? null;
  return (
    <>
      <h3>{type.name}</h3>
      {ownCost !== null && <p className={styles['cost']}>{ownCost}</p>}
      {type.description !== null && <p>{type.description}</p>}
      <ul className={styles['list']}>
        {type.fields.map((field) => (
          <li key={field.name}>
            <code>{field.name}</code>
            <Arguments args={field.args} onOpen={onOpen} />: <TypeLink type={field.type} onOpen={onOpen} />
            {costs?.ofField(type, field).map((line) => (
              <p key={line} className={styles['cost']}>
                {line}
              </p>
            ))}
            {field.deprecation !== null && <p>Deprecated: {field.deprecation}</p>}
            {field.description !== null && <p className={page['muted']}>{field.description}</p>}
          </li>
        ))}
        {type.members.map((member) => (
          <li key={member.name}>
            <TypeLink type={member} onOpen={onOpen} />
          </li>
        ))}
        {type.values.map(({ name, description }) => (
          <li key={name}>
            <code>{name}</code>
            {description !== null && <p className={page['muted']}>{description}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

type ArgumentsProps = { args: TypeTexts['fields'][number]['args'] } & Opening;

function Arguments({ args, onOpen }: ArgumentsProps) {
  if (args.length === 0) return null;
  return (
    <>
      (
      {args.map(({ name, type, default: value }, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <code>{name}</code>: <TypeLink type={type} onOpen={onOpen} />
          {value !== null && <code> = {value}</code>}
        </span>
      ))}
      )
    </>
  );
}
