import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { brand } from '../api/brand.ts';
import { Button } from '../ui/button.tsx';
import styles from './shell.module.css';

type SideProps = { isMenuOpen: boolean; setMenuOpen: (isOpen: boolean) => void; children: ReactNode };

/** Beside the page: the product, and what is in the menu of a narrow window. Begins with the link past it. */
export function Side({ isMenuOpen, setMenuOpen, children }: SideProps) {
  return (
    <>
      <a href="#content" className={styles['skip']}>
        Skip to content
      </a>
      <header className={styles['side']}>
        <div className={styles['top']}>
          <Link to="/" className={styles['brand'] ?? ''}>
            <img src={brand.logo} alt="" className={styles['logo']} />
            {brand.name}
          </Link>
          <span className={styles['menu']}>
            <Button
              isReading
              variant="quiet"
              aria-expanded={isMenuOpen}
              aria-controls="menu"
              onPress={() => {
                setMenuOpen(!isMenuOpen);
              }}
            >
              Menu
            </Button>
          </span>
        </div>
        <div id="menu" className={styles['panel']} data-open={isMenuOpen}>
          {children}
        </div>
      </header>
    </>
  );
}
