import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
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
import { allApplicationsQuery } from '../api/applications.ts';
import { Dialog } from '../ui/dialog.tsx';
import { NAVIGATION } from './pages.ts';
import styles from './search.module.css';

type SearchDialogProps = { isOpen: boolean; onClose: () => void };

const PAGES = NAVIGATION.flatMap(({ pages }) => [...pages]);

/** Goes to a page or an application by a part of its name or client id, without the pointer. */
export function SearchDialog({ isOpen, onClose }: SearchDialogProps) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const { data, isError } = useQuery({ ...allApplicationsQuery, enabled: isOpen });
  const router = useRouter();
  return (
    <Dialog title="Go to" isOpen={isOpen} onClose={onClose}>
      <Autocomplete filter={contains}>
        <SearchField aria-label="Page or application" autoFocus className={styles['search'] ?? ''}>
          <Input placeholder="Page or application" className={styles['input'] ?? ''} />
        </SearchField>
        <Menu
          aria-label="Results"
          className={styles['menu'] ?? ''}
          renderEmptyState={() => <p className={styles['nothing']}>Nothing has this name.</p>}
          onAction={(path) => {
            onClose();
            router.history.push(`/user${String(path)}`);
          }}
        >
          <MenuSection>
            <Header className={styles['group'] ?? ''}>Pages</Header>
            {PAGES.map(({ to, label }) => (
              <MenuItem key={to} id={to === '/' ? '' : to} textValue={label} className={styles['item'] ?? ''}>
                <Text slot="label">{label}</Text>
              </MenuItem>
            ))}
          </MenuSection>
          <MenuSection>
            <Header className={styles['group'] ?? ''}>Applications</Header>
            {(data ?? []).map(({ application_id, name, client_id }) => (
              <MenuItem
                key={application_id}
                id={`/api_v2/applications/${String(application_id)}`}
                textValue={`${name} ${client_id}`}
                className={styles['item'] ?? ''}
              >
                <Text slot="label">
                  <bdi>{name}</bdi> <span className={styles['detail']}>{client_id.slice(0, 8)}…</span>
                </Text>
              </MenuItem>
            ))}
          </MenuSection>
        </Menu>
      </Autocomplete>
      {isError && data === undefined && <p role="status">Your applications could not be loaded.</p>}
    </Dialog>
  );
}
