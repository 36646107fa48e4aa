import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';
import { book } from './load-book.ts';

export const collections = { docs: defineCollection({ loader: book, schema: docsSchema() }) };
