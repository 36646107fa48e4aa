import type { TypeText } from './fields.ts';
import styles from './panels.module.css';

type TypeLinkProps = { type: TypeText; onOpen: (typeName: string) => void };

/** A type such as `[Country!]!`, which leads to its description. */
export function TypeLink({ type, onOpen }: TypeLinkProps) {
  return (
    <button
      type="button"
      className={styles['type']}
      onClick={() => {
        onOpen(type.name);
      }}
    >
      {type.text}
    </button>
  );
}
