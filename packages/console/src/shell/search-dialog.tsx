import { useState } from 'react';
import {
  Autocomplete,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  SearchField,
  Text,
  useFilter,
} from 'react-aria-components';
import { Dialog } from '../ui/dialog.tsx';
import { useSearchEntries } from './search-entries.ts';
import field from '../ui/form/field.module.css';
import styles from './search.module.css';

type SearchDialogProps = { isOpen: boolean; onClose: () => void };

/** Finds pages by what they are about, what the account has by name, and simple actions, without the pointer. */
export function SearchDialog({ isOpen, onClose }: SearchDialogProps) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const [text, setText] = useState('');
  const { sections, isIncomplete, follow } = useSearchEntries({ isOpen, text });
  function close() {
    setText('');
    onClose();
  }
  return (
    <Dialog title="Go to" isOpen={isOpen} onClose={close}>
      <Autocomplete
        inputValue={text}
        onInputChange={setText}
        // Each word may be anywhere: "secret webhook" finds what "webhook secret" does.
        filter={(found, typed) => typed.split(/\s+/).every((word) => contains(found, word))}
      >
        <SearchField aria-label="Page, application or action" autoFocus className={styles['search'] ?? ''}>
          <Input placeholder="Page, application or action" className={field['input'] ?? ''} />
        </SearchField>
        <Menu
          aria-label="Results"
          className={styles['menu'] ?? ''}
          renderEmptyState={() => <p className={styles['nothing']}>Nothing found. Try another word.</p>}
          onAction={(id) => {
            const chosen = sections.flatMap(({ entries }) => entries).find((entry) => entry.id === id);
            close();
            if (chosen !== undefined) follow(chosen);
          }}
        >
          {sections.map(({ title, entries }) => (
            <MenuSection key={title} id={title}>
              <Header className={styles['group'] ?? ''}>{title}</Header>
              {entries.map(({ id, label, words, detail }) => (
                <MenuItem key={id} id={id} textValue={`${label} ${words}`} className={styles['item'] ?? ''}>
                  <Text slot="label">
                    <bdi>{label}</bdi>
                    {detail !== undefined && <span className={styles['detail']}> {detail}</span>}
                  </Text>
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </Autocomplete>
      {isIncomplete && <p role="status">Part of your account could not be loaded.</p>}
    </Dialog>
  );
}
