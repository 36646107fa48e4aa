import { mount } from '../mount.tsx';
import { takeLinkFromAddress } from './api/session.ts';
import { OperatorConsole } from './operator-console.tsx';

mount(<OperatorConsole link={takeLinkFromAddress()} />);
