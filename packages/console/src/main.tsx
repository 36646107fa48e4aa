import { RouterProvider } from '@tanstack/react-router';
import { mount } from './mount.tsx';
import './styles/outline.css';
import { router } from './router.tsx';

mount(<RouterProvider router={router} />);
